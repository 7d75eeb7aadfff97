import RealmModel
import RealmStorage
import RealmTestSupport
import Testing

/// Every step of beginning, committing, rolling back and moving is made to fail, one after the other.
///
/// After each failure everything is what it was.
///
/// Most members join their group, and most transactions are rolled back, without a step: all that they touch is in memory. So some
/// members leave an index to be brought up to date at the end, and some have written part of what is rolled back to the file already.
///
/// See ``FailingStepCampaign`` for how long it runs; a few seeds are enough to meet every kind of step.
@Suite("Steps that fail", .timeLimit(.minutes(60)))
struct FailingStepTests {
    @Test("A failure at any step of moving, beginning, committing and rolling back leaves the old state whole")
    func everyStep() throws {
        var places: [String: Int] = [:]
        var parkCount = 0
        var comparisons = 0
        var steps: [String: Int] = [:]
        var violations = 0
        let seeds = FailingStepCampaign.seeds
        let rounds = FailingStepCampaign.rounds(unlessSaid: 4)
        for seed in seeds {
            let run = try FailingStepRun(seed: seed)
            do { try run.go(rounds: rounds) } catch {
                Issue.record("seed \(seed): \(error)")
                violations += 1
            }
            violations += run.violations
            places.merge(run.places) { $0 + $1 }
            steps.merge(run.steps) { $0 + $1 }
            parkCount += run.parkCount
            comparisons += run.comparisons
            if violations > 0 { break }
        }
        FailingStepCampaign.report(
            """
            model views: seeds \(seeds.lowerBound) to \(seeds.upperBound - 1), \(rounds) rounds each
              injected failures: \(places.values.reduce(0, +)), by action: \(FailingStepCampaign.summary(of: places))
              by step: \(FailingStepCampaign.summary(of: steps))
              states compared (rows, indexes, links, version, pins): \(comparisons); transactions set aside: \(parkCount); \
            violations: \(violations)
            """
        )
        for action in ["advance", "begin", "commit", "join", "rollback", "seal"] {
            #expect(places[action, default: 0] > 0, "no step of \(action) failed")
        }
        #expect(parkCount > 0, "no transaction was set aside")
    }
}

/// One database, two views, and random operations between the failures.
private final class FailingStepRun {
    let failures = StepFailures()
    let first: TestDatabase
    let second: TestDatabase
    let seed: UInt64
    var random: SplitMix64
    /// What is durable.
    var reference = ReferenceDatabase(RandomOperationsTests.classes)
    /// What the first view sees.
    var seen: ReferenceDatabase
    /// How often a step of an action failed.
    var places: [String: Int] = [:]
    /// How often a step of a kind failed.
    var steps: [String: Int] = [:]
    /// How often a transaction was set aside and taken up again.
    var parkCount = 0
    var comparisons = 0
    /// How often something was not what it had to be; what is thrown is not counted here.
    var violations = 0

    var file: StorageFile { first.file }

    init(seed: UInt64) throws {
        self.seed = seed
        random = SplitMix64(seed: seed)
        first = try TestDatabase(RandomOperationsTests.classes, failures: failures)
        second = try TestDatabase(sharing: first)
        seen = reference
    }

    func go(rounds: Int) throws {
        for round in 0..<rounds {
            if random.chance(70) { try write(second, operations: 20) }
            try advance("round \(round)")
            if random.chance(50) { try write(second, operations: 10) }
            try file.lockForWriting()
            defer { file.unlockForWriting() }
            if random.chance(30) { file.forgetWriterState() }
            try begin("round \(round)")
            try commit("round \(round)")
            try members("round \(round)")
            try rollBack("round \(round)", joining: false)
            try rollBack("round \(round)", joining: true)
            try rollBack("round \(round)", joining: true, isLarge: true)
            try advance("the end of round \(round)")
            try FileVerifier.verify(first.model.snapshot)
        }
    }

    // MARK: Actions

    private func advance(_ when: String) throws {
        let version = first.model.snapshot.version
        try everyFailure("advance", when) {
            try first.model.advance(to: file.beginRead())
        } after: { when in
            expect(first.model.snapshot.version == version, when)
        } done: {
            seen = reference
            try compare(seen, first.model, "after moving in \(when)")
        }
    }

    private func begin(_ when: String) throws {
        try everyFailure("begin", when) {
            try first.model.begin(file.beginWrite())
        } after: { when in
            expect(!first.model.isInTransaction, when)
        } done: {
            try compare(reference, first.model, "inside \(when)")
            first.model.rollback()
            try compare(seen, first.model, "after \(when)")
        }
    }

    /// Commits the same operations again and again until nothing fails.
    private func commit(_ when: String) throws {
        let start = random
        var next = reference
        func prepare() throws {
            try first.model.begin(file.beginWrite())
            next = try operate(first, on: reference, from: start, count: 12)
            try park(first, next, when)
        }
        try everyFailure("commit", when, prepare: prepare) {
            let prepared = try first.model.prepareCommit()
            try first.model.endTransaction()
            try file.publish([prepared])
        } after: { when in
            first.model.rollback()
        } done: {
            reference = next
            try compare(seen, first.model, "after committing in \(when)")
            try first.model.advance(to: file.beginRead())
            seen = reference
            try compare(seen, first.model, "after committing in \(when)")
        }
    }

    /// Leaves members unsealed, and seals them.
    private func members(_ when: String) throws {
        let durable = reference
        for member in 0..<3 {
            let database = member == 1 ? first : second
            let start = random
            var next = reference
            func prepare() throws {
                try database.model.begin(file.beginWrite(joining: true))
                next = try operate(database, on: reference, from: start, count: 15)
            }
            func prepareLagging() throws {
                try database.model.begin(file.beginWrite(joining: true))
                next = reference
                try leaveIndexBehind(database, &next)
            }
            for begin in [prepare, prepareLagging] {
                try everyFailure("join", when, prepare: begin) {
                    try database.model.join()
                } after: { _ in
                    database.model.rollback()
                } done: {
                    reference = next
                }
            }
        }
        // A failure loses the group, with all its members.
        var isSealed = false
        try everyFailure("seal", when, repeats: false) {
            if let prepared = try file.sealGroup() {
                try file.publish([prepared])
                isSealed = true
            }
        } after: { _ in
        }
        try compare(seen, first.model, "after sealing in \(when)")
        try first.model.advance(to: file.beginRead())
        try second.model.advance(to: file.beginRead())
        if !isSealed { reference = durable }
        seen = reference
        try compare(reference, first.model, "after sealing in \(when)")
        try compare(reference, second.model, "after sealing in \(when)")
    }

    /// Sets the transaction aside and takes it up again.
    private func park(_ database: TestDatabase, _ inside: ReferenceDatabase, _ when: String) throws {
        try database.model.suspend()
        try compare(seen, database.model, "while set aside in \(when)")
        try database.model.resume()
        try compare(inside, database.model, "taken up again in \(when)")
        parkCount += 1
    }

    /// Rolls a transaction back, alone or behind another member.
    ///
    /// - Parameters:
    ///   - when: When it is.
    ///   - joining: Whether another member comes before the one that is rolled back.
    ///   - isLarge: Whether that one writes more than it may keep in memory: only then the rollback has something to read.
    /// - Throws: What a step threw that is not to fail.
    private func rollBack(_ when: String, joining: Bool, isLarge: Bool = false) throws {
        var joined = reference
        let seal = { [self] in
            // A rollback that fails loses the members before it, too.
            guard joining, let prepared = try file.sealGroup() else { return }
            try file.publish([prepared])
            reference = joined
        }
        let prepare = { [self] in
            joined = reference
            if joining {
                try second.model.begin(file.beginWrite(joining: true))
                joined = try operate(second, on: reference, from: random, count: 5)
                try leaveIndexBehind(second, &joined)
                try second.model.join()
            }
            let transaction = try file.beginWrite(joining: joining)
            if isLarge {
                transaction.openByteLimit = 1 << 10
                transaction.unspilledPageLimit = 16
            }
            try first.model.begin(transaction)
            if isLarge {
                try fill(first)
            } else {
                _ = try operate(first, on: joined, from: random, count: 10)
            }
            if !joining, random.chance(50) { try first.model.suspend() }
        }
        try everyFailure("rollback", when, prepare: prepare) {
            first.model.rollback()
        } after: { _ in
            try seal()
        }
        try seal()
        try compare(seen, first.model, "after rolling back in \(when)")
        try first.model.advance(to: file.beginRead())
        try second.model.advance(to: file.beginRead())
        seen = reference
        try compare(seen, first.model, "after rolling back in \(when)")
    }

    // MARK: Pieces

    /// Notes a violation where something is not so.
    private func expect(_ isSo: Bool, _ when: String, sourceLocation: SourceLocation = #_sourceLocation) {
        if isSo { return }
        violations += 1
        Issue.record("\(when)", sourceLocation: sourceLocation)
    }

    /// Changes an indexed value and looks at nothing: the index is brought up to date when the transaction ends.
    private func leaveIndexBehind(_ database: TestDatabase, _ reference: inout ReferenceDatabase) throws {
        let persons = reference.table(named: "Person")
        let table = try database.table("Person")
        let ordinal = table.ordinal("age")
        guard let key = reference.tables[persons].keys.min(), let row = reference.tables[persons][key],
            case .single(.int(let age)) = row[ordinal]
        else { return }
        try table.set("age", key, .int(age &+ 1))
        reference.tables[persons][key]?[ordinal] = .single(.int(age &+ 1))
    }

    /// Inserts as many rows as fill some clusters, of which all but the last go to the file early where little may stay in memory.
    private func fill(_ database: TestDatabase) throws {
        let table = try database.table("Person")
        for number in 0..<1_200 as Range<Int64> {
            let key = try table.insert(intPrimaryKey: (1 << 40) + number)
            let photo = [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 1_000)
            try table.set("photo", key, .data(photo))
        }
    }

    /// Runs an action with the first of its steps failing, then with the second, until none does.
    private func everyFailure(
        _ name: String,
        _ when: String,
        repeats: Bool = true,
        prepare: () throws -> Void = {},
        _ act: () throws -> Void,
        after: (String) throws -> Void,
        done: () throws -> Void = {}
    ) throws {
        for number in 0... {
            let when = "failure \(number) of \(name) in \(when) of seed \(seed)"
            do { try prepare() } catch {
                Issue.record("before \(when): \(error)")
                throw error
            }
            file.doubtEveryPage()
            let pins = file.pinnedVersionCount
            failures.arm(after: repeats ? number : random.below(20))
            var thrown: (any Error)?
            do { try act() } catch { thrown = error }
            let outcome = failures.outcome
            failures.arm(after: nil)
            guard let failed = outcome.failed else {
                if let thrown { throw thrown }
                return try done()
            }
            steps["\(failed)", default: 0] += 1
            places[name, default: 0] += 1
            if thrown == nil, name != "rollback" {
                // Some failures only cost something, and the action goes on.
                try done()
                continue
            }
            try after(when)
            expect(file.pinnedVersionCount == pins, when)
            try compare(seen, first.model, when)
            if !repeats { return }
        }
    }

    /// Does random operations inside the open transaction.
    private func operate(
        _ database: TestDatabase,
        on base: ReferenceDatabase,
        from start: SplitMix64,
        count: Int
    ) throws -> ReferenceDatabase {
        var runner = OperationRunner(database: database, reference: base, random: start)
        for _ in 0..<count { try runner.runOne() }
        random = runner.random
        try compare(runner.reference, database.model, "inside seed \(seed)")
        return runner.reference
    }

    private func write(_ database: TestDatabase, operations: Int) throws {
        try database.model.advance(to: file.beginRead())
        var next = reference
        try database.write { _ in next = try operate(database, on: reference, from: random, count: operations) }
        reference = next
    }

    private func compare(_ reference: ReferenceDatabase, _ model: ModelView, _ when: String) throws {
        comparisons += 1
        try OperationRunner.compare(reference, model, when)
    }
}
