import RealmModel

extension Realm {
    /// An object as of the version that the realm stands on, immutable: `object.freeze()`.
    ///
    /// - Precondition: The value is managed and has not been deleted, nor created in the write transaction that is
    ///   open: look at ``ThreadConfined/realm`` and ``ThreadConfined/isInvalidated``.
    public func freeze<T: ObjectBase>(_ obj: T) -> T { obj.freeze() }

    /// The live object of a frozen one in the realm of the current isolation; nil when it does not exist any more.
    ///
    /// - Precondition: The value is managed: look at ``ThreadConfined/realm``. Its file can be read: `try Realm(configuration:)`
    ///   throws instead.
    public func thaw<T: ObjectBase>(_ obj: T) -> T? { obj.thaw() }

    /// A collection as of the version that the realm stands on, immutable: `collection.freeze()`.
    ///
    /// - Precondition: The value is managed and has not been deleted, nor created in the write transaction that is
    ///   open: look at ``ThreadConfined/realm`` and ``ThreadConfined/isInvalidated``.
    public func freeze<Collection: RealmCollection>(_ collection: Collection) -> Collection { collection.freeze() }

    /// Whether no class of the realm has an object.
    public var isEmpty: Bool {
        core.checkAccess()
        return attempt { try core.model.isEmpty }
    }
}

/// The realm itself, as what may be frozen, thawed and referred to.
extension Realm: ThreadConfined {
    /// This realm.
    public var realm: Realm? { self }

    /// Whether the realm was closed.
    public var isInvalidated: Bool { isClosed }

    /// The live realm of a frozen one in the caller's isolation; a live realm is returned itself.
    ///
    /// - Precondition: The file can be opened here. `try Realm(configuration: frozen.configuration)` throws instead.
    @_disfavoredOverload
    public func thaw() -> Realm? { thawedInContext() }

    /// What a realm is, without its isolation: its file.
    public var _reference: _ConfinedReference { _ConfinedReference(.realm) }

    /// The realm itself: that of the isolation in which a reference is resolved.
    public static func _resolve(_ reference: _ConfinedReference, in realm: Realm) -> Realm? { realm }
}

extension ThreadSafeReference where Confined == Realm {
    /// Opens the realm of a reference in the caller's isolation, at the version of the reference at least.
    ///
    /// ```swift
    /// let reference = ThreadSafeReference(to: realm)
    /// queue.async { let realm = try? reference.resolve() }
    /// ```
    ///
    /// - Returns: the caller's actor's realm; outside every actor that of the queue or scheduler that the realm is open on,
    ///   or one for the current synchronous call.
    /// - Throws: `Realm.Error` when the realm cannot be opened here.
    /// - Precondition: The reference has not been resolved before.
    public func resolve(isolation: isolated (any Actor)? = #isolation) throws -> Realm {
        try opened(in: isolation.map { RealmIsolation($0) })
    }
}
