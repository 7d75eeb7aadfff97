import Foundation
import RealmModel
import RealmStorage
import RealmTestSupport
import Testing

@testable import ActorRealm

/// Writers, the threads that flush and wait, and the disk in one seeded order after the other.
///
/// `REALM_SCHEDULES` says how many, `REALM_SCHEDULES_SEED` with which seed they begin.
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
                try model.begin(file.beginWrite(joining: isJoining))
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
            if isJoining, writes.mayJoin(turn) {
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
            try model.advance(to: file.beginRead())
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

    private func run(seed: UInt64, template: [UInt8], in directory: TemporaryDirectory) throws -> Outcome {
        let world = Simulation(seed: seed)
        let book = Book()
        let path = directory.path("run.realm")
        try Data(template).write(to: URL(fileURLWithPath: path))
        let goodFlushes = world.isOneOf(3) ? 1 + world.choose(8) : Int.max
        let disk = SimulatedDisk(world, content: template, goodFlushes: goodFlushes)
        var options = StorageOptions()
        options.makeDevice = { SimulatedDisk.Device(disk: disk, base: $0) }
        var outcome: Outcome
        let what = "seed \(seed)"
        do {
            let file = try StorageFile.open(path: path, options: options)
            let writes = WriteScheduler(
                file: file,
                ioThread: world.thread(0),
                lockThread: world.thread(1),
                clock: world.clock
            ) { _ in }
            var tasks: [Task<Void, Never>] = []
            for number in 1...2 + world.choose(5) {
                let writer = try Writer(number, file, writes, world, book)
                let count = 1 + world.choose(4)
                let priority: TaskPriority = [.low, .medium, .high][world.choose(3)]
                tasks.append(
                    Task.detached(executorPreference: world, priority: priority) {
                        await writer.run(count)
                        book.ended += 1
                    }
                )
            }
            // The power is cut at any moment, or when all is done.
            let last = world.isOneOf(2) ? world.choose(120) : Int.max
            while world.stepCount < last, world.step() {
                if world.isOneOf(60) { tasks[world.choose(tasks.count)].cancel() }
            }
            outcome = Outcome(
                trace: world.trace,
                steps: world.stepCount,
                acknowledged: book.acknowledged.sorted(),
                visible: [],
                hasFailed: disk.hasFailed,
                flushes: writes.statistics.flushes
            )
            // What was acknowledged before the cut; the rest runs on, so that nothing waits for ever.
            let image = disk.cutPower()
            let cut = directory.path("cut.realm")
            try Data(image).write(to: URL(fileURLWithPath: cut))
            let promised = book.acknowledged
            let order = book.order
            while world.step() {}
            #expect(book.ended == tasks.count, "a writer waits for ever, \(what)")
            if !disk.hasFailed {
                #expect(try transactions(of: file, what) == Set(book.order), "\(what)")
                #expect(book.failed.isEmpty, "\(what)")
            }
            do {
                let recovered = try StorageFile.open(path: cut)
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
        for name in ["run.realm", "run.realm.lock", "cut.realm", "cut.realm.lock"] {
            try? FileManager.default.removeItem(atPath: directory.path(name))
        }
        return outcome
    }

    @Test func `no order of writers, flushes and power cuts loses what was acknowledged, and a seed gives one run`()
        throws
    {
        let environment = ProcessInfo.processInfo.environment
        let count = environment["REALM_SCHEDULES"].flatMap { UInt64($0) } ?? 150
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
        var acknowledged = 0
        var visible = 0
        var failures = 0
        var flushes = 0
        var steps = 0
        for seed in first..<first + count {
            let outcome = try run(seed: seed, template: template, in: directory)
            if seed % 10 == 0 {
                #expect(try run(seed: seed, template: template, in: directory) == outcome, "seed \(seed) gave two runs")
            }
            acknowledged += outcome.acknowledged.count
            visible += outcome.visible.count
            failures += outcome.hasFailed ? 1 : 0
            flushes += outcome.flushes
            steps += outcome.steps
        }
        print(
            "schedules: \(count) from seed \(first), \(steps) steps, \(flushes) flushes, \(failures) of them failed, "
                + "\(acknowledged) transactions acknowledged before the power cut, \(visible) there after it"
        )
        #expect(acknowledged > Int(count) && flushes < acknowledged && failures > Int(count) / 20)
    }
}
