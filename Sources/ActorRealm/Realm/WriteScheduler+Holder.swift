import Dispatch
import Foundation
import RealmStorage
import Synchronization

extension WriteScheduler {
    /// Who has the write lock, for messages: the process, since when, and the place: for this process where the write was begun, for
    /// another one where it opened the realm that writes, which is what the lock file says.
    func describe(_ holder: Queue.Holder) -> String {
        switch holder {
        case .writer(let origin, let since):
            return "this process (\(Self.describe(process: getpid()))) has it, for a write \(begun(origin, since))"
        case .flush(let origin, let since):
            return
                "this process (\(Self.describe(process: getpid()))) has it, for commits that are on their way to the disk, "
                + "the last of them of a write \(begun(origin, since))"
        case .otherProcess:
            if state.withLock({ $0.isEndingLog }) {
                return "this process (\(Self.describe(process: getpid()))) has it, to end the log of another one"
            }
            guard let holder = file.writeLockHolder else { return "another process has it" }
            let place = holder.place.map { ", for a write of the realm that was opened at \($0)" } ?? ""
            return "process \(Self.describe(process: holder.process)) has it\(place), taken "
                + String(format: "%.1f s ago", Double(holder.nanoseconds) / 1e9)
        case .nobody:
            return "it has just become free"
        }
    }

    /// Where a write of this process was begun, and when.
    private func begun(_ origin: ReaderOrigin?, _ since: UInt64) -> String {
        (origin.map { "begun at \($0) " } ?? "of the library's own, begun ")
            + String(format: "%.1f s ago", Double(now &- since) / 1e9)
    }

    /// The number of a process and, where it can be found out, its name.
    private static func describe(process: Int32) -> String {
        guard let name = try? String(contentsOfFile: "/proc/\(process)/comm", encoding: .utf8) else {
            return "\(process)"
        }
        return "\(process), \"\(name.trimmingCharacters(in: .whitespacesAndNewlines))\""
    }
}

extension Realm.Error {
    /// A wait for the write lock that was given up.
    init(_ timeout: WriteScheduler.TurnTimeout, _ what: String, path: String) {
        let reason =
            timeout.isDeadlock
            ? "would wait for the write lock for ever: every thread of Swift's pool waits in a blocking write, and "
                + "\(timeout.holder), whose task needs one of them to go on. In asynchronous code use `try await realm.asyncWrite { }`."
            : "was not given the write lock in time: \(timeout.holder). Finish that write, or wait longer."
        self.init(
            .timedOut,
            "\(what) \(reason)",
            fileURL: URL(fileURLWithPath: path),
            details: Details(holder: timeout.holder)
        )
    }
}
