import ActorRealm
import Foundation
import RealmTestSupport

/// The model of the documentation's pages.
class Todo: Object {
    @Persisted(primaryKey: true) var _id: ObjectId
    @Persisted var name: String
    @Persisted var owner: String
    @Persisted var status: String
}

/// A counter, for tests that write much.
class Tally: Object {
    @Persisted(primaryKey: true) var name: String
    @Persisted var count: Int

    convenience init(name: String) {
        self.init()
        self.name = name
    }
}

/// Opens a realm for one synchronous call, apart from the one that the caller's own place may have: on a queue of its own.
@discardableResult
func withNewRealm<Result>(_ configuration: Realm.Configuration, _ body: (Realm) throws -> Result) throws -> Result {
    let queue = DispatchQueue(label: "new realm")
    return try queue.sync { try body(Realm(configuration: configuration, queue: queue)) }
}

/// Opens a realm as synchronous code does.
@MainActor
func openBlocking(_ configuration: Realm.Configuration) throws -> Realm { try Realm(configuration: configuration) }

/// A realm file of one test.
struct TestFile: Sendable {
    let directory = TemporaryDirectory()

    /// A configuration of the file with the models above.
    var configuration: Realm.Configuration {
        var configuration = Realm.Configuration(fileURL: URL(fileURLWithPath: directory.path("test.realm")))
        configuration.objectTypes = [Todo.self, Tally.self]
        return configuration
    }

    /// A configuration that does not wait for the device.
    var fast: Realm.Configuration {
        var configuration = configuration
        configuration.durability = .unflushed
        return configuration
    }
}
