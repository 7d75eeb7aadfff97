import ActorRealm
import Foundation
import RealmTestSupport

/// The models of the tests in this folder: what a program that was written for RealmSwift may have.
class Harbour: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var name = ""
    @Persisted var isOpen = true
    @Persisted var depth: Float = 1.5
    @Persisted var position: Position?
    @Persisted var history: List<Position>
    @Persisted var marks: Map<String, Position?>
    @Persisted var ships: List<Ship>
    @Persisted var flags: MutableSet<String>
    @Persisted var berths: Map<String, Int>
    @Persisted var numbers: List<Int>

    convenience init(id: Int, name: String = "") {
        self.init()
        self.id = id
        self.name = name
    }
}

class Ship: Object {
    @Persisted var name = ""
    @Persisted var home: Harbour?
    @Persisted var tonnage = 0
    @Persisted(originProperty: "ships") var harbours: LinkingObjects<Harbour>

    convenience init(name: String, tonnage: Int = 0) {
        self.init()
        self.name = name
        self.tonnage = tonnage
    }
}

class LinkingHarbour: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var home: Harbour?
}

class Position: EmbeddedObject {
    @Persisted var latitude = 0.0
    @Persisted var longitude = 0.0
    @Persisted var remark: Remark?

    convenience init(_ latitude: Double, _ longitude: Double) {
        self.init()
        self.latitude = latitude
        self.longitude = longitude
    }
}

class Remark: EmbeddedObject {
    @Persisted var text = ""
}

/// A realm file of one test.
struct PortingFile: Sendable {
    let directory = TemporaryDirectory()

    var configuration: Realm.Configuration {
        var configuration = Realm.Configuration(fileURL: URL(fileURLWithPath: directory.path("port.realm")))
        configuration.objectTypes = [
            Harbour.self, Ship.self, Position.self, Remark.self, Measured.self, LinkingHarbour.self, Log.self,
            Reading.self,
        ]
        configuration.durability = .unflushed
        return configuration
    }

    /// Runs a block in a write transaction of a realm of its own, on a thread of its own.
    func inWrite(_ body: @escaping @Sendable (Realm) throws -> Void) throws {
        let configuration = configuration
        try onNewThread {
            let realm = try Realm(configuration: configuration)
            try realm.write { try body(realm) }
        }
    }
}

/// Runs a block on a thread of its own and waits for it.
func onNewThread<Result>(_ body: @escaping @Sendable () throws -> Result) throws -> Result {
    nonisolated(unsafe) var result: Swift.Result<Result, any Error>?
    let done = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
        result = Swift.Result { try body() }
        done.signal()
    }
    done.wait()
    return try result!.get()
}

/// Runs a block on a global queue and waits for it.
func onGlobalQueue<Result>(_ body: @escaping @Sendable () throws -> Result) throws -> Result {
    nonisolated(unsafe) var result: Swift.Result<Result, any Error>?
    let done = DispatchSemaphore(value: 0)
    DispatchQueue.global()
        .async {
            result = Swift.Result { try body() }
            done.signal()
        }
    done.wait()
    return try result!.get()
}
