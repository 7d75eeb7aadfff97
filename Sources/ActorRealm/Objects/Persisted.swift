/// Declares that a property of a model class is stored in the realm.
///
/// ```swift
/// class Todo: Object {
///     @Persisted(primaryKey: true) var id: ObjectId
///     @Persisted(indexed: true) var owner: String
///     @Persisted(unique: true) var number: Int
///     @Persisted(onDelete: .cascade) var steps: List<Step>
///     @Persisted var done = false
///     @Persisted var tags: List<String>
/// }
/// ```
/// While the object is unmanaged the wrapper holds the value; once it is managed the wrapper holds the property's key
/// and reads and writes go to the row.
///
/// - Precondition: The object exists, and to be assigned a write transaction is open: look at ``ThreadConfined/isInvalidated`` and
///   ``Realm/isInWriteTransaction``. ``ObservableModel/value(of:)`` and ``ObjectBase/setValues(_:ignoringUnknownKeys:)`` throw instead.
@propertyWrapper
public struct Persisted<Value: _Persistable> {
    /// Positive: managed, with the ordinal + 1 in the low bits and a part of the owner's address above them; 0 or
    /// negative: unmanaged, with the declaration's flags.
    @usableFromInline var word: UInt32
    /// The rest of the owner's address, see `owner`; of an unmanaged wrapper, whether its value is a generated default.
    @usableFromInline var address: UInt32
    /// The unmanaged value, or the collection object of a managed one.
    @usableFromInline var value: Value?

    @inlinable
    init(key: UInt32, value: Value?) {
        word = key
        address = 0
        self.value = value
    }

    /// Positive: the managed property's ordinal + 1; 0 or negative: unmanaged, with the declaration's flags.
    @usableFromInline var key: UInt32 {
        get { Int32(bitPattern: word) > 0 ? word & PersistedKey.ordinalMask : word }
        set { word = newValue }
    }

    /// The object that the managed wrapper is a part of, where its class wants its wrappers to know; see `OwnerAddress`.
    var owner: ObjectBase? { OwnerAddress.object(word, address) }

    /// Declares a property that starts at its type's default.
    @inlinable @inline(__always)
    public init() { self.init(declared: 0) }

    /// Declares a property without a default value of its own.
    ///
    /// A default that is another one each time it is asked for is made at once, so that all who read it get the same.
    @inlinable @inline(__always)
    init(declared key: UInt32) {
        self.init(key: key, value: Value._isDefaultGenerated ? Value._generatedDefault() : nil)
        if Value._isDefaultGenerated { address = PersistedKey.generated }
    }

    /// Declares a property with a default value.
    @inlinable @inline(__always)
    public init(wrappedValue: @autoclosure () -> Value) {
        self.init(key: 0, value: wrappedValue())
    }

    /// Not available: the value of a wrapper is reached through the object that contains it.
    @available(
        *,
        unavailable,
        message: "`@Persisted` can only be used as a property of an `Object` or `EmbeddedObject` class"
    )
    public var wrappedValue: Value {
        // The compiler rejects every call; the accessors must exist for the wrapper to be one.
        get { fatalError("unavailable") }
        set { fatalError("unavailable") }
    }

    /// Reads and writes the property of an object.
    @inlinable
    public static subscript<Enclosing: ObjectBase>(
        _enclosingInstance object: Enclosing,
        wrapped wrappedKeyPath: ReferenceWritableKeyPath<Enclosing, Value>,
        storage storageKeyPath: ReferenceWritableKeyPath<Enclosing, Self>
    ) -> Value {
        @inline(__always) get {
            let word = object[keyPath: storageKeyPath].word
            let key = word & PersistedKey.ordinalMask
            if _fastPath(Int32(bitPattern: word) > 0) {
                if !Value._isCollection { return Value._get(object, key) }
                if let cached = object[keyPath: storageKeyPath].value { return cached }
                let collection = Value._get(object, key)
                if object.cachesCollections { object[keyPath: storageKeyPath].value = collection }
                return collection
            }
            if let value = object[keyPath: storageKeyPath].value { return value }
            let value = Value._initialValue(object, word)
            if word & PersistedKey.recording != PersistedKey.recording { object[keyPath: storageKeyPath].value = value }
            return value
        }
        @inline(__always) set {
            let word = object[keyPath: storageKeyPath].word
            let key = word & PersistedKey.ordinalMask
            if Value._isCollection {
                // Assigning a collection copies its elements: the property keeps its own collection object.
                if let own = object[keyPath: storageKeyPath].value {
                    Value._assignContents(of: newValue, to: own)
                } else if Int32(bitPattern: word) > 0 {
                    Value._assignContents(of: newValue, to: Value._get(object, key))
                } else {
                    let own = Value._initialValue(object, word)
                    object[keyPath: storageKeyPath].value = own
                    Value._assignContents(of: newValue, to: own)
                }
            } else if Int32(bitPattern: word) > 0 {
                Value._set(object, key, newValue)
            } else {
                object[keyPath: storageKeyPath].value = newValue
                if Value._isDefaultGenerated { object[keyPath: storageKeyPath].address = 0 }
            }
        }
    }
}

/// The flags in the key of an unmanaged wrapper.
@usableFromInline
enum PersistedKey {
    /// Marks the property as the primary key.
    @usableFromInline static var primaryKey: UInt32 { 0x8000_0001 }
    /// Marks the property as indexed.
    @usableFromInline static var indexed: UInt32 { 0x8000_0002 }
    /// Marks the property as indexed and unique.
    @usableFromInline static var unique: UInt32 { 0x8000_0006 }
    /// Marks the objects that the property links to as deleted with its own.
    @usableFromInline static var cascade: UInt32 { 0x8000_0008 }
    /// Marks the objects that the property links to as in the way of deleting its own.
    @usableFromInline static var deny: UInt32 { 0x8000_0010 }
    /// The wrapper belongs to a recording instance; the low bits hold the ordinal + 1.
    @usableFromInline static var recording: UInt32 { 0xC000_0000 }
    /// In the other word of an unmanaged wrapper: nobody declared or assigned its value.
    @usableFromInline static var generated: UInt32 { 1 }
    /// The bits of a managed wrapper's key that hold the ordinal + 1.
    @usableFromInline static var ordinalMask: UInt32 { 0xFFFF }
}

extension Persisted where Value: _PrimaryKey {
    /// Declares the primary key, which starts at its type's default.
    @inlinable @inline(__always)
    public init(primaryKey: Bool) { self.init(declared: primaryKey ? PersistedKey.primaryKey : 0) }

    /// Declares the primary key with a default value.
    @inlinable @inline(__always)
    public init(wrappedValue: @autoclosure () -> Value, primaryKey: Bool) {
        self.init(key: primaryKey ? PersistedKey.primaryKey : 0, value: wrappedValue())
    }
}

extension Persisted where Value: _Indexable {
    /// Declares a property with an index.
    @inlinable @inline(__always)
    public init(indexed: Bool) { self.init(declared: indexed ? PersistedKey.indexed : 0) }

    /// Declares a property with an index and a default value.
    @inlinable @inline(__always)
    public init(wrappedValue: @autoclosure () -> Value, indexed: Bool) {
        self.init(key: indexed ? PersistedKey.indexed : 0, value: wrappedValue())
    }
}

extension Persisted where Value: _Indexable {
    /// Declares a property of which no two objects may have the same value, nil excepted; it has an index.
    ///
    /// Adding an object with a value that another one has traps, as with a primary key; ``Realm/insert(_:)`` throws. What
    /// is assigned to an object that is there already is checked when the transaction commits, which throws then, so that
    /// two objects can exchange their values.
    @inlinable @inline(__always)
    public init(unique: Bool) { self.init(declared: unique ? PersistedKey.unique : 0) }

    /// Declares a property with an index, of which no two objects may have the same value where it is unique.
    @inlinable @inline(__always)
    public init(indexed: Bool, unique: Bool) {
        self.init(declared: unique ? PersistedKey.unique : indexed ? PersistedKey.indexed : 0)
    }

    /// Declares a property with a default value, of which no two objects may have the same value.
    @inlinable @inline(__always)
    public init(wrappedValue: @autoclosure () -> Value, unique: Bool) {
        self.init(key: unique ? PersistedKey.unique : 0, value: wrappedValue())
    }

    /// Declares a property with an index and a default value, of which no two objects may have the same value where it is
    /// unique.
    @inlinable @inline(__always)
    public init(wrappedValue: @autoclosure () -> Value, indexed: Bool, unique: Bool) {
        self.init(key: unique ? PersistedKey.unique : indexed ? PersistedKey.indexed : 0, value: wrappedValue())
    }
}

extension Persisted where Value: _HasDeleteRule {
    /// Declares links and what becomes of the linked objects when the object that has the property is deleted.
    public init(onDelete rule: DeleteRule) {
        switch rule {
        case .nullify: self.init(declared: 0)
        case .cascade: self.init(declared: PersistedKey.cascade)
        case .deny: self.init(declared: PersistedKey.deny)
        }
    }
}

extension Persisted where Value: LinkingObjectsProtocol {
    /// Declares the objects that link to this one through their property of that name.
    public init(originProperty: String) {
        self.init(key: 0, value: Value(originProperty: originProperty))
    }
}

@available(
    *,
    unavailable,
    message: "A property belongs to its object: send its value, or `ThreadSafeReference(to: object)`."
)
extension Persisted: Sendable {}
