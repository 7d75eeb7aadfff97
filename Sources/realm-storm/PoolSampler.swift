import Foundation
import Glibc
import Synchronization

/// Looks at the threads of this process again and again: none of Swift's pool may wait for a lock between processes or for
/// the device, except inside a write that its caller made blocking.
final class PoolSampler: Sendable {
    /// The threads that are in a blocking write, and how often each was.
    private struct Blocking {
        var threads: Set<Int> = []
        var counts: [Int: Int] = [:]
    }

    private static let blocking = Mutex(Blocking())

    private let samples = Atomic(0)
    private let offences = Mutex<[String]>([])
    private let isStopped = Atomic(false)

    /// Runs a write that may block its thread.
    static func whileBlocking<Result>(_ body: () throws -> Result) rethrows -> Result {
        let thread = threadNumber
        blocking.withLock { blocking in
            blocking.threads.insert(thread)
            blocking.counts[thread, default: 0] += 1
        }
        defer { blocking.withLock { _ = $0.threads.remove(thread) } }
        return try body()
    }

    func start() {
        Thread.detachNewThread { [self] in
            while !isStopped.load(ordering: .relaxed) {
                sample()
                usleep(1_000)
            }
        }
    }

    /// The number of looks at a thread, and what was found.
    func stop() -> (samples: Int, offences: [String]) {
        isStopped.store(true, ordering: .relaxed)
        return (samples.load(ordering: .relaxed), offences.withLock { $0 })
    }

    private func sample() {
        let before = Self.blocking.withLock { $0 }
        var suspects: [(Int, String)] = []
        for name in (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? [] {
            guard let thread = Int(name), !before.threads.contains(thread),
                let name = try? String(contentsOfFile: "/proc/self/task/\(thread)/comm", encoding: .utf8),
                !name.hasPrefix("realm-"),
                let call = try? String(contentsOfFile: "/proc/self/task/\(thread)/syscall", encoding: .utf8)
            else { continue }
            samples.wrappingAdd(1, ordering: .relaxed)
            if let what = Self.blockingCall(call) { suspects.append((thread, what)) }
        }
        if suspects.isEmpty { return }
        let after = Self.blocking.withLock { $0 }
        // However long the looks took: what was seen is no offence when it may have been in a blocking write.
        for (thread, what) in suspects where after.counts[thread] == before.counts[thread] {
            offences.withLock { $0.append(what) }
        }
    }

    /// Names a system call that waits for the device or for another process's lock.
    private static func blockingCall(_ line: String) -> String? {
        let words = line.split(separator: " ")
        guard words.count > 2, let number = Int(words[0]) else { return nil }
        switch number {
        case 72: return words[2] == "0x26" ? "fcntl(F_OFD_SETLKW)" : nil
        case 73: return "flock"
        case 74: return "fsync"
        case 75: return "fdatasync"
        case 26: return "msync"
        case 18, 20, 296, 328: return "a write to a file"
        default: return nil
        }
    }

    private static var threadNumber: Int {
        let link = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/thread-self")) ?? ""
        return Int(link.split(separator: "/").last ?? "") ?? 0
    }
}
