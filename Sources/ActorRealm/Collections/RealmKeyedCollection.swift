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

    /// Sets the value of a name.
    func updateValue(_ value: Value, forKey key: Key)
    /// Removes an entry, if it is there.
    func removeObject(for key: Key)
    /// Removes all entries.
    func removeAll()
    /// The value of a name as a dynamically typed one; nil when there is none.
    func value(forKey key: String) -> Any?
    /// The value at the end of a path that begins with a name; or what an operator makes of the values.
    func value(forKeyPath keyPath: String) -> Any?
    /// Sets the value of a name to a dynamically typed one; nil removes it.
    func setValue(_ value: Any?, forKey key: String)

    /// The values for which a predicate in the string language holds.
    func filter(_ predicateFormat: String, _ arguments: Any...) -> Results<Value>
    /// The objects in the order of a property.
    func sorted(byKeyPath keyPath: String, ascending: Bool) -> Results<Value>
    /// The objects in the order of several properties, the first one deciding.
    func sorted<Descriptors: Sequence>(by sortDescriptors: Descriptors) -> Results<Value>
    where Descriptors.Element == SortDescriptor
    /// The values in order.
    func sorted(ascending: Bool) -> Results<Value>
    /// The smallest value of a property of the objects; nil when there is none.
    func min<Result: MinMaxType>(ofProperty property: String) -> Result?
    /// The largest value of a property of the objects; nil when there is none.
    func max<Result: MinMaxType>(ofProperty property: String) -> Result?
    /// The sum of a property of the objects; 0 when there are no values.
    func sum<Result: AddableType>(ofProperty property: String) -> Result
    /// The mean of a property of the objects; nil when there are no values.
    func average<Result: AddableType>(ofProperty property: String) -> Result?
}
