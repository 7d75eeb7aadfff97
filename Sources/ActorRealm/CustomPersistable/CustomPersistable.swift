/// A type of your own that a property holds and that is stored as another type.
///
/// ```swift
/// struct Celsius: CustomPersistable {
///     var degrees: Double
///     init(persistedValue: Double) { degrees = persistedValue }
///     var persistableValue: Double { degrees }
/// }
///
/// class Reading: Object {
///     @Persisted var temperature: Celsius
///     @Persisted var hourly: List<Celsius>
/// }
/// ```
/// It can be stored as everything that is kept in one column, and as an embedded object. Queries take the type itself,
/// and `persistableValue` for what is stored.
public protocol CustomPersistable: _CustomPersistable {
    /// Makes a value from what is stored.
    init(persistedValue: PersistedType)
    /// What is stored for the value.
    var persistableValue: PersistedType { get }
}

/// A type of your own that is stored as another type, some of whose values it cannot be made from.
///
/// A stored value that it cannot be made from reads as nil where the property is optional, and ends the process where it
/// is not.
public protocol FailableCustomPersistable: _CustomPersistable {
    /// Makes a value from what is stored; nil when that is impossible.
    init?(persistedValue: PersistedType)
    /// What is stored for the value.
    var persistableValue: PersistedType { get }
}

/// What `CustomPersistable` and `FailableCustomPersistable` have in common; conform to one of them.
public protocol _CustomPersistable: _Scalar, _CustomStored, _RealmCollectionValueInsideOptional
where PersistedType: _CustomPersistedType {
    // Declared again, so that the initializer of a type tells it.
    /// What is stored: any type that is kept in one column, or an embedded object.
    associatedtype PersistedType
    /// What is stored for the value.
    var persistableValue: PersistedType { get }
    /// Makes a value from what is stored; nil when that is impossible.
    static func _fromPersisted(_ value: PersistedType) -> Self?
}

extension CustomPersistable {
    /// Makes a value from what is stored.
    public static func _fromPersisted(_ value: PersistedType) -> Self? { Self(persistedValue: value) }
}

extension FailableCustomPersistable {
    /// Makes a value from what is stored; nil when that is impossible.
    public static func _fromPersisted(_ value: PersistedType) -> Self? { Self(persistedValue: value) }
}
