/// What belongs to the isolation of a realm: objects, collections, results.
public protocol ThreadConfined: SendableMetatype {
    /// The realm that manages the value; nil while it is unmanaged.
    var realm: Realm? { get }
    /// Whether the object, or the owner of the collection, was deleted or its realm invalidated.
    var isInvalidated: Bool { get }
    /// Whether the value stands on one version for good and may be read anywhere.
    var isFrozen: Bool { get }
    /// The value as of the version that its realm stands on, immutable.
    ///
    /// - Precondition: The value is managed and has not been deleted, nor created in the write transaction that is
    ///   open: look at ``realm`` and ``isInvalidated``.
    func freeze() -> Self
    /// The live value in the realm of the current isolation; nil when it does not exist any more.
    ///
    /// A realm that stands on an older version than the frozen value moves on to the newest one.
    ///
    /// - Precondition: The value is managed: look at ``realm``. Its file can be read: `try Realm(configuration:)`
    ///   throws instead.
    func thaw() -> Self?

    /// The value as a description that does not belong to an isolation.
    var _reference: _ConfinedReference { get }
    /// The value that a description stands for in a realm.
    static func _resolve(_ reference: _ConfinedReference, in realm: Realm) -> Self?
}

/// What a confined value is, without its realm: enough to find it again at another version or in another isolation.
public struct _ConfinedReference: Sendable {
    enum Content: Sendable {
        case unmanaged
        case object(className: String, key: Int64)
        case collection(CollectionDescriptor)
        /// The realm itself.
        case realm
        /// Sectioned results with their rule, or one section of them.
        case sections(CollectionDescriptor, any Sendable, SectionKeyValue?)
        /// A property of a collection's objects.
        case projected(ProjectedResolver)
    }

    var content: Content

    init(_ content: Content) { self.content = content }

    /// The same, standing for an empty collection where the owner does not exist.
    var outlivingOwner: _ConfinedReference {
        switch content {
        case .collection(var descriptor):
            descriptor.outlivesOwner = true
            return _ConfinedReference(.collection(descriptor))
        case .sections(var descriptor, let rule, let section):
            descriptor.outlivesOwner = true
            return _ConfinedReference(.sections(descriptor, rule, section))
        case .projected(var resolver):
            resolver.outlivesOwner = true
            return _ConfinedReference(.projected(resolver))
        case .unmanaged, .object, .realm: return self
        }
    }
}

extension ThreadConfined {
    /// Freezes any confined value through its reference.
    func frozenThroughReference(_ what: String) -> Self {
        guard let realm else { misuse("Unmanaged \(what) cannot be frozen. Add them to a realm first.") }
        if isFrozen { return self }
        let isClosed = realm.isClosed
        if !isClosed, isInvalidated { misuse("Object has been deleted or invalidated: it cannot be frozen.") }
        if let found = frozenForm(of: realm, in: realm.freeze()) { return found.value }
        if isClosed { return self }
        misuse(
            "Cannot freeze an object in the same write transaction as it was created in. Commit the write first."
        )
    }

    /// The value in the frozen form of its realm, and what it is found by there; nil where that does not have it.
    ///
    /// In a realm that was closed, and for a query of what is gone, which is not invalidated, it is as empty there as it is here.
    func frozenForm(of realm: Realm, in frozen: Realm) -> (reference: _ConfinedReference, value: Self)? {
        let reference = _reference
        if !realm.isClosed {
            if let value = Self._resolve(reference, in: frozen) { return (reference, value) }
            // What is found here was made in the transaction that is open.
            if isInvalidated || Self._resolve(reference, in: realm) != nil { return nil }
        }
        let outliving = reference.outlivingOwner
        return Self._resolve(outliving, in: frozen).map { (outliving, $0) }
    }

    /// Thaws any confined value through its reference.
    func thawedThroughReference(_ what: String) -> Self? {
        guard let realm else { misuse("Unmanaged \(what) cannot be thawed. Add them to a realm first.") }
        if !isFrozen { return self }
        let live = realm.thaw()
        return live.isClosed ? nil : Self._resolve(_reference, in: live)
    }
}
