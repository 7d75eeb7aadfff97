import Foundation
import Glibc
import Synchronization

/// Looks into the lock file again and again: which process has the write lock, and whether others wait meanwhile.
///
/// A process that keeps the lock while others wait has to give it back after a slice of time; see `Docs/Transactions.md`.
final class LockWatch: Sendable {
    /// What the looks found.
    struct Findings {
        /// For how long each process had the lock, by its id.
        var shares: [Int32: Duration] = [:]
        /// The longest that others waited while one process had the lock, or took it again and again.
        var longest = Duration.zero
    }

    /// For how long one process may keep the lock from others that wait: a slice is 10 milliseconds, and machines are busy.
    static let tolerance = Duration.seconds(1)

    // Of the lock file: see `Docs/FileFormat.md`.
    private static let writerOffset: off_t = 40
    private static let waitingOffset: off_t = 8_192
    private static let slotCount = 1_024

    private let findings = Mutex(Findings())
    private let isStopped = Atomic(false)
    private let descriptor: Int32

    /// Begins to look at the lock file of a realm.
    init(realm path: String) {
        descriptor = open(path + ".lock", O_RDONLY | O_CLOEXEC)
        Thread.detachNewThread { [self] in watch() }
    }

    deinit { close(descriptor) }

    /// What was found until now; it looks no more.
    func stop() -> Findings {
        isStopped.store(true, ordering: .relaxed)
        return findings.withLock { $0 }
    }

    private func watch() {
        var last: Int32 = 0
        var began = ContinuousClock.now
        var before = began
        var waiting = [UInt32](repeating: 0, count: Self.slotCount)
        while !isStopped.load(ordering: .relaxed) {
            usleep(1_000)
            var writer: Int32 = 0
            let now = ContinuousClock.now
            guard pread(descriptor, &writer, 4, Self.writerOffset) == 4,
                waiting.withUnsafeMutableBytes({ pread(descriptor, $0.baseAddress!, $0.count, Self.waitingOffset) }) > 0
            else { continue }
            defer { before = now }
            // One that has just given it back has it still as far as the others are concerned.
            if writer == 0 { continue }
            if writer != last || waiting.allSatisfy({ $0 == 0 }) { began = now }
            last = writer
            findings.withLock {
                $0.shares[writer, default: .zero] += now - before
                $0.longest = max($0.longest, now - began)
            }
        }
    }
}
