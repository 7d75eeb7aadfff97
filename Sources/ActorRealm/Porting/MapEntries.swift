/// A type that holds an entry of a map.
public protocol _RealmMapValue {
    /// The type of names.
    associatedtype Key: _MapKey
    /// The type of values.
    associatedtype Value: RealmCollectionValue
}

/// One entry of a map, where a tuple cannot stand: as a generic argument, or in a set.
///
/// A map itself gives its entries as tuples, which have the same two parts.
public struct SingleMapEntry<Key: _MapKey, Value: RealmCollectionValue>: _RealmMapValue, Hashable {
    /// The name.
    public var key: Key
    /// The value.
    public var value: Value

    /// Puts an entry together.
    public init(key: Key, value: Value) {
        self.key = key
        self.value = value
    }

    /// An entry as a map gives it.
    public init(_ entry: (key: Key, value: Value)) { self.init(key: entry.key, value: entry.value) }
}

extension SingleMapEntry: Sendable where Key: Sendable, Value: Sendable {}

/// The position of an entry in a map, as a number.
///
/// A map is asked by name: the position says where ``Map/keys`` and ``Map/values`` have an entry.
public struct MapIndex: Hashable, Sendable {
    /// How many entries stand before.
    public var offset: UInt

    /// A position.
    public init(offset: UInt) { self.offset = offset }
}
