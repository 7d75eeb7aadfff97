import RealmModel

nonisolated extension ObjectBase: Hashable {
    /// Whether two objects are one: of a class with a primary key, or frozen, when they are accessors of one row of one
    /// realm; otherwise when they are one instance.
    public static func == (left: ObjectBase, right: ObjectBase) -> Bool {
        if left === right { return true }
        guard let core = left.core, right.core === core, left.rowKey == right.rowKey,
            left.tableAccessor.unsafelyUnwrapped.table === right.tableAccessor.unsafelyUnwrapped.table
        else { return false }
        return core.isFrozen || left.tableAccessor.unsafelyUnwrapped.info.primaryKey != nil
    }

    /// Hashes what `==` compares.
    public func hash(into hasher: inout Hasher) {
        if let core, let tableAccessor, core.isFrozen || tableAccessor.info.primaryKey != nil {
            hasher.combine(rowKey)
            hasher.combine(tableAccessor.table.id)
        } else {
            hasher.combine(ObjectIdentifier(self))
        }
    }

    /// Whether both are accessors of the same row of the same realm, or the same unmanaged instance.
    public final func isSameObject(as object: ObjectBase?) -> Bool {
        guard let object else { return false }
        if self === object { return true }
        guard let core, core === object.core, rowKey == object.rowKey else { return false }
        return tableAccessor.unsafelyUnwrapped.table === object.tableAccessor.unsafelyUnwrapped.table
    }

    /// The realm that the object lives in; nil while it is unmanaged.
    public final var realm: Realm? { core?.realm() }

    /// Whether the object was deleted, or its realm invalidated.
    ///
    /// Where damage keeps that from being known it is false, and whoever reads the object meets the damage: `value(of:)` and
    /// ``requireReadable()`` throw it.
    public final var isInvalidated: Bool {
        guard let core, let tableAccessor else { return false }
        if core.isInvalidated { return true }
        core.checkAccess()
        if rowGeneration == tableAccessor.state.pointee.generation.pointee { return false }
        return !tableAccessor.mayHave(rowKey)
    }

    /// Whether the object stands on one version for good and may be read anywhere.
    public final var isFrozen: Bool { core?.isFrozen ?? false }

    /// The properties of the object's class.
    public final var objectSchema: ObjectSchema { ObjectSchema(modelClass) }

    /// What the object is, without its realm.
    public final var _reference: _ConfinedReference {
        guard core != nil, let tableAccessor else { return _ConfinedReference(.unmanaged) }
        return _ConfinedReference(.object(className: tableAccessor.info.name, key: rowKey))
    }
}

nonisolated extension ObjectBase: ThreadConfined {}

extension ThreadConfined where Self: ObjectBase {
    /// The object as of the version that its realm stands on, immutable.
    ///
    /// - Precondition: The value is managed and has not been deleted, nor created in the write transaction that is
    ///   open: look at ``ThreadConfined/realm`` and ``ThreadConfined/isInvalidated``.
    public func freeze() -> Self { frozenThroughReference("objects") }
    /// The live object of a frozen one in the realm of the current isolation; nil when it does not exist any more.
    ///
    /// - Precondition: The value is managed: look at ``ThreadConfined/realm``. Its file can be read: `try
    ///   Realm(configuration:)` throws instead.
    public func thaw() -> Self? { thawedThroughReference("objects") }

    /// The value that a description stands for in a realm.
    public static func _resolve(_ reference: _ConfinedReference, in realm: Realm) -> Self? {
        guard case .object(let className, let key) = reference.content,
            let accessor = realm.core.accessor(className: className, isDynamic: Self.self == DynamicObject.self),
            realm.core.isClosed || accessor.mayHave(key)
        else { return nil }
        return accessor.makeObject(key: key) as? Self
    }
}

/// Gives objects an identity that is stable across accessors.
///
/// ```swift
/// class Person: Object, ObjectKeyIdentifiable { … }
/// ```
public protocol ObjectKeyIdentifiable: Identifiable {
    /// The identity.
    var id: UInt64 { get }
}

extension ObjectKeyIdentifiable where Self: ObjectBase {
    /// The row of a managed object, the address of an unmanaged one.
    public var id: UInt64 {
        guard core != nil, let tableAccessor else { return UInt64(UInt(bitPattern: ObjectIdentifier(self).hashValue)) }
        return UInt64(tableAccessor.table.id) << 48 ^ UInt64(bitPattern: rowKey)
    }
}
