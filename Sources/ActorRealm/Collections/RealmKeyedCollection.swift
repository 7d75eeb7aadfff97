/// What can name the entries of a `Map`: strings.
public protocol _MapKey: Hashable, SendableMetatype {
    static func _name(_ key: Self) -> String
    static func _key(named name: String) -> Self
}

extension String: _MapKey {
    /// The name of an entry.
    public static func _name(_ key: String) -> String { key }
    /// The key of a name.
    public static func _key(named name: String) -> String { name }
}

/// A collection of named values that can belong to a realm: `Map`.
public protocol RealmKeyedCollection<Key, Value>: Sequence, ThreadConfined, CustomStringConvertible {
    /// What names the values.
    associatedtype Key: _MapKey
    /// The values.
    associatedtype Value: RealmCollectionValue

    /// What stands behind a managed collection; nil for an unmanaged one.
    var _backing: _CollectionBacking? { get }
    /// The number of entries.
    var count: Int { get }
    /// The names, ascending as bytes in a managed collection.
    var keys: [Key] { get }
    /// The values, in the order of the names.
    var values: [Value] { get }
    /// The value of a name; nil when there is none.
    subscript(_ key: Key) -> Value? { get nonmutating set }
}
