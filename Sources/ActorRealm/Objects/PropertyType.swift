/// The types that a property can have.
@frozen
public enum PropertyType: Int, Sendable, CustomStringConvertible {
    /// Integers of every width, and enums over them.
    case int = 0
    /// `Bool`.
    case bool = 1
    /// `String`, and enums over it.
    case string = 2
    /// `Data`.
    case data = 3
    /// `Date`.
    case date = 4
    /// `Float`.
    case float = 5
    /// `Double`.
    case double = 6
    /// A link to an object.
    case object = 7
    /// The objects that link here.
    case linkingObjects = 8
    /// `AnyRealmValue`.
    case any = 9
    /// `ObjectId`.
    case objectId = 10
    /// `Decimal128`.
    case decimal128 = 11
    /// `UUID`.
    case UUID = 12

    /// The name of the type as it stands in messages.
    public var description: String {
        switch self {
        case .int: "int"
        case .bool: "bool"
        case .string: "string"
        case .data: "data"
        case .date: "date"
        case .float: "float"
        case .double: "double"
        case .object: "object"
        case .linkingObjects: "linking objects"
        case .any: "mixed"
        case .objectId: "object id"
        case .decimal128: "decimal128"
        case .UUID: "uuid"
        }
    }
}
