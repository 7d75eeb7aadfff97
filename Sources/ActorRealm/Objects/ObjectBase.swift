/// What every model class descends from, through `Object` or `EmbeddedObject`.
///
/// An instance is *unmanaged* until it is added to a realm: then its properties live in its wrappers. A *managed*
/// instance is an accessor: it holds the key of a row, and its properties read the newest version that its realm stands
/// on. It belongs to the isolation of its realm and is therefore not `Sendable`.
nonisolated open class ObjectBase {
    /// The realm that the object lives in; nil while it is unmanaged.
    @exclusivity(unchecked) @usableFromInline internal final var core: RealmCore?
    /// The table in that realm; owned by the core.
    @exclusivity(unchecked) @usableFromInline internal final unowned(unsafe) var tableAccessor: TableAccessor?
    /// The state of that table, for inlined getters.
    @exclusivity(unchecked) @usableFromInline internal final var tableState: UnsafeMutablePointer<TableState>
    /// The row's key, which never changes and is never reused.
    @exclusivity(unchecked) @usableFromInline internal final var rowKey: Int64
    /// The leaf that holds the row, as of `rowGeneration`.
    @exclusivity(unchecked) @usableFromInline internal final var rowLeaf: UnsafeRawPointer?
    /// The row's place in the leaf.
    @exclusivity(unchecked) @usableFromInline internal final var rowIndex: Int
    /// The model's generation when the leaf was looked up; 0 before the first time.
    @exclusivity(unchecked) @usableFromInline internal final var rowGeneration: UInt64

    /// Creates an unmanaged instance with every property at its default.
    public required init() {
        core = nil
        tableAccessor = nil
        tableState = TableAccessor.unmanagedState
        rowKey = -1
        rowLeaf = nil
        rowIndex = 0
        rowGeneration = 0
    }

    /// The name of the class in the schema, for a class that is not to be called by its own name and those of the types around it.
    ///
    /// Without an override a class is called `Name`, and one that is nested `Outer_Name`. Override it to give a class another
    /// name in the file, or to say which class it is that a file has under its own name alone.
    ///
    /// ```swift
    /// enum Shop {
    ///     class Address: EmbeddedObject {
    ///         @Persisted var street: String
    ///         override class func _realmObjectName() -> String? { "Address" }
    ///     }
    /// }
    /// ```
    open class func _realmObjectName() -> String? { nil }

    /// Property names mapped to the names that stand in the file, for those that differ.
    open class func propertiesMapping() -> [String: String] { [:] }

    /// The names of properties to index, beside those marked with `@Persisted(indexed:)`.
    ///
    /// An `AnyRealmValue` may be among them, and gets no index.
    open class func indexedProperties() -> [String] { [] }

    /// The names of properties that are not stored.
    ///
    /// Properties without `@Persisted` never are.
    open class func ignoredProperties() -> [String] { [] }

    /// Whether the class takes part in schemas that name no object types.
    open class func shouldIncludeInDefaultSchema() -> Bool { true }

    /// The name of the class in the schema.
    public final class func className() -> String { ModelClass.of(self).name }

    /// The class in the schema; that of the row for a dynamic object.
    final var modelClass: ModelClass { tableAccessor?.info ?? ModelClass.of(type(of: self)) }

    /// Whether instances exist only as part of an owner.
    class var isEmbeddedClass: Bool { false }

    /// The value of the property of that name, for code that does not know the class.
    ///
    /// - Precondition: The class has such a property, the object exists, and what is assigned fits. ``value(named:)``,
    ///   ``setValues(_:ignoringUnknownKeys:)`` and ``Realm/insert(_:value:ignoringUnknownKeys:)`` throw instead.
    open subscript(key: String) -> Any? {
        get {
            guard let property = modelClass.property(key) else {
                // Evaluating a key path ends nothing here: whoever asked for it refuses it.
                return PathRecorder.breaks() ? nil : modelClass.requiredProperty(key).value(in: self)
            }
            return property.value(in: self)
        }
        set { modelClass.requiredProperty(key).assign(newValue, to: self) }
    }

    /// A listing of the object's properties and their values.
    open var description: String { ObjectDescription.describe(self) }
}

@available(
    *,
    unavailable,
    message:
        "A live object belongs to its realm's isolation. Send `object.frozen`, `ObjectReference(to: object)` or `ThreadSafeReference(to: object)` instead."
)
nonisolated extension ObjectBase: Sendable {}

nonisolated extension ObjectBase: CustomStringConvertible {}

nonisolated extension ObjectBase {
    /// Where the column of a property lies, after the checks that every read makes: the isolation, the version, the leaf.
    ///
    /// Nil when one of them fails.
    @inlinable @inline(__always)
    final func knownColumn(_ key: UInt32) -> UnsafeMutablePointer<ColumnSlot>? {
        let state = tableState
        let slot = state.pointee.slots + Int(key)
        let generation = rowGeneration
        if _fastPath(
            (state.pointee.generation.pointee ^ generation) | (slot.pointee.generation ^ generation) == 0
                && slot.pointee.leaf == rowLeaf && state.pointee.place.pointee.isCaller
        ) {
            return slot
        }
        return nil
    }

    /// Where the column of a property lies, looked up again where that is necessary.
    @inlinable @inline(__always)
    final func column(_ key: UInt32) -> ColumnSlot {
        if let slot = knownColumn(key) { return slot.pointee }
        return locateColumn(key)
    }

    /// Reads a property that is stored as an integer.
    @inlinable @inline(__always)
    final func readInteger(_ key: UInt32) -> Int64 {
        if let slot = knownColumn(key) { return slot.pointee.integer(rowIndex) }
        return readIntegerSlowly(key)
    }
}
