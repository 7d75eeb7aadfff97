import RealmModel

/// An index over several properties of a class, in their order.
///
/// ```swift
/// class Booking: Object {
///     @Persisted var room = ""
///     @Persisted var day = 0
///     @Persisted var guest = ""
///     override class func compoundIndexes() -> [CompoundIndex] {
///         [CompoundIndex("room", "day", unique: true), ["guest", "day"]]
///     }
/// }
/// ```
/// It serves queries that compare the first of its properties, or the first few, for equality, and the next one for
/// equality, a range or a prefix; and queries that do the former and sort by the next ones. With `unique`, no two objects
/// may have the same values, unless one of the values is nil.
public struct CompoundIndex: Hashable, Sendable, ExpressibleByArrayLiteral, CustomStringConvertible {
    /// The names of the properties, two to eight.
    public let properties: [String]
    /// Whether no two objects may have the same values.
    public let isUnique: Bool

    /// An index over properties that are named.
    public init(_ properties: String..., unique: Bool = false) {
        self.init(properties: properties, isUnique: unique)
    }

    /// An index over properties that are given by their key paths.
    public init<Root: ObjectBase>(_ keyPaths: PartialKeyPath<Root>..., unique: Bool = false) {
        self.init(properties: keyPaths.map { PathRecorder.name(of: $0) }, isUnique: unique)
    }

    /// An index that allows objects with the same values.
    public init(arrayLiteral elements: String...) {
        self.init(properties: elements, isUnique: false)
    }

    init(properties: [String], isUnique: Bool) {
        self.properties = properties
        self.isUnique = isUnique
    }

    /// The properties, and whether they are unique together.
    public var description: String { (isUnique ? "unique " : "") + "(" + properties.joined(separator: ", ") + ")" }
}
