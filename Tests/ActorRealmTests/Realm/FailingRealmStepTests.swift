import Foundation
import RealmStorage
import RealmTestSupport
import Testing

@testable import ActorRealm

/// Every step of opening, writing in all ways, refreshing, closing and compacting a realm is made to fail, one after the other.
///
/// After each failure the content, the pins, the queue of writers and what observers show are what they were; see
/// ``FailingStepCampaign`` for how long it runs.
@Suite("Steps that fail under a realm", .timeLimit(.minutes(60)))
struct FailingRealmStepTests {
    @Test(
        "Rule 22: a failure at any step leaves content, pins, queue and observers whole, with a log and without one",
        arguments: [false, true]
    )
    func everyStep(keepsLog: Bool) async throws {
        var failed = FailedSteps()
        let rounds = FailingStepCampaign.rounds(unlessSaid: 1)
        let seeds = FailingStepCampaign.seeds
        for seed in seeds {
            let subject = try await FailingRealmSubject(seed: seed, keepsLog: keepsLog)
            do { try await subject.go(rounds: rounds) } catch {
                Issue.record("seed \(seed): \(error)")
                failed.violations += 1
            }
            failed.add(await subject.failed)
            if failed.violations > 0 { break }
        }
        FailingStepCampaign.report(
            """
            realms\(keepsLog ? " with a log" : ""): seeds \(seeds.lowerBound) to \(seeds.upperBound - 1), \(rounds) rounds each
            \(failed.summary(compared: "content, pins, queue, transaction, observer"))
            """
        )
        let actions =
            FailingRealmSubject.Way.allCases.map(\.rawValue) + FailingRealmSubject.Move.allCases.map(\.rawValue)
            + FailingRealmSubject.Closing.allCases.map(\.rawValue)
        for action in actions + ["open", "group"] {
            #expect(failed.contains(action), "no step of \(action) failed")
        }
    }
}

/// A realm on an actor, beside two others, and what it has to hold.
private actor FailingRealmSubject {
    /// The ways to write.
    enum Way: String, CaseIterable {
        case write, asyncWrite, twoSteps, callback, givingUp, cancelled
        /// Inserts an object, and goes on when that throws.
        case swallowing
    }

    /// The ways to come to a commit of another writer.
    enum Move: String, CaseIterable {
        case refresh, asyncRefresh
        /// Beside an observer, which stands on the version already.
        case refreshObserved
        /// `invalidate()`, and the next use.
        case anew
    }

    /// The ways to close.
    enum Closing: String, CaseIterable {
        case close
        /// Nothing refers to the realm any more.
        case release
        /// With a transaction open, which is rolled back.
        case closeInTransaction
        /// Before asynchronous writes are done.
        case closeBehindWrite
        /// Closed, and compacted while it is still held.
        case compact
    }

    struct GivingUp: Error {}

    private let file = RealmFileInUse()
    private let failures = StepFailures()
    private let seed: UInt64
    private var random: SplitMix64
    private var configuration: Realm.Configuration
    private var realm: Realm!
    private var token: NotificationToken?
    /// What is durable.
    private var expected: [String: Int] = [:]
    /// What the observer was told.
    private var shown: [(name: String, count: Int)] = []
    private var observerFailed = false
    /// Whether the block of a write did what it was to do.
    private var isInserted = true
    private(set) var failed = FailedSteps()

    init(seed: UInt64, keepsLog: Bool) async throws {
        self.seed = seed
        random = SplitMix64(seed: seed)
        configuration = file.configuration
        configuration.failures = failures
        if keepsLog { configuration.keepLog(behind: 3) } else { configuration.keepsLog = false }
        try await open()
    }

    func go(rounds: Int) async throws {
        for round in 0..<rounds {
            for way in Way.allCases.shuffled(using: &random) { try await everyFailure(of: way, "round \(round)") }
            try await everyFailureOfGroup("round \(round)")
            for move in Move.allCases { try await everyFailure(of: move, "round \(round)") }
            for closing in Closing.allCases { try await everyFailure(of: closing, "round \(round)") }
            try await everyFailureOfOpening("round \(round)")
            try realm.verify()
        }
        close()
    }

    // MARK: Actions

    private func everyFailure(of way: Way, _ when: String) async throws {
        for number in 0... {
            let when = "failure \(number) of \(way.rawValue) in \(when) of seed \(seed)"
            var next = expected
            isInserted = true
            let name = "object \(random.next() % 30)"
            let count = Int(random.next() % 1_000)
            let removes = random.next() % 4 == 0
            if removes { next[name] = nil } else { next[name] = count }
            // It must not keep a realm open that is closed meanwhile.
            let block = { [unowned self] in
                let realm: Realm = realm
                if removes {
                    if let object = realm.object(ofType: Tally.self, forPrimaryKey: name) { realm.delete(object) }
                } else {
                    realm.create(Tally.self, value: ["name": name, "count": count] as [String: Any], update: .modified)
                }
            }
            failures.arm(after: number)
            var thrown: (any Error)?
            if way == .swallowing { next = expected.merging(["swallowed \(number)": count]) { $1 } }
            do { try await perform(way, number, count, block) } catch { thrown = error }
            let outcome = disarm(way.rawValue, number)
            if thrown == nil, isInserted { expected = next }
            if way == .givingUp || way == .cancelled, outcome == nil { expect(thrown is GivingUp, when) }
            try await check(when)
            if outcome == nil {
                if let thrown, !(thrown is GivingUp) { throw thrown }
                return
            }
        }
    }

    private func perform(_ way: Way, _ number: Int, _ count: Int, _ block: @escaping () -> Void) async throws {
        switch way {
        case .swallowing:
            try realm.write {
                let tally = Tally(name: "swallowed \(number)")
                tally.count = count
                do { try realm.insert(tally) } catch { isInserted = false }
            }
        case .write: try realm.write(block)
        case .asyncWrite: try await realm.asyncWrite(block)
        case .twoSteps:
            let transaction = try await realm.beginAsyncWrite()
            block()
            await Task.yield()
            try await transaction.commit()
        case .callback:
            let failure: (any Error)? = await withCheckedContinuation { continuation in
                realm.writeAsync(block) { continuation.resume(returning: $0) }
            }
            if let failure { throw failure }
        case .givingUp:
            try await realm.asyncWrite {
                block()
                throw GivingUp()
            }
        case .cancelled:
            try realm.beginWriteTransaction()
            block()
            realm.cancelWrite()
            throw GivingUp()
        }
    }

    /// Three writers at once, whose commits may be sealed together.
    private func everyFailureOfGroup(_ when: String) async throws {
        for number in 0..<60 {
            let when = "failure \(number) of a group in \(when) of seed \(seed)"
            let others = [try await FailingRealmWriter(configuration), try await FailingRealmWriter(configuration)]
            failures.arm(after: number)
            let isDone = await withTaskGroup(of: (String, Bool).self) { group in
                for (index, other) in others.enumerated() {
                    for task in 0..<3 {
                        let name = "\(number % 3) of \(index) \(task)"
                        group.addTask { (name, (try? await other.write(name, number)) != nil) }
                    }
                }
                return await group.reduce(into: [String: Bool]()) { $0[$1.0] = $1.1 }
            }
            let outcome = disarm("group", number)
            for (name, isDone) in isDone where isDone { expected[name] = number }
            for other in others { await other.close() }
            try await check(when)
            if outcome == nil { return }
        }
    }

    /// The realm stands where it stood, or behind the commit of another writer, and comes there the next time.
    private func everyFailure(of move: Move, _ when: String) async throws {
        for number in 0... {
            let when = "failure \(number) of \(move.rawValue) in \(when) of seed \(seed)"
            realm.autorefresh = false
            let before = content
            let other = try await FailingRealmWriter(configuration)
            try await other.write("moved to", number)
            await other.close()
            try #require(content == before, "\(when)")
            expected["moved to"] = number
            if move != .refreshObserved { endObserving() }
            realm.core.coordinator.file.doubtEveryPage()
            failures.arm(after: number)
            var isMoved = true
            switch move {
            case .refresh, .refreshObserved: isMoved = realm.refresh()
            case .asyncRefresh: isMoved = await realm.asyncRefresh()
            case .anew:
                realm.invalidate()
                _ = realm.isInWriteTransaction
            }
            let outcome = disarm(move.rawValue, number)
            if realm.isClosed {
                try #require(move == .anew && outcome != nil, "\(when)")
                try await reopen(after: when)
            } else {
                try #require(content == (isMoved ? expected : before), "\(when)")
                if token == nil { await observe() }
            }
            realm.autorefresh = true
            try await check(when)
            if outcome == nil {
                expect(isMoved, when)
                return
            }
        }
    }

    private func everyFailureOfOpening(_ when: String) async throws {
        for number in 0... {
            let when = "failure \(number) of opening in \(when) of seed \(seed)"
            close()
            try await file.isLeft("before \(when)")
            failures.arm(after: number)
            var thrown: (any Error)?
            do { try await open() } catch { thrown = error }
            let outcome = disarm("open", number)
            if let thrown {
                if outcome == nil { throw thrown }
                try await file.isLeft("by \(when)")
                try await open()
            }
            try await check(when)
            if outcome == nil { return }
        }
    }

    private func everyFailure(of closing: Closing, _ when: String) async throws {
        for number in 0... {
            let when = "failure \(number) of \(closing.rawValue) in \(when) of seed \(seed)"
            let value: [String: Any] = ["name": "closing", "count": number]
            try await realm.asyncWrite { realm.create(Tally.self, value: value, update: .modified) }
            expected["closing"] = number
            let outcome = try await perform(closing, number)
            try await file.isLeft("by \(when)")
            try await open()
            try await check(when)
            if outcome == nil { return }
        }
    }

    private func perform(_ closing: Closing, _ number: Int) async throws -> StepFailures.Step? {
        failures.arm(after: number)
        switch closing {
        case .close: close()
        case .release:
            endObserving()
            realm = nil
        case .closeInTransaction:
            // A transaction that cannot begin ends the process.
            failures.arm(after: nil)
            realm.beginWrite()
            realm.create(Tally.self, value: ["name": "rolled back"])
            failures.arm(after: number)
            close()
        case .closeBehindWrite:
            let failure: (any Error)? = await withCheckedContinuation { done in
                let writing: Realm = realm
                writing.writeAsync {
                    writing.create(Tally.self, value: ["name": "closing", "count": -number - 1], update: .modified)
                } onComplete: {
                    done.resume(returning: $0)
                }
                close()
            }
            if failure == nil { expected["closing"] = -number - 1 }
        case .compact:
            let held: Realm = realm
            close()
            var thrown: (any Error)?
            do { try Realm.compact(configuration) } catch { thrown = error }
            let outcome = disarm(closing.rawValue, number)
            if let thrown, outcome == nil { throw thrown }
            expect(!StorageFile.isOpenAnywhere(path: file.path), "failure \(number) of compacting")
            expect(held.isClosed, "failure \(number) of compacting")
            return outcome
        }
        // What a thread does when it lets go of the file last may fail as well.
        try await file.isLeft("by \(closing.rawValue)")
        return disarm(closing.rawValue, number)
    }

    // MARK: Pieces

    /// Notes a violation where something is not so.
    private func expect(_ isSo: Bool, _ when: String, sourceLocation: SourceLocation = #_sourceLocation) {
        if isSo { return }
        failed.violations += 1
        Issue.record("\(when)", sourceLocation: sourceLocation)
    }

    private var content: [String: Int] {
        Dictionary(uniqueKeysWithValues: realm.objects(Tally.self).map { ($0.name, $0.count) })
    }

    private func open() async throws {
        realm = try await Realm(configuration: configuration, actor: self)
        await observe()
    }

    private func observe() async {
        observerFailed = false
        token?.invalidate()
        let tallies = realm.objects(Tally.self).sorted(byKeyPath: "name")
        token = await tallies.observe(on: self) { subject, change in subject.note(change) }
    }

    private func close() {
        endObserving()
        realm?.close()
        realm = nil
    }

    private func endObserving() {
        token?.invalidate()
        token = nil
    }

    private func reopen(after when: String) async throws {
        close()
        try await file.isLeft("after \(when)")
        try await open()
    }

    private func note(_ change: RealmCollectionChange<Results<Tally>>) {
        switch change {
        case .initial(let tallies): shown = tallies.map { ($0.name, $0.count) }
        case .update(let tallies, let deletions, let insertions, let modifications):
            for index in modifications { shown[index].count = -1 }
            for index in deletions.reversed() { shown.remove(at: index) }
            for index in insertions { shown.insert((tallies[index].name, tallies[index].count), at: index) }
            for index in shown.indices where shown[index].count == -1 { shown[index].count = tallies[index].count }
        case .error: observerFailed = true
        }
    }

    /// Ends the failures; returns the kind of the step that failed.
    private func disarm(_ action: String, _ number: Int) -> StepFailures.Step? {
        let outcome = failures.outcome
        failures.arm(after: nil)
        guard let step = outcome.failed else { return nil }
        failed.add("\(step)", number: number, of: action)
        return step
    }

    /// Compares everything to what it has to be.
    private func check(_ when: String) async throws {
        failed.comparisons += 1
        try await file.until("nobody has a turn after \(when)") { realm.core.coordinator.writes.isAtRest }
        expect(!realm.isInWriteTransaction && realm.core.ticket == nil, when)
        if realm.core.coordinator.file.hasStopped {
            // A flush has failed: what was durable is there when the file was opened anew.
            try await reopen(after: when)
        }
        await realm.asyncRefresh()
        try #require(content == expected, "\(when)")
        // What an observer is told of a failure ends it.
        repeat {
            if observerFailed { await observe() }
            try await file.until("the observer shows \(expected) and not \(shown) after \(when)") {
                observerFailed
                    || shown.map(\.name) == expected.keys.sorted()
                        && shown.allSatisfy { expected[$0.name] == $0.count }
            }
        } while observerFailed
        try await file.until("one version is in use after \(when), and not \(realm.activeVersions)") {
            realm.core.coordinator.file.pinnedVersionCount == 1
        }
    }
}

/// Another writer of the same file.
private actor FailingRealmWriter {
    private var realm: Realm!

    init(_ configuration: Realm.Configuration) async throws {
        realm = try await Realm(configuration: configuration, actor: self)
    }

    func write(_ name: String, _ count: Int) async throws {
        try await realm.asyncWrite {
            realm.create(Tally.self, value: ["name": name, "count": count] as [String: Any], update: .modified)
        }
    }

    func close() {
        realm.close()
        realm = nil
    }
}

extension WriteScheduler {
    /// Whether nobody writes, waits or is to be told of anything.
    fileprivate var isAtRest: Bool {
        state.withLock { state in
            state.queue.isIdle && state.waiters.isEmpty && state.early.isEmpty && state.prepared.isEmpty
                && state.joined.isEmpty && state.underWay.isEmpty && state.publishing == nil
                && state.quietWaiters.isEmpty
        }
    }
}
