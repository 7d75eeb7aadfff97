/// An object of a class that is known by name only.
///
/// It reads and writes properties by their names, as values of type `Any`: numbers, strings, dates, lists, and dynamic
/// objects for links. Enums appear as their raw values, and values of any kind as what they hold.
///
/// ```swift
/// let person = realm.dynamicObject(ofType: "Person", forPrimaryKey: 1)
/// let name = person?.name as? String
/// ```
@dynamicMemberLookup
nonisolated public final class DynamicObject: Object {
    /// The value of the property of that name.
    ///
    /// - Precondition: The object is managed, and its class has such a property; what is wrong inside a migration, opening the
    ///   realm throws.
    ///   For names and values from outside ``ObjectBase/value(named:)`` and
    ///   ``ObjectBase/setValues(_:ignoringUnknownKeys:)`` throw.
    public override subscript(key: String) -> Any? {
        get {
            let value: Any?
            if let migration = core?.migration {
                value = migration.value(of: key, in: self)
            } else if core == nil, isDetached || PathRecorder.breaks() {
                value = nil
            } else {
                value = managedClass.requiredProperty(key).value(in: self)
            }
            return (value as? AnyRealmValue).map { $0.content } ?? value
        }
        set {
            if let migration = core?.migration { return migration.assign(newValue, to: key, of: self) }
            if isDetached { return }
            managedClass.requiredProperty(key).assign(newValue, to: self)
        }
    }

    /// The value of the property of that name.
    ///
    /// - Precondition: That of ``subscript(_:)``. For names and values from outside
    ///   ``ObjectBase/value(named:)`` and ``ObjectBase/setValues(_:ignoringUnknownKeys:)`` throw.
    public subscript(dynamicMember member: String) -> Any? {
        get { self[member] }
        set { self[member] = newValue }
    }

    /// Dynamic objects have the class of their row, and none of their own.
    public override class func shouldIncludeInDefaultSchema() -> Bool { false }

    /// What stands for an object that could not be made, which whatever did not throw then throws in the end: it holds nothing, and
    /// what is assigned to it goes nowhere.
    static func detached() -> DynamicObject {
        let object = DynamicObject()
        object.rowKey = detachedKey
        return object
    }

    /// No row has it, and no unmanaged object.
    private static var detachedKey: Int64 { -2 }

    /// Whether the object stands for one that could not be made.
    var isDetached: Bool { core == nil && rowKey == Self.detachedKey }

    private var managedClass: ModelClass {
        guard core != nil else {
            misuse(
                "A `DynamicObject` has the properties of the class it was read or created for: get one from "
                    + "`realm.dynamicObjects(\"Person\")` or `realm.dynamicCreate(\"Person\")`."
            )
        }
        return modelClass
    }
}
