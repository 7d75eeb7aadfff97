import Foundation
import RealmModel
import RealmStorage
import RealmTestSupport
import Testing

@testable import ActorRealm

/// Writers, the threads that flush and wait, and the disk in one seeded order after the other.
///
/// With a log there are checkpoints, alarms and a second file besides, and commits may owe their pages.
///
/// `REALM_SCHEDULES` says how many (default 150, and 100 with a log), `REALM_SCHEDULES_SEED` with which seed they begin.
@Suite struct ScheduleSimulationTests {
    private static let classes = [
        ClassSchema(
            name: "Entry",
            properties: [
                PropertySchema(name: "id", kind: .int, isPrimaryKey: true),
                PropertySchema(name: "note", kind: .string, isIndexed: true),
            ]
        )
    ]

    /// What was promised to whom.
    // Unchecked because the simulation's one thread has it.
    private final class Book: @unchecked Sendable {
        /// The transactions in the order of their turns, without those that were taken back.
        var order: [Int] = []
        var acknowledged: Set<Int> = []
        var failed: Set<Int> = []
        var cancelled = 0
        var ended = 0
        /// How many were acknowledged by their records, and had no pages then.
        var owing = 0
    }

    /// An actor with a view of its own that writes one transaction after the other: two rows each.
    private actor Writer {
        let number: Int
        let file: StorageFile
        let writes: WriteScheduler
        let world: Simulation
        let book: Book
        let model: ModelView

        init(_ number: Int, _ file: StorageFile, _ writes: WriteScheduler, _ world: Simulation, _ book: Book) throws {
            self.number = number
            self.file = file
            self.writes = writes
            self.world = world
            self.book = book
            model = try ModelView(snapshot: file.beginRead())
        }

        func run(_ count: Int) async {
            for index in 0..<count {
                let id = number * 1_000 + index * 2
                do {
                    try await write(id)
                } catch is CancellationError {
                    book.cancelled += 1
                    return
                } catch {
                    book.failed.insert(id)
                    model.rollback()
                }
                if world.isOneOf(3) { await Task.yield() }
            }
        }

        private func write(_ id: Int) async throws {
            let turn = try await writes.acquire(for: .object(ObjectIdentifier(self)))
            let isJoining = !world.isOneOf(4)
            do {
                writes.transactionBegins(joining: isJoining)
                let transaction = try file.beginWrite(joining: isJoining)
                // What has no record is kept as pages beside the log.
                if file.keepsLog, !world.isOneOf(8) { transaction.recording = .record }
                try model.begin(transaction)
                let table = try #require(try model.table(named: "Entry"))
                for row in [id, id + 1] {
                    let key = try table.insert(primaryKey: .int(Int64(row)))
                    let note = world.isOneOf(20) ? String(repeating: "long \(row) ", count: 800) : "note \(row)"
                    try table.set(table.schema.ordinal(of: "note") ?? 0, key: key, to: .string(note))
                }
            } catch {
                if model.transaction != nil { model.rollback() }
                writes.finish(turn)
                throw error
            }
            if world.isOneOf(8) {
                model.rollback()
                writes.finish(turn)
                return
            }
            let result: WriteScheduler.CommitResult
            if let recorded = try endRecorded(turn) {
                book.order.append(id)
                result = await writes.commitRecorded(recorded.record, of: recorded.group, ending: turn).result
                if case .success(nil) = result { book.owing += 1 }
            } else if isJoining, writes.mayJoin(turn) {
                let group: UInt64
                do {
                    group = try model.join()
                } catch {
                    model.rollback()
                    writes.finish(turn)
                    throw error
                }
                book.order.append(id)
                result = await writes.commitJoined(group, ending: turn)
            } else {
                let prepared: PreparedCommit
                do {
                    prepared = try model.prepareCommit()
                    try model.endTransaction()
                } catch {
                    model.rollback()
                    writes.finish(turn)
                    throw error
                }
                book.order.append(id)
                result = await writes.commit(prepared, ending: turn)
            }
            _ = try result.get()
            book.acknowledged.insert(id)
            // Whoever asked for pages would block the one thread, and with it those who make them.
            try model.advance(to: file.beginRead(asking: file.keepsLog ? .published : .acknowledged))
            if !file.keepsLog { return try requireSeen(id, in: model) }
            if world.isOneOf(3) {
                let newest = try file.acknowledgedInMemory() ?? file.beginRead(asking: .published)
                try requireSeen(id, in: ModelView(snapshot: newest))
            }
        }

        /// Ends the open transaction, with a log, so that its record makes it durable; nil where it is to be ended in another way.
        private func endRecorded(_ turn: WriteScheduler.Ticket) throws -> (group: UInt64, record: OwingRecord)? {
            guard file.keepsLog else { return nil }
            do {
                try model.keepRecord(RecordHeading())
                guard writes.mayLeaveRecord(turn), let commit = model.loggedCommit, commit.mayJoinOwing else {
                    return nil
                }
                return try model.joinOwing(commit)
            } catch {
                model.rollback()
                writes.finish(turn)
                throw error
            }
        }

        private func requireSeen(_ id: Int, in model: ModelView) throws {
            let table = try #require(try model.table(named: "Entry"))
            let mine = try table.indexedKeys(property: 0, equalTo: .int(Int64(id + 1)))
            if mine.isEmpty { Issue.record("an acknowledged row is not seen by who wrote it: \(id)") }
        }
    }

    private struct Outcome: Equatable {
        var trace: UInt64
        var steps: Int
        var acknowledged: [Int]
        var visible: [Int]
        var hasFailed: Bool
        var flushes: Int
        var owing: Int
    }

    /// A run that takes more steps does something for ever.
    private static let stepLimit = 50_000

    /// How a log is kept: a short one, so that checkpoints come often.
    private static func logOptions() -> LogOptions {
        var log = LogOptions(forEachPage: ModelVerifier.forEachReachablePage, replay: LogReplay.apply)
        log.ringByteCount = 8 * LogHeader.blockByteCount
        log.pagesOnDemand = true
        return log
    }

    /// The same with all that is done to it and beside it in the simulation, and pauses so short that they come between writers.
    private static func logOptions(in world: Simulation, on disk: SimulatedDisk) -> LogOptions {
        var log = logOptions()
        log.pageCommitCount = world.choose(3)
        log.notePatience = 200_000
        log.checkpointPatience = 500_000
        log.endPatience = world.isOneOf(3) ? nil : 1_500_000
        log.makeDirectory = { SimulatedDisk.Directory(disk: disk, base: LogFile(besides: $0)) }
        log.clock = world.logClock
        log.runBeside = { world.runBeside($0, $1) }
        return log
    }

    /// The transactions that a file has; nil after an issue was recorded.
    private func transactions(of file: StorageFile, _ what: String) throws -> Set<Int> {
        let model = try ModelView(snapshot: file.beginRead())
        defer { withExtendedLifetime(model) {} }
        let table = try #require(try model.table(named: "Entry"))
        var rows: Set<Int> = []
        var cursor = table.leaves()
        while let leaf = try cursor.next() {
            for row in 0..<leaf.rowCount {
                guard case .int(let id) = try table.value(0, key: leaf.key(at: row)) else { continue }
                rows.insert(Int(id))
            }
        }
        let first = rows.filter { $0 % 2 == 0 }
        #expect(
            rows.count == 2 * first.count && first.allSatisfy { rows.contains($0 + 1) },
            "half of a transaction, \(what)"
        )
        return first
    }

    private func run(
        seed: UInt64,
        keepingLog keepsLog: Bool,
        template: [UInt8],
        in directory: TemporaryDirectory
    ) throws -> Outcome {
        let world = Simulation(seed: seed)
        let book = Book()
        let path = directory.path("run.realm")
        try Data(template).write(to: URL(fileURLWithPath: path))
        let goodFlushes = world.isOneOf(3) ? 1 + world.choose(keepsLog ? 16 : 8) : Int.max
        let disk = SimulatedDisk(world, content: template, goodFlushes: goodFlushes)
        var options = StorageOptions()
        options.makeDevice = { SimulatedDisk.Device(disk: disk, which: .realm, base: $0) }
        if keepsLog { options.log = Self.logOptions(in: world, on: disk) }
        var outcome: Outcome
        let what = keepsLog ? "seed \(seed) with a log" : "seed \(seed)"
        do {
            let file = try StorageFile.open(path: path, options: options)
            world.takeSteps(ofCheckpointsOf: file)
            let writes = WriteScheduler(
                file: file,
                ioThread: world.thread(0),
                lockThread: world.thread(1),
                clock: world.clock(withAlarms: keepsLog)
            ) { _ in }
            var tasks: [Task<Void, Never>] = []
            for number in 1...2 + world.choose(5) {
                let writer = try Writer(number, file, writes, world, book)
                let count = 1 + world.choose(keepsLog ? 8 : 4)
                let priority: TaskPriority = [.low, .medium, .high][world.choose(3)]
                tasks.append(
                    Task.detached(executorPreference: world, priority: priority) {
                        await writer.run(count)
                        book.ended += 1
                    }
                )
            }
            // The power is cut at any moment, or when all is done.
            let last = world.isOneOf(2) ? world.choose(keepsLog ? 240 : 120) : Self.stepLimit
            while world.stepCount < last, world.step() {
                if world.isOneOf(60) { tasks[world.choose(tasks.count)].cancel() }
                // Somebody needs the pages of what was acknowledged without.
                if keepsLog, world.isOneOf(25) { writes.requestPages() }
            }
            outcome = Outcome(
                trace: world.trace,
                steps: world.stepCount,
                acknowledged: book.acknowledged.sorted(),
                visible: [],
                hasFailed: disk.hasFailed,
                flushes: writes.statistics.flushes,
                owing: book.owing
            )
            // What was acknowledged before the cut; the rest runs on, so that nothing waits for ever.
            let image = disk.cutPower()
            let cut = directory.path("cut.realm")
            try Data(image.realm).write(to: URL(fileURLWithPath: cut))
            if let log = image.log { try Data(log).write(to: URL(fileURLWithPath: cut + ".log")) }
            let promised = book.acknowledged
            let order = book.order
            while world.stepCount < Self.stepLimit, world.step() {}
            #expect(world.stepCount < Self.stepLimit, "something goes on for ever, \(what)")
            #expect(book.ended == tasks.count, "a writer waits for ever, \(what)")
            if !disk.hasFailed {
                // Where nobody makes them, whoever reads would wait for ever.
                try #require(!file.isOwingPages, "pages are owed that nobody makes, \(what)")
                #expect(try transactions(of: file, what) == Set(book.order), "\(what)")
                #expect(book.failed.isEmpty, "\(what)")
            }
            do {
                var options = StorageOptions()
                if keepsLog { options.log = Self.logOptions() }
                let recovered = try StorageFile.open(path: cut, options: options)
                #expect(!FileManager.default.fileExists(atPath: cut + ".log"), "the log stays, \(what)")
                let visible = try transactions(of: recovered, "\(what), after the cut")
                #expect(visible.isSuperset(of: promised), "an acknowledged transaction is lost, \(what)")
                #expect(
                    visible == Set(order.prefix(visible.count)),
                    "transactions are there without those before them, \(what)"
                )
                try FileVerifier.verify(recovered.beginRead())
                outcome.visible = visible.sorted()
            }
        }
        for name in ["run.realm", "cut.realm"] {
            for suffix in ["", ".lock", ".log"] {
                try? FileManager.default.removeItem(atPath: directory.path(name + suffix))
            }
        }
        return outcome
    }

    /// What all runs of some seeds have come to.
    private struct Totals {
        var first: UInt64
        var count: Int
        var acknowledged = 0
        var visible = 0
        var failures = 0
        var flushes = 0
        var steps = 0
        var owing = 0

        /// What is printed of them.
        var description: String {
            "\(count) from seed \(first), \(steps) steps, \(flushes) flushes, \(failures) of them failed, "
                + "\(acknowledged) transactions acknowledged before the power cut, \(visible) there after it"
        }

        mutating func add(_ outcome: Outcome) {
            acknowledged += outcome.acknowledged.count
            visible += outcome.visible.count
            failures += outcome.hasFailed ? 1 : 0
            flushes += outcome.flushes
            steps += outcome.steps
            owing += outcome.owing
        }
    }

    /// Runs the seeds that the environment says, or so many, some of them twice.
    private func runAll(_ usualCount: Int, keepingLog keepsLog: Bool) throws -> Totals {
        let environment = ProcessInfo.processInfo.environment
        let count = environment["REALM_SCHEDULES"].flatMap { Int($0) } ?? usualCount
        let first = environment["REALM_SCHEDULES_SEED"].flatMap { UInt64($0) } ?? .random(in: 0..<1 << 40)
        let directory = TemporaryDirectory()
        let path = directory.path("template.realm")
        do {
            let file = try StorageFile.open(path: path)
            try file.lockForWriting()
            let transaction = try file.beginWrite()
            let plan = try SchemaReconciler.plan(
                stored: nil,
                declared: DatabaseSchema(classes: Self.classes, version: 1)
            )
            try SchemaReconciler.apply(plan, in: transaction)
            try file.publish([transaction.prepareCommit()])
            file.unlockForWriting()
        }
        let template = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
        var totals = Totals(first: first, count: count)
        for seed in first..<first + UInt64(count) {
            let outcome = try run(seed: seed, keepingLog: keepsLog, template: template, in: directory)
            if seed % 10 == 0 {
                let again = try run(seed: seed, keepingLog: keepsLog, template: template, in: directory)
                #expect(again == outcome, "seed \(seed) gave two runs")
            }
            totals.add(outcome)
        }
        return totals
    }

    @Test func `no order of writers, flushes and power cuts loses what was acknowledged, and a seed gives one run`()
        throws
    {
        let totals = try runAll(150, keepingLog: false)
        print("schedules: \(totals.description)")
        #expect(totals.acknowledged > totals.count && totals.flushes < totals.acknowledged)
        #expect(totals.failures > totals.count / 20)
    }

    @Test func `with a log, and with commits that owe their pages, it is the same over both files`() throws {
        let totals = try runAll(100, keepingLog: true)
        print("schedules with a log: \(totals.description), \(totals.owing) transactions owed their pages")
        #expect(totals.acknowledged > totals.count && totals.failures > totals.count / 50)
        #expect(totals.owing > totals.count / 10)
    }
}
