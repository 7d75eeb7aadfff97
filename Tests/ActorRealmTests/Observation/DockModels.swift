import ActorRealm
import Foundation
import RealmTestSupport

class Dock: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var name = ""
    @Persisted var place: DockPlace?
    @Persisted var places: List<DockPlace>
    @Persisted var boats: List<Boat>
    @Persisted var berths: Map<String, Boat?>
    @Persisted var marks: MutableSet<String>
    @Persisted var anything: AnyRealmValue
}

class Boat: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var name = ""
    @Persisted var tons = 0
    @Persisted var home: Dock?
    @Persisted(originProperty: "boats") var docks: LinkingObjects<Dock>
}

class DockPlace: EmbeddedObject {
    @Persisted var street = ""
    @Persisted var number = 0
}

/// A file with a dock and three boats, of its own per test.
struct DockFile {
    private let directory = TemporaryDirectory()

    var configuration: Realm.Configuration {
        Realm.Configuration(
            fileURL: URL(fileURLWithPath: directory.path("docks.realm")),
            objectTypes: [Dock.self, Boat.self, DockPlace.self]
        )
    }

    func worker(_ other: Realm.Configuration? = nil) async throws -> Worker {
        let worker = try await Worker(other ?? configuration)
        try await worker.with { _, realm in
            try await realm.asyncWrite {
                let dock = realm.create(Dock.self, value: ["id": 1, "name": "east"])
                dock.place = DockPlace()
                for id in 1...3 {
                    let boat = realm.create(Boat.self, value: ["id": id, "name": "b\(id)", "tons": id * 10])
                    boat.home = dock
                    dock.boats.append(boat)
                }
                dock.berths["a"] = dock.boats[0]
            }
        }
        return worker
    }

    static func dock(_ realm: Realm) -> Dock { realm.object(ofType: Dock.self, forPrimaryKey: 1)! }

    /// What an object's observer was told.
    static func text<T: ObjectBase>(_ change: ObjectChange<T>) -> String {
        switch change {
        case .error: "error"
        case .deleted: "deleted"
        case .change(_, let properties):
            properties.map {
                "\($0.name): \($0.oldValue.map { "\($0)" } ?? "-") -> \($0.newValue.map { "\($0)" } ?? "-")"
            }
            .joined(separator: ", ")
        }
    }

    static func names<T>(_ change: ObjectChange<T>) -> [String] {
        if case .change(_, let properties) = change { properties.map(\.name) } else { [] }
    }
}
