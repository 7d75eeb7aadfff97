public import Foundation

/// A type whose values are stored as those of a type: itself, or, for enums and custom types, the one that it is stored as.
public protocol _HasPersistedType {
    /// What a value is stored as, for code that is generic over what properties and collections hold.
    associatedtype PersistedType
}

extension Optional: _HasPersistedType where Wrapped: _HasPersistedType {
    /// An optional value is stored as an optional one of the type that the value is stored as.
    public typealias PersistedType = Wrapped.PersistedType?
}

// No default in the protocol: it would be taken for custom types as well, whose initializer tells the type.

extension Int {
    /// It is stored as itself.
    public typealias PersistedType = Int
}
extension Int8 {
    /// It is stored as itself.
    public typealias PersistedType = Int8
}
extension Int16 {
    /// It is stored as itself.
    public typealias PersistedType = Int16
}
extension Int32 {
    /// It is stored as itself.
    public typealias PersistedType = Int32
}
extension Int64 {
    /// It is stored as itself.
    public typealias PersistedType = Int64
}
extension Bool {
    /// It is stored as itself.
    public typealias PersistedType = Bool
}
extension Float {
    /// It is stored as itself.
    public typealias PersistedType = Float
}
extension Double {
    /// It is stored as itself.
    public typealias PersistedType = Double
}
extension String {
    /// It is stored as itself.
    public typealias PersistedType = String
}
extension Data {
    /// It is stored as itself.
    public typealias PersistedType = Data
}
extension Date {
    /// It is stored as itself.
    public typealias PersistedType = Date
}
extension UUID {
    /// It is stored as itself.
    public typealias PersistedType = UUID
}
extension ObjectId {
    /// It is stored as itself.
    public typealias PersistedType = ObjectId
}
extension Decimal128 {
    /// It is stored as itself.
    public typealias PersistedType = Decimal128
}
extension AnyRealmValue {
    /// It is stored as itself.
    public typealias PersistedType = AnyRealmValue
}
extension List {
    /// It is stored as itself.
    public typealias PersistedType = List
}
extension MutableSet {
    /// It is stored as itself.
    public typealias PersistedType = MutableSet
}
extension Map {
    /// It is stored as itself.
    public typealias PersistedType = Map
}
extension LinkingObjects {
    /// It is stored as itself.
    public typealias PersistedType = LinkingObjects
}

nonisolated extension ObjectBase {
    /// Objects of all classes are stored as objects.
    public typealias PersistedType = ObjectBase
}
nonisolated extension Projection {
    /// Projections of all classes stand for their objects.
    public typealias PersistedType = Projection
}
