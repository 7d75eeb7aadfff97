import Foundation
import RealmModel
import RealmTestSupport
import Synchronization
import Testing

@testable import ActorRealm
@testable import RealmStorage

/// Indexes and rules that go with a commit whose process does not get on: it was stopped, or its device is slow.
@Suite("Rules whose withdrawal does not get on", .timeLimit(.minutes(60)))
struct StoppedWithdrawalTests {
    let directory = TemporaryDirectory()

    private var path: String { directory.path("ruled.realm") }

    private func configuration(_ type: ObjectBase.Type) -> Realm.Configuration {
        OutdatedRealmTests.configuration(path, [type], version: 1)
    }

    /// Makes a file with an index and rules; the file stays open, by an opening that relies on none of them and waits for no withdrawal.
    private func create(adjusting adjust: (inout Realm.Configuration) -> Void = { _ in }) throws -> RealmCoordinator {
        var strict = configuration(WithdrawnRuleTests.Strict.self)
        var beside = configuration(WithdrawnRuleTests.Beside.self)
        adjust(&strict)
        adjust(&beside)
        try withNewRealm(strict) { realm in
            try realm.write {
                _ = realm.create(WithdrawnRuleTests.Strict.self, value: ["id": 1, "n": 7, "text": "one"])
            }
            realm.close()
        }
        let coordinator = try Realm.prepare(beside)
        let lock = try #require(coordinator.file.lock)
        lock.withdrawalNanoseconds = 0
        return coordinator
    }

    /// The withdrawal of another process, as far as the openings are concerned: it has looked at what is declared, and not committed.
    private struct Withdrawal {
        private let file: StorageFile
        private let mark: RuleWithdrawal?

        init(of file: StorageFile) throws {
            try file.lockForWriting()
            self.file = file
            mark = file.beginWithdrawingRules()
        }

        /// Drops what the class does not declare.
        func commit(_ declared: DatabaseSchema) throws {
            let transaction = try file.beginWrite()
            let stored = try SchemaReconciler.storedSchema(of: transaction)
            let plan = try SchemaReconciler.plan(stored: stored, declared: declared)
            try SchemaReconciler.apply(plan, in: transaction)
            try file.publish([transaction.prepareCommit()])
            end()
        }

        func end() {
            file.endWithdrawingRules(mark)
            file.unlockForWriting()
        }
    }

    /// Opens the file on a thread of its own while others withdraw rules, and has them end that when the opening waits for the write lock.
    private func open(
        _ configuration: Realm.Configuration,
        beside coordinator: RealmCoordinator,
        until end: () throws -> Void
    ) throws -> [String] {
        let isOver = Atomic(false)
        let ended = DispatchSemaphore(value: 0)
        let errors = Journal<String>()
        Thread.detachNewThread {
            do { _ = try Realm.prepare(configuration) } catch { errors.add("\(error)") }
            isOver.store(true, ordering: .sequentiallyConsistent)
            ended.signal()
        }
        // It waits for the write lock, or has found in the file what is about to go.
        while coordinator.writes.waitingCount == 0, !isOver.load(ordering: .sequentiallyConsistent) { usleep(100) }
        try end()
        ended.wait()
        return errors.entries
    }

    private func stored(_ coordinator: RealmCoordinator) throws -> ClassSchema {
        try #require(try SchemaReconciler.storedSchema(of: coordinator.file.beginRead())?["Ruled"])
    }

    @Test("An opening that declares them is not over before it is known what has gone, and makes that again")
    func opening() throws {
        let coordinator = try create()
        let strict = configuration(WithdrawnRuleTests.Strict.self)
        let plain = try DeclaredSchema.make(for: configuration(Rules.Plain.self))
        let withdrawal = try Withdrawal(of: coordinator.file)
        let errors = try open(strict, beside: coordinator) { try withdrawal.commit(plain) }
        #expect(errors.isEmpty)
        let stored = try stored(coordinator)
        #expect(stored["text"]?.isUnique == true && stored["n"]?.isIndexed == true)
        #expect(stored.compoundIndexes.first?.isUnique == true)
        let snapshot = try coordinator.file.beginRead()
        try FileVerifier.verify(snapshot)
    }

    @Test("Such an opening throws where it may not wait so long, and finds them when nothing has gone")
    func timeout() throws {
        let coordinator = try create()
        var strict = configuration(WithdrawnRuleTests.Strict.self)
        strict.writeTimeout = .milliseconds(10)
        let withdrawal = try Withdrawal(of: coordinator.file)
        #expect {
            _ = try Realm.prepare(strict)
        } throws: {
            guard let error = $0 as? Realm.Error else { return false }
            return error.code == .timedOut && error.message.contains("indexes and rules another opening is changing")
        }
        withdrawal.end()
        strict.writeTimeout = nil
        let version = coordinator.file.newestVersion
        _ = try Realm.prepare(strict)
        #expect(coordinator.file.newestVersion == version)
        let stored = try stored(coordinator)
        #expect(stored["text"]?.isUnique == true && stored["n"]?.isIndexed == true)
    }

    @Test("What nobody declares goes behind such a wait, where it can, and fails no opening", arguments: [true, false])
    func nobodysRules(fails: Bool) throws {
        let isFull = FullDevice.Switch()
        let coordinator = try create { $0.makeDevice = { FullDevice($0, isFull) } }
        let version = coordinator.file.newestVersion
        let withdrawal = try Withdrawal(of: coordinator.file)
        isFull.isOn = fails
        let errors = try open(configuration(Rules.Indexed.self), beside: coordinator) { withdrawal.end() }
        isFull.isOn = false
        #expect(errors.isEmpty)
        #expect((isFull.refused > 0) == fails, "it was not tried, or not refused")
        #expect((coordinator.file.newestVersion == version) == fails)
        let stored = try stored(coordinator)
        #expect(stored["n"]?.isIndexed == true)
        #expect(stored["text"]?.isUnique == fails && stored.compoundIndexes.isEmpty != fails)
    }

    @Test("Who declares rules waits for the commit behind the last look, and not for what takes its time before that")
    func lastLook() throws {
        let coordinator = try create()
        let lock = try #require(coordinator.file.lock)
        let looks = Journal<Bool>()
        coordinator.didLookForRules = { looks.add(lock.isWithdrawing) }
        defer { coordinator.didLookForRules = nil }
        try withNewRealm(configuration(Rules.Plain.self)) { _ in }
        #expect(looks.entries == [false, true])
        #expect(!lock.isWithdrawing)
        let stored = try stored(coordinator)
        #expect(stored["text"]?.isUnique == false && stored["n"]?.isIndexed == false)
    }
}
