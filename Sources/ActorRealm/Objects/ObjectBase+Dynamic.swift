import RealmModel

nonisolated extension ObjectBase {
    /// The list property of that name, with dynamic objects as its elements.
    ///
    /// - Precondition: The object is managed, and the property is a list of objects.
    ///   Look at ``objectSchema``, which tells the type.
    public final func dynamicList(_ propertyName: String) -> List<DynamicObject> {
        dynamicPlace(propertyName, .list, "list", named: "List").map { List($0) } ?? List()
    }

    /// The set property of that name, with dynamic objects as its elements.
    ///
    /// - Precondition: The object is managed, and the property is a set of objects.
    ///   Look at ``objectSchema``, which tells the type.
    public final func dynamicMutableSet(_ propertyName: String) -> MutableSet<DynamicObject> {
        dynamicPlace(propertyName, .set, "set", named: "MutableSet").map { MutableSet($0) } ?? MutableSet()
    }

    /// The map property of that name, with dynamic objects as its values.
    ///
    /// - Precondition: The object is managed, and the property is a map of objects.
    ///   Look at ``objectSchema``, which tells the type.
    public final func dynamicMap<Key: _MapKey>(_ propertyName: String) -> Map<Key, DynamicObject?> {
        dynamicPlace(propertyName, .map, "map", named: "Map").map { Map($0) } ?? Map()
    }

    /// Where a collection of a name is; nil after a mistake inside a migration, which opening the realm throws.
    private final func dynamicPlace(
        _ propertyName: String,
        _ collection: CollectionKind,
        _ word: String,
        named name: String
    ) -> ListPlace? {
        if let self = self as? DynamicObject, self.isDetached { return nil }
        if let migration = core?.migration, !migration.has(propertyName, in: self) { return nil }
        let (accessor, property) = dynamicProperty(propertyName, name)
        core?.migration?.reads(property, of: self)
        guard property.shape.collection == collection, property.shape.kind == .object else {
            let message =
                "Property '\(accessor.info.name).\(propertyName)' is not a \(word) of objects: its type is "
                + "'\(property.schema.typeDescription)'."
            guard let migration = core?.migration else { misuse(message) }
            migration.refuse(message, accessor.info.name, propertyName)
            return nil
        }
        return ListPlace(accessor: accessor, key: rowKey, declared: property.ordinal, named: name)
    }

    /// The dynamic accessor of the object's class, and one of its properties.
    final func dynamicProperty(_ name: String, _ what: String) -> (TableAccessor, ModelProperty) {
        let accessor = checkedAccessor()
        let dynamic = accessor.core.requiredDynamicAccessor(className: accessor.info.name)
        return (dynamic, dynamic.info.requiredProperty(name))
    }
}

nonisolated extension ObjectBase {
    /// The value of the property of that name; the same as `object[key]`.
    ///
    /// - Precondition: The class has such a property.
    ///   For a name from outside ``value(named:)`` throws.
    public final func value(forKey key: String) -> Any? { self[key] }

    /// Sets the property of that name; the same as `object[key] = value`.
    ///
    /// - Precondition: The class has such a property, and the value fits.
    ///   For names and values from outside ``setValues(_:ignoringUnknownKeys:)`` throws.
    public final func setValue(_ value: Any?, forKey key: String) { self[key] = value }

    /// The value at the end of a path of names; nil when a link leads nowhere.
    ///
    /// From a collection or a map on, the rest of the path is the collection's: `dogs.name` are the names of all dogs,
    /// `dogs.@count` is their number; see ``RealmCollection/value(forKeyPath:)``.
    ///
    /// - Precondition: The classes have such properties.
    ///   For a name from outside ``value(named:)`` throws.
    public final func value(forKeyPath keyPath: String) -> Any? {
        ValuePath.value(of: self, along: ValuePath.names(keyPath)[...])
    }

    /// Sets the property at the end of a path of names; nothing happens when a link leads nowhere.
    ///
    /// Behind a collection it is set in each object: `dogs.name` gives all dogs one name. Behind a map the last name is that of an
    /// entry, which nil removes: `scores.chess`.
    ///
    /// - Precondition: The classes have such properties, and the value fits.
    ///   For names and values from outside ``setValues(_:ignoringUnknownKeys:)`` throws.
    public final func setValue(_ value: Any?, forKeyPath keyPath: String) {
        let names = ValuePath.names(keyPath)
        guard names.count > 1 else { return setValue(value, forKey: keyPath) }
        let target = ValuePath.value(of: self, along: names.dropLast())
        ValuePath.set(value, forKey: names[names.count - 1], in: target)
    }
}
