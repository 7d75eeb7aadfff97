import ActorRealm
import Foundation

/// Values of the types in which Swift's equality is not that of a realm.
class Term: Object {
    @Persisted(primaryKey: true) var id: String
    @Persisted(indexed: true) var name = ""
    @Persisted(unique: true) var code: String?
    @Persisted var weight = 0.0
    @Persisted var maybe: Double?
    @Persisted var price: Decimal128
    @Persisted var free: AnyRealmValue
    @Persisted var names: List<String>
    @Persisted var weights: List<Double>
    @Persisted var anys: List<AnyRealmValue>
    @Persisted var anySet: MutableSet<AnyRealmValue>
    @Persisted var scores: Map<String, Double>

    convenience init(_ id: String, _ name: String = "", weight: Double = 0, free: AnyRealmValue = .none) {
        self.init()
        self.id = id
        self.name = name
        self.weight = weight
        self.free = free
    }

    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

func termRealm() throws -> Realm { try memoryRealm([Term.self]) }

/// One text in two spellings, which Swift takes for equal strings.
let composed = "caf\u{E9}"
let decomposed = "cafe\u{301}"
