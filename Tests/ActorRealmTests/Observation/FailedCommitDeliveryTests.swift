import RealmStorage
import RealmTestSupport
import Testing

@testable import ActorRealm

/// What others have committed is not delivered while a transaction is open, whose commit may fail.
@Suite("Deliveries that waited for a commit which fails", .timeLimit(.minutes(60)))
struct FailedCommitDeliveryTests {
    private let file = ObservedFile()

    enum Form: String, CaseIterable { case commitWrite, asyncTransaction, commitAsyncWrite }

    /// Opens a transaction, lets what is to be delivered come to it, and has its commit fail; gives the failure.
    private static func fail(
        _ form: Form,
        _ realm: Realm,
        _ isFull: FullDevice.Switch,
        _ isolation: isolated any Actor = #isolation
    ) async -> (any Error)? {
        do {
            var transaction: Realm.AsyncTransaction?
            if form == .asyncTransaction {
                transaction = try await realm.beginAsyncWrite()
            } else {
                try realm.beginWriteTransaction()
            }
            realm.create(Chore.self, value: ["id": 2, "name": "lost"])
            // It follows the file again, which it cannot do before the transaction ends.
            realm.autorefresh = true
            await realm.passTurns()
            isFull.isOn = true
            defer { isFull.isOn = false }
            switch form {
            case .commitWrite: try realm.commitWrite()
            case .asyncTransaction: try await transaction?.commit()
            case .commitAsyncWrite:
                return await withCheckedContinuation { continuation in
                    realm.commitAsyncWrite { continuation.resume(returning: $0) }
                }
            }
            return nil
        } catch {
            return error
        }
    }

    @Test("are made when it has failed", arguments: Form.allCases)
    func told(form: Form) async throws {
        let isFull = FullDevice.Switch()
        var configuration = file.configuration
        configuration.makeDevice = { FullDevice($0, isFull) }
        let worker = try await Worker(configuration)
        let journal = Journal<Told>()
        let token = await worker.with { _, realm in realm.objects(Chore.self).observe { journal.add($0.told) } }
        #expect(await journal.wait(for: 1) == [.initial([])])
        try await worker.with { [configuration] worker, realm in
            // So that the change is refused, however soon it comes.
            realm.autorefresh = false
            try withNewRealm(configuration) { other in
                try other.write { _ = other.create(Chore.self, value: ["id": 1, "name": "one"]) }
            }
            await realm.passTurns()
            let failure = await Self.fail(form, realm, isFull, worker)
            #expect(failure is Realm.Error, "\(String(describing: failure))")
            #expect(isFull.refused > 0)
            // Nobody commits or refreshes any more: where the realm has not moved, nothing is told.
            try #require(realm.objects(Chore.self).map(\.name) == ["one"])
        }
        let told = await journal.wait(for: 2)
        #expect(told.last == .update(["one"], deletions: [], insertions: [0], modifications: []))
        token.invalidate()
    }
}
