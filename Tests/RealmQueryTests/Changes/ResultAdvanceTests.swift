import RealmModel
import RealmStorage
import RealmTestSupport
import Testing

@testable import RealmQuery

/// Keys that were read at one version and are taken to another one, with nothing at hand of the first.
@Suite struct ResultAdvanceTests {
    private struct Reader {
        let subject: RandomObservationTests.Subject
        let advance: ResultAdvance
        var keys: ResultKeys
        var version: UInt64
        let pace: Int
    }

    @Test
    func `keys that were taken to a later version are those that a plain evaluation gives there`() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var seeds = SplitMix64(seed: seed)
        let subjects = RandomObservationTests()
        var advanced = [0, 0]
        var evaluated = 0
        for round in 0..<14 {
            let world = try QueryWorld.random(
                seed: seeds.next(),
                everyType: round % 3 != 0,
                domain: round % 2 == 0 ? .plain : .edges
            )
            // One view that moves, as that of a realm does, with everything compiled for it.
            let model = try ModelView(snapshot: world.file.beginRead())
            var readers: [Reader] = []
            for _ in 0..<24 {
                var subject = subjects.randomSubject(world)
                subject.query.source = .table
                if subject.query.predicate == nil, subject.query.steps.isEmpty { continue }
                let table = try #require(try model.table(named: subject.query.className))
                let compiled = try subject.query.predicate.map { try CompiledQuery($0, table: table) }
                let advance = try ResultAdvance(subject.query, compiled, in: model, economy: .always)
                readers.append(
                    Reader(
                        subject: subject,
                        advance: advance,
                        keys: ResultKeys(.list(try subject.query.keys(in: model) ?? [])),
                        version: model.version,
                        pace: [1, 1, 2, 5].randomElement(using: &seeds)!
                    )
                )
            }
            for number in 0..<24 {
                _ = try subjects.commit(world)
                let evaluator = PlainEvaluator(world: world)
                try model.advance(to: world.file.beginRead())
                for index in readers.indices where number % readers[index].pace == 0 {
                    let reader = readers[index]
                    let comment: Comment =
                        "seed \(seed), round \(round), commit \(number), reader \(index): \(reader.subject)"
                    let expected = reader.subject.content(world, evaluator)
                    readers[index].version = model.version
                    let changes = try world.file.changes(
                        afterUnheld: reader.version,
                        through: model.snapshot,
                        byteLimit: .max
                    )
                    let step = changes.map { ChangeStep($0, from: model, to: model) }
                    guard let step, let keys = try reader.advance.advanced(reader.keys, by: step) else {
                        evaluated += 1
                        readers[index].keys = ResultKeys(.list(expected))
                        continue
                    }
                    #expect(keys.order.array() == expected, comment)
                    advanced[keys.order.array() == reader.keys.order.array() ? 0 : 1] += 1
                    readers[index].keys = keys
                }
            }
        }
        print("Advanced results: \(advanced) without and with changes, \(evaluated) evaluated, seed \(seed).")
        #expect(advanced[0] > 100)
        #expect(advanced[1] > 100)
    }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func `a version that nobody holds leads on only where the log tells it apart from what came before`(
        seed: UInt64
    ) throws {
        var random = SplitMix64(seed: seed)
        var options = StorageOptions()
        options.durability = .none
        let directory = TemporaryDirectory()
        let file = try StorageFile.open(path: directory.path("log.realm"), options: options)
        #expect(try file.tryLockForWriting())
        // What there was at each version, and a row that comes and goes soon after.
        var contents: [(version: UInt64, keys: Set<Int64>)] = []
        var keys: Set<Int64> = []
        var nextKey: Int64 = 0
        var held: [Snapshot] = []
        var answers = 0
        for round in 0..<600 {
            // The first one stays, and the log with it.
            if round % 61 == 5 { held.append(try file.beginRead()) }
            if held.count > 3 { held.remove(at: Int.random(in: 1..<held.count, using: &random)) }
            let transaction = try file.beginWrite()
            // So much that pictures join what is old.
            for _ in 0..<80 {
                transaction.changes.recordModify(table: 2, key: .random(in: 0..<5_000, using: &random), column: 0)
            }
            for _ in 0..<Int.random(in: 1...30, using: &random) {
                transaction.changes.recordInsert(table: 1, key: nextKey)
                keys.insert(nextKey)
                nextKey += 1
            }
            for key in keys.sorted() where key < nextKey - 40 || Int.random(in: 0..<9, using: &random) == 0 {
                transaction.changes.recordDelete(table: 1, key: key)
                keys.remove(key)
            }
            try file.publish([try transaction.prepareCommit()])
            contents.append((transaction.version, keys))
            guard round % 20 == 19 else { continue }
            let newest = try file.beginRead()
            // Those of late, and some of long ago.
            for (version, before) in contents.suffix(12) + contents.shuffled(using: &random).prefix(12) {
                let changes = try file.changes(afterUnheld: version, through: newest, byteLimit: .max)
                guard let table = changes.map({ $0.tables[1] ?? TableChanges() }) else { continue }
                answers += 1
                let after = before.subtracting(table.deleted).union(table.inserted)
                #expect(after == keys, "seed \(seed), round \(round), from \(version)")
            }
        }
        #expect(answers > 100)
    }

    @Test
    func `keys are found among others in any order`() {
        var random = SplitMix64(seed: 7)
        for count in [0, 1, 2, 300, 512, 5_000] {
            let keys = (0..<Int64(count)).map { $0 &* 3 &- 40 }.shuffled(using: &random)
            let order = KeyOrder(keys, isAscending: false)
            for soughtCount in [0, 1, 2, 17, 1_000] {
                let sought = (0..<soughtCount).map { _ in Int64.random(in: -60..<Int64(count) * 3, using: &random) }
                let unique = Array(Set(sought)).sorted()
                let expected = keys.indices.filter { unique.contains(keys[$0]) }
                #expect(order.positions(of: unique) == expected)
            }
        }
    }
}
