import ActorRealm
import Foundation
import RealmTestSupport
import Testing

/// A realm used where it does not belong, for the exit tests below.
private func configuration() -> Realm.Configuration {
    var configuration = Realm.Configuration(
        fileURL: FileManager.default.temporaryDirectory.appendingPathComponent("trap-\(UUID().uuidString).realm")
    )
    configuration.objectTypes = [Tally.self]
    configuration.durability = .unflushed
    return configuration
}

private actor Holder {
    var realm: Realm?

    /// Opens a realm in a synchronous initializer, which has no isolation.
    init(opensIn configuration: Realm.Configuration) throws {
        realm = try Realm(configuration: configuration)
    }

    init() {}

    func open() async throws { realm = try await Realm(configuration: configuration()) }
    func count() -> Int { realm?.objects(Tally.self).count ?? -1 }
    func leak() -> Unchecked<Realm?> { Unchecked(realm) }
    func add() { realm?.add(Tally(name: "x")) }

    /// Has another job write inside this one's transaction.
    func addInForeignTransaction() async throws {
        let transaction = try await realm?.beginAsyncWrite()
        await Task.detached { await self.add() }.value
        transaction?.cancel()
    }
}

private struct Unchecked<Value>: @unchecked Sendable {
    let value: Value
    init(_ value: Value) { self.value = value }
}

@Suite("Misuse that the compiler cannot see traps with a message that names the remedy")
struct RealmTrapTests {
    private func expect(_ result: ExitTest.Result?, says parts: String...) {
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        for part in parts { #expect(text.contains(part), "the message was: \(text.prefix(2_000))") }
    }

    @Test("An actor's realm used from outside the actor")
    func wrongActor() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let holder = Holder()
            try await holder.open()
            let realm = await holder.leak().value
            _ = realm?.objects(Tally.self).count
        }
        expect(result, says: "the actor Holder", "ThreadSafeReference", "object.frozen")
    }

    @Test("A realm opened in an actor's synchronous init and used in a method")
    func synchronousInit() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let holder = try Holder(opensIn: configuration())
            _ = await holder.count()
        }
        expect(result, says: "try await Realm(actor: self)")
    }

    @Test("beginWrite() inside a transaction")
    func nestedBegin() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            func run() throws {
                let realm = try Realm(configuration: configuration())
                realm.beginWrite()
                realm.beginWrite()
            }
            try run()
        }
        expect(result, says: "already in a write transaction")
    }

    @Test("A callback write where nothing can be scheduled")
    func unschedulable() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            func run() throws { try Realm(configuration: configuration()).writeAsync {} }
            try run()
        }
        expect(result, says: "Cannot schedule async transaction")
    }

    @Test("Adding outside a write transaction")
    func addOutsideWrite() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            func run() throws { try Realm(configuration: configuration()).add(Tally(name: "x")) }
            try run()
        }
        expect(result, says: "write transaction", "realm.write")
    }

    @Test("Adding while another task's transaction in two steps is open")
    func addInForeignTransaction() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let holder = Holder()
            try await holder.open()
            try await holder.addInForeignTransaction()
        }
        expect(result, says: "in a write transaction", "realm.asyncWrite")
    }

    @Test("An object and a list of a realm that was invalidated")
    func invalidated() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            func run() throws {
                let realm = try Realm(configuration: configuration())
                let tally = try realm.write { realm.create(Tally.self, value: ["name": "x"]) }
                realm.invalidate()
                _ = tally.name
            }
            try run()
        }
        expect(result, says: "invalidate()", "Fetch it from the realm again")
    }

    @Test("An object from before invalidate(), behind the end of the lost transaction", arguments: [true, false])
    func invalidatedAndEnded(inBlock: Bool) async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            [inBlock = inBlock as Bool] in
            func run() throws {
                let realm = try Realm(configuration: configuration())
                let tally = try realm.write { realm.create(Tally.self, value: ["name": "x"]) }
                if inBlock {
                    try? realm.write {
                        try realm.commitWrite()
                        try realm.beginWriteTransaction()
                        realm.invalidate()
                        realm.add(Tally(name: "lost"))
                    }
                } else {
                    realm.beginWrite()
                    realm.invalidate()
                    realm.cancelWrite()
                }
                try realm.write { tally.count = 5 }
            }
            try run()
        }
        expect(result, says: "invalidate()", "Fetch it from the realm again")
    }

    @Test("Changing a frozen object, and freezing an unmanaged one")
    func frozen() async {
        let changed = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            func run() throws {
                let realm = try Realm(configuration: configuration())
                let tally = try realm.write { realm.create(Tally.self, value: ["name": "x"]) }
                tally.freeze().count = 1
            }
            try run()
        }
        expect(changed, says: "frozen object", "thaw")
        let unmanaged = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = Tally(name: "x").freeze()
        }
        expect(unmanaged, says: "cannot be frozen", "Add them to a realm first")
    }

    @Test("refresh() of a read-only realm, and autorefresh of a frozen one")
    func unrefreshable() async {
        let readOnly = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            func run() throws {
                var configuration = configuration()
                _ = try Realm(configuration: configuration)
                configuration.readOnly = true
                try Realm(configuration: configuration).refresh()
            }
            try run()
        }
        expect(readOnly, says: "Read-only Realms do not change")
        let frozen = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            func run() throws { try Realm(configuration: configuration()).freeze().autorefresh = true }
            try run()
        }
        expect(frozen, says: "Auto-refresh cannot be enabled for frozen Realms")
    }
}
