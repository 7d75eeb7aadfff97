import RealmModel
import RealmStorage

/// The class and the key of an object: a value that may be sent, stored and resolved any number of times.
///
/// Unlike a ``ThreadSafeReference`` it pins no version and works for as long as the file exists; keys are never used
/// again for other objects. It means something only together with its file.
///
/// Store it outside of the realm when its object is committed: where the transaction that made the object is rolled back, and the power is
/// cut before the next commit that changes the class, another object may get the key.
///
/// ```swift
/// let reference = ObjectReference(to: todo)
/// await worker.finish(reference)      // realm.resolve(reference)?.isDone = true
/// ```
public struct ObjectReference<Value: Object>: Sendable, Hashable, Codable {
    /// The name of the object's class in the schema.
    public let className: String
    /// The key of the object in its class.
    public let key: Int64

    private enum CodingKeys: String, CodingKey {
        case className = "class"
        case key
    }

    /// Refers to an object.
    ///
    /// - Precondition: The object is managed and has not been deleted.
    ///   Look at ``ThreadConfined/realm`` and ``ThreadConfined/isInvalidated``. ``init(className:key:)`` takes any key.
    public init(to object: Value) {
        guard object.realm != nil, case .object(let className, let key) = object._reference.content else {
            misuse("An unmanaged object cannot be referred to. Add it to a Realm first.")
        }
        // The key of an object of a closed realm is known, and good wherever the file is open.
        let isClosed = object.core?.isClosed ?? false
        if !isClosed, object.isInvalidated { misuse("Cannot construct reference to invalidated object.") }
        // A reference may outlive the process, and with it the transaction that makes the object.
        if !isClosed { object.tableAccessor?.table.spendRowKeys() }
        self.className = className
        self.key = key
    }

    /// Refers to an object by the key that a ``RealmChange`` told.
    public init(className: String = Value.className(), key: Int64) {
        self.className = className
        self.key = key
    }
}

extension Realm {
    /// The object of a reference, in this realm.
    ///
    /// When the object is not there, a realm that can move on looks again at the newest version.
    ///
    /// - Returns: nil when the object has been deleted, or the realm has no such class.
    public func resolve<Value>(_ reference: ObjectReference<Value>) -> Value? {
        core.checkAccess()
        if core.isClosed { return nil }
        let confined = _ConfinedReference(.object(className: reference.className, key: reference.key))
        if let object = Value._resolve(confined, in: self) { return object }
        core.catchUp(with: core.coordinator.file.newestVersionHere)
        return Value._resolve(confined, in: self)
    }
}
