import ActorRealm
import Foundation

extension Realm.Configuration {
    /// The fleet's realm: since version 2 a ship's name is called so.
    static func fleet(at url: URL) -> Realm.Configuration {
        Realm.Configuration(
            fileURL: url,
            schemaVersion: 2,
            migrationBlock: { migration, oldSchemaVersion in
                if oldSchemaVersion < 2 {
                    migration.renameProperty(onType: Ship.className(), from: "title", to: "name")
                    migration.enumerateObjects(ofType: Ship.className()) { old, new in
                        if let text = old?["yearBuilt"] as? String { new?["built"] = Int(text) }
                    }
                }
            },
            objectTypes: [Ship.self, Voyage.self]
        )
    }
}

/// What the requests of a server ask for.
///
/// Each request opens its own realm, on the thread that serves it.
struct Fleet: Sendable {
    let configuration: Realm.Configuration

    func register(imo: String, name: String, home: String) throws {
        let realm = try Realm(configuration: configuration)
        try realm.write {
            let ship = Ship(imo: imo, name: name)
            ship.home = Harbor(value: ["name": home])
            ship.flags.insert("NO")
            ship.certificates["safety"] = Date(timeIntervalSince1970: 1_800_000_000)
            realm.add(ship, update: .modified)
        }
    }

    func plan(for imo: String, legs: [(from: String, to: String, miles: Double)]) throws {
        let realm = try Realm(configuration: configuration)
        guard let ship = realm.object(ofType: Ship.self, forPrimaryKey: imo) else { return }
        try realm.write {
            let voyage = realm.create(
                Voyage.self,
                value: [
                    "departure": Date(timeIntervalSince1970: 1_700_000_000),
                    "legs": legs.map { ["from": $0.from, "to": $0.to, "miles": $0.miles] },
                    "notes": "planned",
                ]
            )
            voyage.deadweight = Weight(tonnes: 1_200)
            ship.voyages.append(voyage)
        }
    }

    /// Ships whose name begins so, and those that sail to a harbor.
    func find(prefix: String, destination: String) throws -> [String] {
        let realm = try Realm(configuration: configuration)
        let byName = realm.objects(Ship.self)
            .filter("name BEGINSWITH[c] %@ OR ANY voyages.legs.to == %@", prefix, destination)
            .sorted(byKeyPath: "name")
        return byName.map { $0.name }
    }

    /// Ships that are older than a year, the oldest first.
    func ships(builtBefore year: Int) throws -> [String] {
        let realm = try Realm(configuration: configuration)
        let ships = realm.objects(Ship.self).filter("built < %@", year).sorted(byKeyPath: "built")
        return ships.map { "\($0.name) (\($0.built ?? 0))" }
    }

    /// How far the voyages of heavy ships go, by state.
    func miles(heavierThan tonnes: Double) throws -> [String: Double] {
        let realm = try Realm(configuration: configuration)
        let voyages = realm.objects(Voyage.self).where { $0.deadweight > Weight(tonnes: tonnes) && $0.legs.count > 0 }
        let sections = voyages.sectioned(by: \.state)
        return Dictionary(
            uniqueKeysWithValues: sections.map { section in
                (section.key.rawValue, section.reduce(0) { $0 + $1.legs.sum(of: \.miles) })
            }
        )
    }

    func list() throws -> [String] {
        let realm = try Realm(configuration: configuration)
        return realm.objects(ShipRow.self).map { "\($0.name) of \($0.harbor ?? "nowhere")" }
    }

    /// Sets all ships out, on another queue, and calls back there.
    func setOut(_ imo: String, on queue: DispatchQueue, _ completion: @escaping @Sendable (Int) -> Void) throws {
        let realm = try Realm(configuration: configuration)
        guard let ship = realm.object(ofType: Ship.self, forPrimaryKey: imo) else { return }
        let reference = ThreadSafeReference(to: ship)
        queue.async {
            let realm = try! Realm(configuration: configuration)
            guard let ship = realm.resolve(reference) else { return completion(0) }
            try! realm.write {
                for voyage in ship.voyages where voyage.state == .planned { voyage.state = .sailing }
            }
            completion(ship.voyages.filter("state == %@", VoyageState.sailing.rawValue).count)
        }
    }
}
