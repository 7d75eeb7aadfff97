package import RealmStorage

/// What a property holds; the raw values are those of the public `PropertyType`.
@usableFromInline
package enum PropertyKind: UInt8, Sendable, BitwiseCopyable, CaseIterable {
    case int = 0
    case bool
    case string
    case data
    case date
    case float
    case double
    case object
    case linkingObjects
    case any
    case objectId
    case decimal128
    case uuid

    /// The word that schema messages use for this kind.
    package var name: String {
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
        case .uuid: "uuid"
        }
    }

    /// How a single value of this kind lies in a cluster's column.
    package var columnKind: ColumnKind {
        switch self {
        case .int, .bool, .object, .linkingObjects: .int
        case .float: .float
        case .double, .date: .double
        case .objectId: .fixed12
        case .decimal128, .uuid: .fixed16
        case .string, .data, .any: .bytes
        }
    }

    /// Whether a property of this kind can have an index.
    package var isIndexable: Bool {
        switch self {
        case .int, .bool, .string, .date, .objectId, .uuid: true
        default: false
        }
    }

    /// Whether a property of this kind can be a primary key.
    package var canBePrimaryKey: Bool {
        switch self {
        case .int, .string, .objectId, .uuid: true
        default: false
        }
    }
}

/// Whether a property holds one value or a collection of them.
@usableFromInline
package enum CollectionKind: UInt8, Sendable, BitwiseCopyable, CaseIterable {
    case none = 0
    case list
    case set
    case map
}
