import ActorRealm
import Foundation

/// The class as the first release had it.
class FormerShip: Object {
    @Persisted var imo: String = ""
    @Persisted var title: String = ""
    @Persisted var yearBuilt: String = ""

    override class func _realmObjectName() -> String? { "Ship" }
    override class func primaryKey() -> String? { "imo" }
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

@main
struct Port {
    static func main() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("fleet-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let url = folder.appendingPathComponent("fleet.realm")
        try formerRelease(at: url)

        let fleet = Fleet(configuration: .fleet(at: url))
        try serve(fleet)
        let arrivals = try await Arrivals(configuration: fleet.configuration)
        await arrivals.watch()
        let sailing = try await withCheckedThrowingContinuation { (done: CheckedContinuation<Int, any Error>) in
            do {
                try fleet.setOut("9074729", on: DispatchQueue(label: "harbor master")) { done.resume(returning: $0) }
            } catch {
                done.resume(throwing: error)
            }
        }
        try await arrivals.arrive(at: "Bergen")
        print("sailing: \(sailing), arrived: \(await arrivals.firstArrival())")
        await arrivals.close()
    }

    /// What a request asks for, on its own thread.
    static func serve(_ fleet: Fleet) throws {
        try fleet.register(imo: "9074729", name: "Fram", home: "Oslo")
        try fleet.plan(for: "9074729", legs: [("Oslo", "Stavanger", 310), ("Stavanger", "Bergen", 110)])
        print("found: \(try fleet.find(prefix: "g", destination: "Bergen"))")
        print("old: \(try fleet.ships(builtBefore: 1_900))")
        print("miles: \(try fleet.miles(heavierThan: 1_000))")
        print("ships: \(try fleet.list())")
    }

    static func formerRelease(at url: URL) throws {
        let configuration = Realm.Configuration(fileURL: url, schemaVersion: 1, objectTypes: [FormerShip.self])
        let realm = try Realm(configuration: configuration)
        try realm.write {
            realm.create(FormerShip.self, value: ["imo": "5133060", "title": "Gjøa", "yearBuilt": "1872"])
        }
    }
}
