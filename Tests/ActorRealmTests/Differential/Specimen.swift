import ActorRealm
import Foundation

/// An object with a property of each type, most of them twice: with an index, behind an `x`, and without.
class Specimen: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var int: Int
    @Persisted(indexed: true) var xint: Int
    @Persisted var oint: Int?
    @Persisted(indexed: true) var xoint: Int?
    @Persisted var text: String
    @Persisted(indexed: true) var xtext: String
    @Persisted var otext: String?
    @Persisted(indexed: true) var xotext: String?
    @Persisted var date: Date?
    @Persisted(indexed: true) var xdate: Date?
    @Persisted var flag: Bool?
    @Persisted(indexed: true) var xflag: Bool?
    @Persisted var uuid: UUID?
    @Persisted(indexed: true) var xuuid: UUID?
    @Persisted var oid: ObjectId?
    @Persisted(indexed: true) var xoid: ObjectId?
    @Persisted var double: Double
    @Persisted var odouble: Double?
    @Persisted var float: Float
    @Persisted var decimal: Decimal128?
    @Persisted var data: Data?
    @Persisted var mixed: AnyRealmValue
    @Persisted var link: Specimen?
    @Persisted var label: SpecimenLabel?
    @Persisted var links: List<Specimen>
    @Persisted var ints: List<Int>
    @Persisted var texts: MutableSet<String>
    @Persisted var counts: Map<String, Int?>

    override class func compoundIndexes() -> [CompoundIndex] {
        [["xtext", "xint"], ["xoint", "xdate", "xotext"], ["xflag", "xuuid"]]
    }

    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// An object whose key is a text.
class SpecimenLabel: Object {
    @Persisted(primaryKey: true) var key: String?
    @Persisted var size = 0

    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// A specimen in plain Swift.
struct PlainSpecimen {
    /// By the name without an `x`.
    var values: [String: SpecimenValue]
    var link: Int?
    var label: SpecimenValue?
    var links: [Int] = []
    var ints: [SpecimenValue] = []
    var texts: [SpecimenValue] = []
    /// Swift takes two of the names for one.
    var counts: [(name: String, value: SpecimenValue)] = []

    func count(named name: String) -> SpecimenValue {
        counts.first { $0.name.utf8.elementsEqual(name.utf8) }?.value ?? .null
    }
}

/// The kinds of values that a property has.
enum SpecimenKind: CaseIterable {
    case int, text, date, flag, uuid, oid, double, float, decimal, data, any

    /// Properties of the kind, and whether they may be null.
    static let properties: [(name: String, kind: SpecimenKind, isOptional: Bool, isIndexed: Bool)] = [
        ("int", .int, false, true), ("oint", .int, true, true), ("text", .text, false, true),
        ("otext", .text, true, true), ("date", .date, true, true), ("flag", .flag, true, true),
        ("uuid", .uuid, true, true), ("oid", .oid, true, true), ("double", .double, false, false),
        ("odouble", .double, true, false), ("float", .float, false, false), ("decimal", .decimal, true, false),
        ("data", .data, true, false), ("mixed", .any, true, false),
    ]
}
