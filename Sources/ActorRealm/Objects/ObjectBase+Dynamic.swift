import RealmModel

nonisolated extension ObjectBase {
    /// The list property of that name, with dynamic objects as its elements.
    ///
    /// - Precondition: The object is managed, and the property is a list of objects.
    public final func dynamicList(_ propertyName: String) -> List<DynamicObject> {
        let (accessor, property) = dynamicProperty(propertyName, "List")
        guard property.shape.collection == .list, property.shape.kind == .object else {
            misuse(
                "Property '\(accessor.info.name).\(propertyName)' is not a list of objects: its type is "
                    + "'\(property.schema.typeDescription)'."
            )
        }
        return List(ListPlace(accessor: accessor, key: rowKey, declared: property.ordinal))
    }

    /// The dynamic accessor of the object's class, and one of its properties.
    final func dynamicProperty(_ name: String, _ what: String) -> (TableAccessor, ModelProperty) {
        let accessor = checkedAccessor()
        let dynamic = accessor.core.requiredDynamicAccessor(className: accessor.info.name)
        return (dynamic, dynamic.info.requiredProperty(name))
    }
}
