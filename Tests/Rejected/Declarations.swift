import ActorRealm
import Foundation

// What the table of property types leaves out, the compiler refuses.

class Target: Object { @Persisted var name: String }
class Part: EmbeddedObject { @Persisted var name: String }

class IndexedDouble: Object {
    @Persisted(indexed: true) var value: Double  // error: requires that 'Double' conform to '_Indexable'
}

class IndexedData: Object {
    @Persisted(indexed: true) var value: Data  // error: requires that 'Data' conform to '_Indexable'
}

class DateKeyed: Object {
    @Persisted(primaryKey: true) var value: Date  // error: requires that 'Date' conform to '_PrimaryKey'
}

class PlainLink: Object {
    @Persisted var target: Target  // error: '_Persistable'
}

class PlainPart: Object {
    @Persisted var part: Part  // error: '_Persistable'
}

class OptionalAny: Object {
    @Persisted var value: AnyRealmValue?  // error: '_PersistableInsideOptional'
}

class OptionalList: Object {
    @Persisted var values: List<Int>?  // error: '_PersistableInsideOptional'
}

class NestedLists: Object {
    @Persisted var values: List<List<Int>>  // error: 'RealmCollectionValue'
}

class NumberedMap: Object {
    @Persisted var values: Map<Int, Int>  // error: '_MapKey'
}

class LazyProperty: Object {
    @Persisted lazy var value = 3  // error: cannot also be lazy
}

class BoxedConstants: Object {
    let age = RealmProperty<Int?>()  // error: A constant is not stored. Declare `@Persisted var name: Int?`
    let weight = RealmOptional<Double>()  // error: A constant is not stored. Declare `@Persisted var name: Int?`
    let height = RealmOptional<Double>(1.8)  // error: A constant is not stored. Declare `@Persisted var name: Int? = 5`
}

// Its + would write into the list.
func joined<Elements: RangeReplaceableCollection>(_ elements: Elements) -> Elements { elements + elements }

func joinsList(_ list: List<Int>) {
    _ = joined(list)  // error: 'RangeReplaceableCollection'
}
