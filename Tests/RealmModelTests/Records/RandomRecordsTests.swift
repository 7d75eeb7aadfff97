import Foundation
import RealmModel
import RealmStorage
import RealmTestSupport
import Testing

@Suite("Commit records, applied to an empty file")
struct RandomRecordsTests {
    /// Set `REALM_RECORD_SEED` and `REALM_RECORD_ROUNDS` for more than the share that runs each time.
    static let seeds: [UInt64] = {
        let environment = ProcessInfo.processInfo.environment
        let first = environment["REALM_RECORD_SEED"].flatMap { UInt64($0) } ?? 1
        let count = environment["REALM_RECORD_ROUNDS"].flatMap { UInt64($0) } ?? 3
        return Array(first..<first + count)
    }()

    @Test("The replica, the original and plain dictionaries agree after random operations", arguments: seeds)
    func agreesWithDictionaries(seed: UInt64) throws {
        let classes = RandomOperationsTests.classes
        let recorded = try RecordedDatabase(classes)
        var random = SplitMix64(seed: seed)
        var reference = ReferenceDatabase(classes)
        var doneCount = 0
        for step in 0..<24 {
            let when = "step \(step) of seed \(seed)"
            var runner = OperationRunner(database: recorded.database, reference: reference, random: random)
            let operationCount = 1 + runner.random.below(60)
            doneCount += operationCount
            if runner.random.chance(15) {
                try recorded.database.rollBack { _ in for _ in 0..<operationCount { try runner.runOne() } }
                reference.nextKeys = runner.reference.nextKeys
            } else {
                try recorded.write { _ in for _ in 0..<operationCount { try runner.runOne() } }
                reference = runner.reference
            }
            random = runner.random
            try OperationRunner.compare(reference, recorded.replicated(), when)
            try recorded.requireEqual(when)
        }
        recorded.tell("records of rows", seed: seed, operations: doneCount)
    }

    @Test("Members of a group have a record each", arguments: seeds)
    func members(seed: UInt64) throws {
        let classes = RandomOperationsTests.classes
        let recorded = try RecordedDatabase(classes)
        let file = recorded.database.file
        let views = [recorded.database, try TestDatabase(sharing: recorded.database)]
        var random = SplitMix64(seed: seed)
        var reference = ReferenceDatabase(classes)
        var doneCount = 0
        for step in 0..<16 {
            let when = "step \(step) of seed \(seed)"
            try file.lockForWriting()
            defer { file.unlockForWriting() }
            var members: [(content: [UInt8], changes: ChangeSet?)] = []
            for _ in 0..<1 + random.below(5) {
                let view = views[random.below(views.count)]
                try recorded.begin(view, joining: true)
                var runner = OperationRunner(database: view, reference: reference, random: random)
                let operationCount = runner.random.below(runner.random.chance(50) ? 4 : 25)
                doneCount += operationCount
                for _ in 0..<operationCount { try runner.runOne() }
                if runner.random.chance(30) {
                    view.model.rollback()
                    reference.nextKeys = runner.reference.nextKeys
                } else {
                    let record = try #require(try view.model.record(RecordHeading(time: Int64(members.count))))
                    members.append((record.content, view.model.transaction?.changes))
                    try view.model.join()
                    reference = runner.reference
                }
                random = runner.random
            }
            if let prepared = try file.sealGroup() { try file.publish([prepared]) }
            for view in views { try view.model.advance(to: file.beginRead()) }
            for (index, member) in members.enumerated() {
                let heading = RecordHeading(time: Int64(index))
                try recorded.replay(.changes, member.content, expecting: heading, changing: member.changes)
            }
            try OperationRunner.compare(reference, recorded.replicated(), when)
            try recorded.requireEqual(when, mayLackKeys: true)
        }
        recorded.tell("records of members", seed: seed, operations: doneCount)
    }

    @Test("Sets, dictionaries, values of any kind, unique and compound indexes arrive as well", arguments: seeds)
    func wideClasses(seed: UInt64) throws {
        let recorded = try RecordedDatabase(WideOperations.classes)
        var operations = WideOperations(random: SplitMix64(seed: seed))
        var doneCount = 0
        for step in 0..<30 {
            func run(_ model: ModelView) throws {
                let operationCount = 1 + operations.random.below(40)
                for _ in 0..<operationCount { try operations.runOne(in: model) }
                doneCount += operationCount
            }
            if operations.random.chance(10) { try recorded.database.rollBack(run) } else { try recorded.write(run) }
            // A transaction that was rolled back has spent row keys.
            try recorded.requireEqual("step \(step) of seed \(seed)", mayLackKeys: true)
        }
        recorded.tell("records of wide classes", seed: seed, operations: doneCount)
    }
}
