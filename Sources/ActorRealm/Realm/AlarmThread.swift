import Dispatch
// Before the C module behind RealmStorage, which repeats some of its declarations.
import Glibc
import RealmStorage
import Synchronization

/// Calls functions later, all of them on one thread that is there while any is to be called, and for a moment more.
///
/// Not a queue: where the system starts no thread, a queue would have its caller wait until one can be started. Here nobody is called
/// then.
final class AlarmThread: Sendable {
    /// That of the process: a forked child has none of its parent's threads.
    static var shared: AlarmThread { processes.value }

    /// That of the process for locks that are kept, which runs no code of the program.
    static var locks: AlarmThread { lockProcesses.value }

    /// That of the process for the deadlines of writers, whose realms may belong to schedulers of the program.
    static var deadlines: AlarmThread { deadlineProcesses.value }

    private static let processes = PerProcess { AlarmThread() }
    private static let deadlineProcesses = PerProcess { AlarmThread() }
    private static let lockProcesses = PerProcess { AlarmThread() }

    private struct Alarm {
        let time: UInt64
        let body: @Sendable () -> Void
    }

    private struct State {
        /// The latest first.
        var alarms: [Alarm] = []
        var isRunning = false
    }

    private let state = Mutex(State())
    private let change = DispatchSemaphore(value: 0)
    private let start: @Sendable (@escaping @Sendable () -> Void) throws -> Void

    /// Alarms that are called by a thread of their own; `start` throws when there can be none.
    init(
        start: @escaping @Sendable (@escaping @Sendable () -> Void) throws -> Void = {
            try DedicatedThread.detach(name: "realm-alarms", $0)
        }
    ) {
        self.start = start
    }

    /// Calls a function in so many nanoseconds.
    ///
    /// Where the system starts no thread, the function is dropped: who asked for it asks again once its time has passed (``WaitWatch``).
    ///
    /// - Returns: Whether it will be called.
    @discardableResult
    func call(after nanoseconds: UInt64, _ body: @escaping @Sendable () -> Void) -> Bool {
        let (time, overflow) = Self.now.addingReportingOverflow(nanoseconds)
        let alarm = Alarm(time: overflow ? .max : time, body: body)
        // Nobody else is told that he will be called before the thread is there.
        return state.withLock { state in
            let index = state.alarms.firstIndex { $0.time <= alarm.time } ?? state.alarms.count
            state.alarms.insert(alarm, at: index)
            if state.isRunning {
                change.signal()
                return true
            }
            do {
                try start { self.run() }
                state.isRunning = true
            } catch {
                state = State()
            }
            return state.isRunning
        }
    }

    private func run() {
        var idleEnd = Self.now + Self.idleNanoseconds
        while true {
            let now = Self.now
            let (due, next) = state.withLock { state -> ((@Sendable () -> Void)?, UInt64?) in
                guard let last = state.alarms.last else {
                    if now >= idleEnd { state.isRunning = false }
                    return (nil, now < idleEnd ? idleEnd : nil)
                }
                if last.time > now { return (nil, last.time) }
                return (state.alarms.removeLast().body, nil)
            }
            if let due {
                due()
                idleEnd = Self.now + Self.idleNanoseconds
            } else if let next {
                _ = change.wait(timeout: DispatchTime(uptimeNanoseconds: next))
            } else {
                return
            }
        }
    }

    /// For so long the thread stays behind the last alarm: who writes in a loop asks for one again and again.
    private static var idleNanoseconds: UInt64 { 100_000_000 }

    private static var now: UInt64 { DispatchTime.now().uptimeNanoseconds }
}
