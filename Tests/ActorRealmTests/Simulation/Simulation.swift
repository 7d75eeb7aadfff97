import RealmStorage
import RealmTestSupport

@testable import ActorRealm

/// One thread, one source of random numbers and one clock for everything that tasks, threads and the disk do: the same seed
/// gives the same run.
///
/// Whatever could run is kept in a list, and each step chooses from it. Where a thread would block, in the disk or in a pause,
/// other steps are taken meanwhile.
// Unchecked because one thread has it; the runtime asks for `Sendable`.
final class Simulation: TaskExecutor, @unchecked Sendable {
    /// Blocks of one thread, one behind the other.
    private struct Thread {
        var blocks: [@Sendable () -> Void] = []
        var isRunning = false
    }

    private var random: SplitMix64
    private var jobs: [UnownedJob] = []
    /// The third one makes the space of logs.
    private var threads = [Thread(), Thread(), Thread()]
    /// What is called at a time.
    private var alarms: [(time: UInt64, body: @Sendable () -> Void)] = []
    /// Takes the next step of a checkpoint; false where there is none.
    private var takeCheckpointStep: () -> Bool = { false }
    /// Whether there may be one.
    private var isCheckpointBegun = false
    /// So many pauses are under way, one within the other.
    private var depth = 0
    private(set) var time: UInt64 = 1_000_000_000
    private(set) var stepCount = 0
    /// A hash of all choices.
    private(set) var trace: UInt64 = 0xCBF2_9CE4_8422_2325

    init(seed: UInt64) { random = SplitMix64(seed: seed) }

    func enqueue(_ job: consuming ExecutorJob) { jobs.append(UnownedJob(job)) }

    /// A number below another.
    func choose(_ count: Int) -> Int {
        let choice = Int(random.next() % UInt64(count))
        trace = (trace ^ UInt64(choice &+ count << 16)) &* 0x100_0000_01B3
        return choice
    }

    func isOneOf(_ count: Int) -> Bool { choose(count) == 0 }

    /// A thread of the file; `index` is 0 for what blocks in the device, 1 for what waits for the lock.
    func thread(_ index: Int) -> DedicatedThread {
        DedicatedThread(name: "simulated") { [self] block in threads[index].blocks.append(block) }
    }

    /// What tells the time to writers; with alarms, the write lock may be kept until one comes, as commits without pages need it.
    func clock(withAlarms hasAlarms: Bool) -> WriteScheduler.Clock {
        var clock = WriteScheduler.Clock(now: { self.time }, pause: { self.pause($0) })
        if hasAlarms { clock.wakeSoon = { self.call(after: $0, $1) } }
        return clock
    }

    /// Passes time, in which others go on.
    func pause(_ nanoseconds: UInt64) {
        let end = time + nanoseconds
        depth += 1
        for _ in 0..<choose(6) where !step() { break }
        depth -= 1
        time = max(time, end)
    }

    /// Runs something that can run; false when there is nothing.
    func step() -> Bool {
        let ready = threads.indices.filter { !threads[$0].isRunning && !threads[$0].blocks.isEmpty }
        // What pauses may have a lock that an alarm asks for.
        let due = depth == 0 ? alarms.indices.filter { alarms[$0].time <= time } : []
        let count = jobs.count + ready.count + due.count + (isCheckpointBegun ? 1 : 0)
        if count == 0 { return callNextAlarm() }
        stepCount += 1
        time += UInt64(choose(40_000))
        var choice = choose(count)
        if choice < jobs.count {
            jobs.remove(at: choice).runSynchronously(on: asUnownedTaskExecutor())
            return true
        }
        choice -= jobs.count
        if choice < ready.count {
            run(ready[choice])
            return true
        }
        choice -= ready.count
        if choice < due.count {
            alarms.remove(at: due[choice]).body()
        } else {
            let isThereMore = takeCheckpointStep()
            isCheckpointBegun = isThereMore
        }
        return true
    }

    /// Runs the next block of a thread.
    private func run(_ index: Int) {
        let block = threads[index].blocks.removeFirst()
        threads[index].isRunning = true
        block()
        threads[index].isRunning = false
    }

    /// Lets time pass until the next alarm, where nothing else is left; false where there is none.
    private func callNextAlarm() -> Bool {
        guard depth == 0, let next = alarms.indices.min(by: { alarms[$0].time < alarms[$1].time }) else { return false }
        stepCount += 1
        time = max(time, alarms[next].time)
        alarms.remove(at: next).body()
        return true
    }

    private func call(after pause: UInt64, _ body: @escaping @Sendable () -> Void) -> Bool {
        alarms.append((time + pause, body))
        return true
    }
}

/// The log.
extension Simulation {
    /// What tells the time to a log.
    var logClock: LogOptions.Clock {
        LogOptions.Clock(now: { self.time }, wake: { self.call(after: $0, $1) })
    }

    /// Has the steps of a file's checkpoints be taken among all others, one at a time.
    func takeSteps(ofCheckpointsOf file: StorageFile) {
        takeCheckpointStep = { [weak file] in file?.takeCheckpointStep() ?? false }
    }

    /// Does what a log has to be done beside commits.
    func runBeside(_ work: LogOptions.Work, _ body: @escaping @Sendable () -> Void) {
        switch work {
        case .space: threads[2].blocks.append(body)
        case .checkpoint: isCheckpointBegun = true
        // It has locks that others would wait for, so nothing else goes on meanwhile.
        case .end: alarms.append((time, body))
        }
    }
}
