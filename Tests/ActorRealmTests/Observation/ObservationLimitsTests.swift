import ActorRealm
import Foundation
import Testing

@Suite("What cannot be observed ends the process with a message that says why", .timeLimit(.minutes(60)))
struct ObservationLimitsTests {
    /// What is observed, and how.
    enum Subject: String, CaseIterable, Codable {
        case collection, collectionChanges, list, object, objectChanges, realm

        /// Begins to observe.
        func observe(_ realm: Realm) -> [NotificationToken] {
            let chores = realm.objects(Chore.self)
            let owner = realm.objects(ChoreOwner.self).first!
            switch self {
            case .collection: return [chores.observe { _ in }]
            case .list: return [owner.tasks.observe { _ in }]
            case .object: return [owner.observe { (_: ObjectChange<ChoreOwner>) in }]
            case .realm: return [realm.observe { _, _ in }]
            case .collectionChanges:
                _ = chores.changes().makeAsyncIterator()
                return []
            case .objectChanges:
                _ = owner.changes().makeAsyncIterator()
                return []
            }
        }

        /// Whether it is a sequence, which is iterated anywhere and begins in a transaction, too.
        var isSequence: Bool { self == .collectionChanges || self == .objectChanges }
    }

    private static func fill(_ file: ObservedFile) throws {
        try withNewRealm(file.configuration) { realm in
            try realm.write { _ = realm.create(ChoreOwner.self, value: ["name": "Ann"]) }
        }
    }

    private func check(_ result: ExitTest.Result?, says message: String) {
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains(message), "\(text.prefix(2_000))")
    }

    @Test("a read-only realm", arguments: Subject.allCases)
    func readOnly(subject: Subject) async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { [subject] in
            let file = ObservedFile()
            try Self.fill(file)
            var configuration = file.configuration
            configuration.readOnly = true
            let worker = try await Worker(configuration)
            await worker.with { _, realm in _ = subject.observe(realm) }
        }
        check(result, says: "Read-only Realms do not change")
    }

    @Test("a frozen realm and what it holds", arguments: Subject.allCases)
    func frozen(subject: Subject) async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { [subject] in
            let file = ObservedFile()
            try Self.fill(file)
            let worker = try await Worker(file.configuration)
            await worker.with { _, realm in _ = subject.observe(realm.freeze()) }
        }
        check(result, says: "Frozen Realms do not change")
    }

    @Test("anything inside a write transaction, by a block", arguments: Subject.allCases.filter { !$0.isSequence })
    func inTransaction(subject: Subject) async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { [subject] in
            let file = ObservedFile()
            try Self.fill(file)
            let worker = try await Worker(file.configuration)
            try await worker.with { _, realm in try await realm.asyncWrite { _ = subject.observe(realm) } }
        }
        check(result, says: "Observing cannot begin inside a write transaction")
    }

    @Test(
        "anything of a realm to whose thread nothing can be delivered",
        arguments: Subject.allCases.filter { !$0.isSequence }
    )
    func nowhere(subject: Subject) async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { [subject] in
            let file = ObservedFile()
            try Self.fill(file)
            func open() throws -> Realm { try Realm(configuration: file.configuration) }
            _ = subject.observe(try open())
        }
        check(result, says: "Can only add notification blocks from within")
    }
}
