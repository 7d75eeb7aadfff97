public import FoundationEssentials
import RealmModel

/// A value of any type that a realm can hold, lists and dictionaries of such values included.
///
/// ```swift
/// class Entry: Object {
///     @Persisted var value: AnyRealmValue
/// }
/// entry.value = .string("text")
/// entry.value = .object(person)
/// entry.value = AnyRealmValue.fromArray([.int(1), .string("two")])
/// entry.value.listValue?[0] = .int(3)
/// ```
/// There is no optional of it: `.none` is what nil would be. Numbers of different types are equal in queries when their
/// values are. Lists and dictionaries of a managed object are live; they are known by the place where they lie, and a
/// change inside of one reads and writes the whole value: appending *n* elements one by one takes time in the order of *n*².
/// Append them at once with `append(objectsIn:)`, or keep what grows in a property of type `List` or `Map`. Lists and
/// dictionaries nest 100 levels deep at most.
public enum AnyRealmValue {
    /// No value.
    case none
    /// An integer.
    case int(Int)
    /// A truth value.
    case bool(Bool)
    /// A number of single precision.
    case float(Float)
    /// A number of double precision.
    case double(Double)
    /// Text.
    case string(String)
    /// Bytes.
    case data(Data)
    /// A point in time.
    case date(Date)
    /// A link to an object of any class of the realm.
    case object(Object)
    /// An identifier of 12 bytes.
    case objectId(ObjectId)
    /// A decimal number.
    case decimal128(Decimal128)
    /// An identifier of 16 bytes.
    case uuid(UUID)
    /// Named values.
    case dictionary(Map<String, AnyRealmValue>)
    /// Values in order.
    case list(List<AnyRealmValue>)

    /// No value.
    public init() { self = .none }

    /// A dictionary of values.
    public static func fromDictionary(_ dictionary: [String: AnyRealmValue]) -> AnyRealmValue {
        let map = Map<String, AnyRealmValue>()
        for (key, value) in dictionary { map[key] = value }
        return .dictionary(map)
    }

    /// A list of values.
    public static func fromArray(_ array: [AnyRealmValue]) -> AnyRealmValue {
        let list = List<AnyRealmValue>()
        list.append(objectsIn: array)
        return .list(list)
    }

    /// The integer; nil for any other type.
    public var intValue: Int? { if case .int(let value) = self { value } else { nil } }
    /// The truth value; nil for any other type.
    public var boolValue: Bool? { if case .bool(let value) = self { value } else { nil } }
    /// The number of single precision; nil for any other type.
    public var floatValue: Float? { if case .float(let value) = self { value } else { nil } }
    /// The number of double precision; nil for any other type.
    public var doubleValue: Double? { if case .double(let value) = self { value } else { nil } }
    /// The text; nil for any other type.
    public var stringValue: String? { if case .string(let value) = self { value } else { nil } }
    /// The bytes; nil for any other type.
    public var dataValue: Data? { if case .data(let value) = self { value } else { nil } }
    /// The point in time; nil for any other type.
    public var dateValue: Date? { if case .date(let value) = self { value } else { nil } }
    /// The identifier; nil for any other type.
    public var objectIdValue: ObjectId? { if case .objectId(let value) = self { value } else { nil } }
    /// The decimal number; nil for any other type.
    public var decimal128Value: Decimal128? { if case .decimal128(let value) = self { value } else { nil } }
    /// The identifier; nil for any other type.
    public var uuidValue: UUID? { if case .uuid(let value) = self { value } else { nil } }
    /// The dictionary; nil for any other type.
    public var dictionaryValue: Map<String, AnyRealmValue>? {
        if case .dictionary(let value) = self { value } else { nil }
    }
    /// The list; nil for any other type.
    public var listValue: List<AnyRealmValue>? { if case .list(let value) = self { value } else { nil } }

    /// The object, if it is of the type; nil for any other type.
    public func object<Target: Object>(_ type: Target.Type) -> Target? {
        if case .object(let value) = self { value as? Target } else { nil }
    }

    /// The object, by the names of its properties; nil for any other type.
    ///
    /// It is how objects are reached whose class the program does not have.
    public var dynamicObject: DynamicObject? {
        guard case .object(let value) = self else { return nil }
        if let dynamic = value as? DynamicObject { return dynamic }
        guard let core = value.core, let name = value.tableAccessor?.info.name else { return nil }
        return core.registry.dynamicAccessor(className: name)?.makeObject(key: value.rowKey) as? DynamicObject
    }

    /// What the value holds, as a dynamically typed value.
    var content: Any? {
        switch self {
        case .none: nil
        case .int(let value): value
        case .bool(let value): value
        case .float(let value): value
        case .double(let value): value
        case .string(let value): value
        case .data(let value): value
        case .date(let value): value
        case .object(let value): value
        case .objectId(let value): value
        case .decimal128(let value): value
        case .uuid(let value): value
        case .dictionary(let value): value
        case .list(let value): value
        }
    }
}

@available(
    *,
    unavailable,
    message:
        "A value of any type may be a live object or collection. Send what it holds, or `ThreadSafeReference(to: object)`."
)
extension AnyRealmValue: Sendable {}

extension AnyRealmValue: Hashable {
    /// Whether both hold the same value of the same type.
    public static func == (left: AnyRealmValue, right: AnyRealmValue) -> Bool {
        switch (left, right) {
        case (.none, .none): true
        case (.int(let left), .int(let right)): left == right
        case (.bool(let left), .bool(let right)): left == right
        case (.float(let left), .float(let right)): left == right
        case (.double(let left), .double(let right)): left == right
        case (.string(let left), .string(let right)): left == right
        case (.data(let left), .data(let right)): left == right
        case (.date(let left), .date(let right)): left == right
        case (.object(let left), .object(let right)): left == right || left.isSameObject(as: right)
        case (.objectId(let left), .objectId(let right)): left == right
        case (.decimal128(let left), .decimal128(let right)): left == right
        case (.uuid(let left), .uuid(let right)): left == right
        case (.dictionary(let left), .dictionary(let right)):
            left.isSame(as: right) || left.count == right.count && left.allSatisfy { right[$0.key] == $0.value }
        case (.list(let left), .list(let right)):
            left.isSame(as: right) || left.count == right.count && zip(left, right).allSatisfy { $0 == $1 }
        default: false
        }
    }

    /// Hashes the value.
    public func hash(into hasher: inout Hasher) {
        switch self {
        case .none: hasher.combine(0)
        case .int(let value): hasher.combine(value)
        case .bool(let value): hasher.combine(value)
        case .float(let value): hasher.combine(value)
        case .double(let value): hasher.combine(value)
        case .string(let value): hasher.combine(value)
        case .data(let value): hasher.combine(value)
        case .date(let value): hasher.combine(value)
        case .object(let value): hasher.combine(value.core == nil ? value.hashValue : Int(value.rowKey))
        case .objectId(let value): hasher.combine(value)
        case .decimal128(let value): hasher.combine(value)
        case .uuid(let value): hasher.combine(value)
        case .dictionary(let value): hasher.combine(value.count)
        case .list(let value): hasher.combine(value.count)
        }
    }
}

extension AnyRealmValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByNilLiteral
{
    /// Text.
    public init(stringLiteral value: String) { self = .string(value) }
    /// An integer.
    public init(integerLiteral value: Int) { self = .int(value) }
    /// A number of double precision.
    public init(floatLiteral value: Double) { self = .double(value) }
    /// A truth value.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// No value.
    public init(nilLiteral: ()) { self = .none }
}
