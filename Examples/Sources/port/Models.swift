import ActorRealm
import Foundation

enum VoyageState: String, PersistableEnum {
    case planned
    case sailing
    case arrived
}

/// A weight, stored as a number of tonnes.
struct Weight: CustomPersistable {
    let tonnes: Double

    init(tonnes: Double) { self.tonnes = tonnes }
    init(persistedValue: Double) { tonnes = persistedValue }
    var persistableValue: Double { tonnes }
}

class Harbor: EmbeddedObject {
    @Persisted var name: String = ""
    @Persisted var country: String?
}

class Ship: Object {
    @Persisted var imo: String = ""
    @Persisted var name: String = ""
    @Persisted var home: Harbor?
    @Persisted var built: Int?
    @Persisted var voyages: List<Voyage>
    @Persisted var flags: MutableSet<String>
    @Persisted var certificates: Map<String, Date>

    override class func primaryKey() -> String? { "imo" }
    override class func indexedProperties() -> [String] { ["name"] }

    convenience init(imo: String, name: String) {
        self.init()
        self.imo = imo
        self.name = name
    }
}

class Voyage: Object {
    @Persisted(primaryKey: true) var _id: ObjectId
    @Persisted(indexed: true) var state: VoyageState
    @Persisted var departure: Date
    @Persisted var legs: List<Leg>
    @Persisted var deadweight = Weight(tonnes: 0)
    @Persisted var notes: AnyRealmValue
    @Persisted(originProperty: "voyages") var ships: LinkingObjects<Ship>

    class Leg: EmbeddedObject {
        @Persisted var from: String
        @Persisted var to: String
        @Persisted var miles: Double
    }
}

class ShipRow: Projection<Ship> {
    @Projected(\Ship.name) var name
    @Projected(\Ship.home?.name) var harbor
}
