import Dispatch
import Foundation
import Glibc
import Synchronization

/// Looks at the threads of this process again and again: none of Swift's pool may wait for a lock between processes, for the
/// device, or for another thread, except inside a write that its caller made blocking.
///
/// A thread of the pool that has nothing to do waits, too: at an address that is found out while nothing runs. One that waits
/// anywhere else is inside of a lock; short waits are those of the locks around single words of state, and are told.
final class PoolSampler: Sendable {
    /// What the looks found.
    struct Findings {
        /// The number of looks at a thread.
        var samples = 0
        /// System calls that wait for the device or for another process, and waits of longer than ``patience``.
        var offences: [String] = []
        /// The longest that a thread was seen in one wait for another thread.
        var longestWait = Duration.zero
    }

    /// The threads that are in a blocking write, and how often each was.
    private struct Blocking {
        var threads: Set<Int> = []
        var counts: [Int: Int] = [:]

        /// The same in memory of its own.
        ///
        /// Whoever shared that of a value behind a lock would read it outside of the lock; that the writer sees the sharing
        /// end is a matter of reference counts, which the thread sanitizer does not know of.
        var copy: Blocking {
            Blocking(
                threads: Set(Array(threads)),
                counts: Dictionary(uniqueKeysWithValues: counts.map { ($0.key, $0.value) })
            )
        }
    }

    /// A wait of a thread for another one.
    private struct Wait {
        var address: Substring
        var began: ContinuousClock.Instant
    }

    /// How long a thread may wait for another one: on a machine with fewer processors than threads, a thread that holds a
    /// lock for a microsecond may be set aside for some tens of milliseconds.
    private static let patience = Duration.milliseconds(250)
    private static let blocking = Mutex(Blocking())

    private let findings = Mutex(Findings())
    private let isStopped = Atomic(false)
    private let idleAddresses = Mutex<Set<Substring>>([])

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

    /// Finds out where idle threads wait; call it while nothing runs.
    func calibrate() async throws {
        for _ in 0..<5 {
            let group = DispatchGroup()
            for quality in [DispatchQoS.background, .utility, .default, .userInitiated, .userInteractive] {
                for _ in 0..<4 {
                    DispatchQueue(label: "calibration", qos: quality).async(group: group) { usleep(2_000) }
                    DispatchQueue.global(qos: quality.qosClass).async(group: group) { usleep(2_000) }
                }
            }
            await withCheckedContinuation { continuation in group.notify(queue: .main) { continuation.resume() } }
            for priority in [TaskPriority.background, .utility, .medium, .high] {
                await withTaskGroup { tasks in
                    for _ in 0..<8 { tasks.addTask(priority: priority) { usleep(2_000) } }
                }
            }
            try await Task.sleep(for: .milliseconds(50))
            let waits = threads().compactMap { Self.waitAddress($0.call) }
            idleAddresses.withLock { $0.formUnion(waits) }
        }
    }

    func start() {
        Thread.detachNewThread { [self] in
            var waits: [Int: Wait] = [:]
            while !isStopped.load(ordering: .relaxed) {
                sample(&waits)
                usleep(1_000)
            }
        }
    }

    /// What was found until now; it looks no more.
    func stop() -> Findings {
        isStopped.store(true, ordering: .relaxed)
        return findings.withLock { $0 }
    }

    /// The threads that may be of Swift's pool, and the system call that each is in.
    private func threads(but excluded: Set<Int> = []) -> [(thread: Int, call: String)] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
        return names.compactMap { name in
            guard let thread = Int(name), thread != Int(getpid()), !excluded.contains(thread),
                let name = try? String(contentsOfFile: "/proc/self/task/\(thread)/comm", encoding: .utf8),
                !name.hasPrefix("realm-"),
                let call = try? String(contentsOfFile: "/proc/self/task/\(thread)/syscall", encoding: .utf8)
            else { return nil }
            return (thread, call)
        }
    }

    private func sample(_ waits: inout [Int: Wait]) {
        let before = Self.blocking.withLock { $0.copy }
        let looks = threads(but: before.threads)
        let after = Self.blocking.withLock { $0.copy }
        let now = ContinuousClock.now
        let idle = idleAddresses.withLock { $0 }
        var found: [String] = []
        var longest = Duration.zero
        var still: [Int: Wait] = [:]
        // However long the looks took: what was seen is no offence when it may have been in a blocking write.
        for (thread, call) in looks where after.counts[thread] == before.counts[thread] {
            if let what = Self.blockingCall(call) { found.append(what) }
            guard let address = Self.waitAddress(call), !idle.contains(address) else { continue }
            let wait = waits[thread].flatMap { $0.address == address ? $0 : nil } ?? Wait(address: address, began: now)
            still[thread] = wait
            longest = max(longest, now - wait.began)
            if now - wait.began > Self.patience { found.append("a wait for another thread") }
        }
        waits = still
        findings.withLock {
            $0.samples += looks.count
            $0.offences += found
            $0.longestWait = max($0.longestWait, longest)
        }
    }

    /// The address at which a thread waits for another one.
    private static func waitAddress(_ line: String) -> Substring? {
        let words = line.split(separator: " ")
        return words.count > 2 && words[0] == "202" ? words[1] : nil
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
