import ActorRealm
import Foundation

class Crate: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var name = ""
    @Persisted var tags: MutableSet<String>
    @Persisted var numbers: MutableSet<Int>
    @Persisted var maybe: MutableSet<Int?>
    @Persisted var decimals: MutableSet<Decimal128>
    @Persisted var friends: MutableSet<Crate>
    @Persisted var anything: MutableSet<AnyRealmValue>
    @Persisted var scores: Map<String, Int>
    @Persisted var notes: Map<String, String?>
    @Persisted var peers: Map<String, Crate?>
    @Persisted var slips: Map<String, Slip?>
    @Persisted var mixed: Map<String, AnyRealmValue>
    @Persisted var value: AnyRealmValue
    @Persisted var values: List<AnyRealmValue>
    @Persisted var price: Decimal128
    @Persisted var discount: Decimal128?
    @Persisted var prices: List<Decimal128>
    @Persisted(originProperty: "friends") var friendOf: LinkingObjects<Crate>
    @Persisted(originProperty: "peers") var peerOf: LinkingObjects<Crate>

    convenience init(id: Int, name: String = "") {
        self.init()
        self.id = id
        self.name = name
    }
}

class Slip: EmbeddedObject {
    @Persisted var text = ""
}

let crateTypes: [ObjectBase.Type] = [Crate.self, Slip.self]
