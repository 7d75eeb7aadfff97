import Logging
import Synchronization

/// What a migration says while it runs, once each for its beginning and its end, and now and then between.
///
/// Others wait for the write lock as long as it takes, so that an operator has to see how far it is, and who waits. Who waits is looked
/// for by an alarm, too: a block, or an index, may take long and call nothing that would look.
final class MigrationLog: Sendable {
    private struct State {
        var lastLine: ContinuousClock.Instant
        var waitingCount = 0
        var isOver = false
        /// Whether nobody looks for who waits later, because the system starts no thread.
        var lacksAlarm = false
    }

    private let logger: Logger
    private let path: String
    private let oldVersion: UInt64
    private let newVersion: UInt64
    private let waitingProcesses: @Sendable () -> Int
    private let alarms: AlarmThread
    private let start: ContinuousClock.Instant
    private let state: Mutex<State>

    /// The time between two lines about one class.
    private static let interval = Duration.seconds(5)
    /// The nanoseconds between two looks at who waits.
    private static let lookInterval: UInt64 = 1_000_000_000
    /// The number of objects between two looks at the clock.
    static let stride = 1_024

    // `waitingProcesses` counts the other processes that wait for the write lock.
    init(
        _ logger: Logger,
        path: String,
        from old: UInt64,
        to new: UInt64,
        alarms: AlarmThread = .shared,
        waitingProcesses: @escaping @Sendable () -> Int
    ) {
        self.logger = logger
        self.path = path
        oldVersion = old
        newVersion = new
        self.alarms = alarms
        self.waitingProcesses = waitingProcesses
        let now = ContinuousClock.now
        start = now
        state = Mutex(State(lastLine: now))
        say(.info, "A migration begins.")
        if logger.logLevel <= .info { lookLater() }
    }

    /// Looks at who waits, again and again until the migration is over.
    private func lookLater() {
        let isCalled = alarms.call(after: Self.lookInterval) { [weak self] in
            guard let self, !self.isOver else { return }
            self.lookForWaiting()
            self.lookLater()
        }
        if !isCalled { state.withLock { $0.lacksAlarm = true } }
    }

    private var lacksAlarm: Bool { state.withLock { $0.lacksAlarm } }

    private var isOver: Bool { state.withLock { $0.isOver } }

    private func say(_ level: Logger.Level, _ message: Logger.Message, _ more: Logger.Metadata = [:]) {
        let metadata: Logger.Metadata = [
            "realm.path": "\(path)", "migration.from": "\(oldVersion)", "migration.to": "\(newVersion)",
        ]
        logger.log(level: level, message, metadata: metadata.merging(more) { $1 })
    }

    private var elapsed: Logger.MetadataValue { "\(ContinuousClock.now - start)" }

    /// Says that a block has got so far, when the last line is some time ago.
    func goesOn(_ progress: MigrationProgress) {
        let now = ContinuousClock.now
        let isDue = state.withLock { state -> Bool in
            guard now - state.lastLine >= Self.interval else { return false }
            state.lastLine = now
            return true
        }
        if lacksAlarm { lookForWaiting() }
        guard isDue else { return }
        say(.info, "A migration goes on.", Self.metadata(progress))
    }

    /// Says that a block has gone through the objects of a class.
    func didVisit(_ progress: MigrationProgress) {
        state.withLock { $0.lastLine = .now }
        lookForWaiting()
        say(.info, "A migration has gone through a class.", Self.metadata(progress))
    }

    /// Says that the block is done and the rest begins, whose indexes take as long as there are objects.
    func changesSchema() {
        lookForWaiting()
        say(.info, "A migration brings properties and indexes up to date.", ["migration.duration": elapsed])
    }

    /// Says that the step to a version is done.
    func didStep(to version: UInt64) {
        lookForWaiting()
        say(.info, "A step of a migration is done.", ["migration.step": "\(version)", "migration.duration": elapsed])
    }

    /// Says that there is a step to a version that nobody asked for.
    func leavesOut(step version: UInt64) {
        say(
            .warning,
            "A step of a migration leads to a version above the `schemaVersion` of the configuration, and does not run.",
            ["migration.step": "\(version)"]
        )
    }

    /// Says how many processes wait, when there are more than the last time.
    func lookForWaiting() {
        let count = state.withLock { state -> Int? in
            if state.isOver { return nil }
            let count = waitingProcesses()
            let isMore = count > state.waitingCount
            state.waitingCount = count
            return isMore ? count : nil
        }
        // Not under the lock: a logger is the program's own.
        guard let count else { return }
        say(
            .info,
            "Other processes wait for a migration.",
            ["migration.waitingProcesses": "\(count)", "migration.duration": elapsed]
        )
    }

    /// Says that the migration is committed, and what it has lost.
    func ends(_ losses: [MigrationLoss]) {
        state.withLock { $0.isOver = true }
        for loss in losses {
            say(
                .warning,
                "A migration has dropped values: \(loss.summary).",
                [
                    "migration.class": "\(loss.className)", "migration.property": "\(loss.propertyName)",
                    "migration.lost": "\(loss.count)",
                ]
            )
        }
        say(.info, "A migration is done.", ["migration.duration": elapsed])
    }

    /// Says that the file is as it was.
    func fails(_ error: any Error) {
        state.withLock { $0.isOver = true }
        say(.warning, "A migration was rolled back.", ["error": "\(error)", "migration.duration": elapsed])
    }

    private static func metadata(_ progress: MigrationProgress) -> Logger.Metadata {
        [
            "migration.class": "\(progress.className)", "migration.visited": "\(progress.visitedCount)",
            "migration.objects": "\(progress.totalCount)",
        ]
    }
}
