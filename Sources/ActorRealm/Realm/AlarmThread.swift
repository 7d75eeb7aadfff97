import Dispatch
// Before the C module behind RealmStorage, which repeats some of its declarations.
import Glibc
import RealmStorage
import Synchronization

/// Calls functions later, all of them on one thread that is there while any is to be called.
///
/// Not a queue: where the system starts no thread, a queue would have its caller wait until one can be started. Here nobody is called
/// then.
final class AlarmThread: Sendable {
    /// That of the process: a forked child has none of its parent's threads.
    static var shared: AlarmThread { processes.value }

    private static let processes = PerProcess { AlarmThread() }

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
    /// Where the system starts no thread, the function is dropped, and so is any other that came meanwhile: who asked for one asks
    /// again once its time has passed (``WaitWatch``).
    func call(after nanoseconds: UInt64, _ body: @escaping @Sendable () -> Void) {
        let (time, overflow) = Self.now.addingReportingOverflow(nanoseconds)
        let alarm = Alarm(time: overflow ? .max : time, body: body)
        let mustStart = state.withLock { state in
            let index = state.alarms.firstIndex { $0.time <= alarm.time } ?? state.alarms.count
            state.alarms.insert(alarm, at: index)
            defer { state.isRunning = true }
            return !state.isRunning
        }
        guard mustStart else {
            change.signal()
            return
        }
        do {
            try start { self.run() }
        } catch {
            state.withLock { $0 = State() }
        }
    }

    private func run() {
        while true {
            let (due, next) = state.withLock { state -> ((@Sendable () -> Void)?, UInt64?) in
                guard let last = state.alarms.last else {
                    state.isRunning = false
                    return (nil, nil)
                }
                if last.time > Self.now { return (nil, last.time) }
                return (state.alarms.removeLast().body, nil)
            }
            if let due {
                due()
            } else if let next {
                _ = change.wait(timeout: DispatchTime(uptimeNanoseconds: next))
            } else {
                return
            }
        }
    }

    private static var now: UInt64 { DispatchTime.now().uptimeNanoseconds }
}
