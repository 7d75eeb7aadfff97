import RealmModel

/// What a persistable type looks like in the schema.
public struct _PropertyShape: Sendable {
    var kind: PropertyKind
    var collection: CollectionKind
    var isOptional: Bool
    var target: ObjectBase.Type?
    /// Whether the program sees values of a type of its own, made of what is stored.
    var isConverted = false

    init(
        _ kind: PropertyKind,
        collection: CollectionKind = .none,
        isOptional: Bool = false,
        target: ObjectBase.Type? = nil
    ) {
        self.kind = kind
        self.collection = collection
        self.isOptional = isOptional
        self.target = target
    }

    /// That of a collection of what has this one.
    func collected(in collection: CollectionKind) -> _PropertyShape {
        var shape = self
        shape.collection = collection
        return shape
    }

    /// Whether elements of this shape are read as those of another: they are objects of one class, or values of one kind.
    func hasElements(like other: _PropertyShape) -> Bool { kind == other.kind && target == other.target }

    /// The same, of which the program sees values of a type of its own.
    var converted: _PropertyShape {
        var shape = self
        shape.isConverted = true
        return shape
    }
}

/// A value on its way between the typed API and the row.
public struct _Stored {
    var value: StoredValue

    init(_ value: StoredValue) { self.value = value }
}

/// What a property marked `@Persisted` can hold.
///
/// Conform to `PersistableEnum` to add types of your own.
public protocol _Persistable: _HasPersistedType, SendableMetatype {
    static var _shape: _PropertyShape { get }
    /// The value that a property without a default of its own starts with.
    static func _defaultValue() -> Self
    /// Whether that is another value each time: an identifier, or the time.
    static var _isDefaultGenerated: Bool { get }
    /// A new default; nil when what is stored before a value was set is no value of the type.
    static func _generatedDefault() -> Self?
    /// The first value of an unmanaged property; on a recording instance, the value that records further steps.
    static func _initialValue(_ object: ObjectBase, _ key: UInt32) -> Self
    static var _isCollection: Bool { get }
    /// Reads the property of a managed object.
    static func _get(_ object: ObjectBase, _ key: UInt32) -> Self
    /// Writes the property of a managed object.
    static func _set(_ object: ObjectBase, _ key: UInt32, _ value: Self)
    /// Writes a value into a row.
    static func _store(_ value: Self, _ writer: _RowWriter)
    /// Replaces the contents of a collection.
    static func _assignContents(of value: Self, to own: Self)
    /// The value of a dynamically typed read or description.
    static func _boxed(_ value: Self) -> Any?
    /// Converts a dynamically typed value; nil when it does not fit.
    static func _unboxed(_ value: Any?) -> Self?

    // The wrapper in an object's memory; witnesses are specialised for each type, so that adding an object makes one
    // call per property and boxes nothing.
    static func _storeWrapper(at wrapper: UnsafeMutableRawPointer, _ writer: _RowWriter)
    static func _storedWrapper(at wrapper: UnsafeMutableRawPointer) -> _Stored
    /// The stored form of a dynamically typed primary key; nil when it does not fit.
    static func _storedKey(_ value: Any?) -> _Stored?
    static func _manageWrapper(at wrapper: UnsafeMutableRawPointer, of object: ObjectBase, key: UInt32)
    static func _resetWrapper(at wrapper: UnsafeMutableRawPointer, key: UInt32)
    static func _moveWrapper(at wrapper: UnsafeMutableRawPointer, of object: ObjectBase, key: UInt32)
    static func _wrapperFlags(at wrapper: UnsafeMutableRawPointer) -> UInt32
    static func _wrapperOrigin(at wrapper: UnsafeMutableRawPointer) -> String?
    static func _boxedWrapper(at wrapper: UnsafeMutableRawPointer, of object: ObjectBase) -> Any?
    static func _assignWrapper(at wrapper: UnsafeMutableRawPointer, of object: ObjectBase, _ value: Any?) -> Bool
    /// Writes a dynamically typed value into a row; false when it does not fit.
    static func _storeBoxed(_ value: Any?, _ writer: _RowWriter) -> Bool
    /// What tells sections with different keys apart; nil where Swift's equality does.
    static func _sectionKey(_ value: Self) -> _Stored?
    /// A key of sections as it is now: a list or dictionary in a value of any kind is a live one.
    static func _keptKey(_ value: Self) -> Self
    /// The stored form of a key that is or holds objects of a collection's file; nil for keys without any.
    static func _linkingKey(_ value: Self, of backing: _CollectionBacking) -> _Stored?
    /// The key with such a stored form in the realm of a collection; nil where that does not have the objects' classes.
    static func _key(linking stored: _Stored, in backing: _CollectionBacking) -> Self?
    /// Whether what is stored in a property of a managed object is a value of the type.
    static func _isReadable(_ object: ObjectBase, _ key: UInt32) -> Bool
}

extension _Persistable {
    /// Whether what is stored in a property of a managed object is a value of the type.
    public static func _isReadable(_ object: ObjectBase, _ key: UInt32) -> Bool { true }

    /// What tells sections with different keys apart; nil where Swift's equality does.
    public static func _sectionKey(_ value: Self) -> _Stored? { nil }
    /// A key of sections as it is now.
    public static func _keptKey(_ value: Self) -> Self { value }
    /// The stored form of a key that is or holds objects; nil, because it does not.
    public static func _linkingKey(_ value: Self, of backing: _CollectionBacking) -> _Stored? { nil }
    /// The key with such a stored form; nil, because there is none.
    public static func _key(linking stored: _Stored, in backing: _CollectionBacking) -> Self? { nil }

    /// Whether the property keeps a collection object.
    @inlinable @inline(__always)
    public static var _isCollection: Bool { false }

    /// Whether the default is another value each time.
    @inlinable @inline(__always)
    public static var _isDefaultGenerated: Bool { false }

    /// A new default.
    @inlinable @inline(__always)
    public static func _generatedDefault() -> Self? { _defaultValue() }

    /// The first value of an unmanaged property; on a recording instance, the value that records further steps.
    public static func _initialValue(_ object: ObjectBase, _ key: UInt32) -> Self {
        if key & PersistedKey.recording == PersistedKey.recording { PathRecorder.record(object, key) }
        return _defaultValue()
    }

    /// Writes the property of a managed object.
    public static func _set(_ object: ObjectBase, _ key: UInt32, _ value: Self) {
        guard let writer = object.writer(for: key) else { return }
        _store(value, writer)
        writer.finish()
    }

    /// Replaces the contents of a collection.
    public static func _assignContents(of value: Self, to own: Self) {}
    /// The value of a dynamically typed read.
    public static func _boxed(_ value: Self) -> Any? { value }
    /// Converts a dynamically typed value; nil when it does not fit.
    public static func _unboxed(_ value: Any?) -> Self? { value as? Self }

    /// Writes the value that a wrapper holds into a row.
    public static func _storeWrapper(at wrapper: UnsafeMutableRawPointer, _ writer: _RowWriter) {
        let pointer = wrapper.assumingMemoryBound(to: Persisted<Self>.self)
        if let value = pointer.pointee.value {
            _store(value, writer)
        } else {
            _store(_defaultValue(), writer)
        }
    }

    /// The stored form of the value that a wrapper holds.
    public static func _storedWrapper(at wrapper: UnsafeMutableRawPointer) -> _Stored { _Stored(.null) }
    /// The stored form of a dynamically typed primary key; nil when it does not fit.
    public static func _storedKey(_ value: Any?) -> _Stored? { nil }

    /// Makes the wrapper of an object that was just added read from its row.
    public static func _manageWrapper(at wrapper: UnsafeMutableRawPointer, of object: ObjectBase, key: UInt32) {
        wrapper.assumingMemoryBound(to: Persisted<Self>.self).pointee = Persisted(key: key, value: nil)
    }

    /// Drops what a wrapper holds and gives it a key.
    public static func _resetWrapper(at wrapper: UnsafeMutableRawPointer, key: UInt32) {
        wrapper.assumingMemoryBound(to: Persisted<Self>.self).pointee = Persisted(key: key, value: nil)
    }

    /// Drops what the wrapper of an accessor holds, which was pointed at another row, or makes it follow.
    public static func _moveWrapper(at wrapper: UnsafeMutableRawPointer, of object: ObjectBase, key: UInt32) {
        _resetWrapper(at: wrapper, key: key)
    }

    /// The flags of the declaration.
    public static func _wrapperFlags(at wrapper: UnsafeMutableRawPointer) -> UInt32 {
        wrapper.assumingMemoryBound(to: Persisted<Self>.self).pointee.key
    }

    /// The origin property of linking objects.
    public static func _wrapperOrigin(at wrapper: UnsafeMutableRawPointer) -> String? { nil }

    /// The value of a property as a dynamically typed one.
    public static func _boxedWrapper(at wrapper: UnsafeMutableRawPointer, of object: ObjectBase) -> Any? {
        let pointer = wrapper.assumingMemoryBound(to: Persisted<Self>.self)
        let key = pointer.pointee.key
        if let value = pointer.pointee.value { return _boxed(value) }
        if Int32(bitPattern: key) > 0 { return _boxed(_get(object, key)) }
        let value = _initialValue(object, key)
        // A recording instance never changes.
        if key & PersistedKey.recording != PersistedKey.recording { pointer.pointee.value = value }
        return _boxed(value)
    }

    /// Assigns a dynamically typed value to a property; false when it does not fit.
    public static func _assignWrapper(
        at wrapper: UnsafeMutableRawPointer,
        of object: ObjectBase,
        _ value: Any?
    ) -> Bool {
        guard let typed = _unboxed(value) else { return false }
        let pointer = wrapper.assumingMemoryBound(to: Persisted<Self>.self)
        let key = pointer.pointee.key
        if Int32(bitPattern: key) > 0 {
            _set(object, key, typed)
        } else {
            pointer.pointee.value = typed
            if _isDefaultGenerated { pointer.pointee.address = 0 }
        }
        return true
    }

    /// Writes a dynamically typed value into a row; false when it does not fit.
    public static func _storeBoxed(_ value: Any?, _ writer: _RowWriter) -> Bool {
        guard let typed = _unboxed(value) else { return false }
        _store(typed, writer)
        return true
    }
}

/// A type whose optional form can be persisted.
public protocol _PersistableInsideOptional: _HasPersistedType, SendableMetatype {
    static var _shapeInsideOptional: _PropertyShape { get }
    /// Reads an optional property of a managed object.
    static func _getOptional(_ object: ObjectBase, _ key: UInt32) -> Self?
    static func _storeOptional(_ value: Self?, _ writer: _RowWriter)
    static func _initialOptional(_ object: ObjectBase, _ key: UInt32) -> Self?
    static func _unboxedOptional(_ value: Any) -> Self?
    /// Converts a dynamically typed value for an optional property; nil when it does not fit, and a nil inside when it is nil there.
    static func _unboxedInsideOptional(_ value: Any) -> Self??
    static func _storeBoxedOptional(_ value: Any, _ writer: _RowWriter) -> Bool
    static func _boxedInsideOptional(_ value: Self) -> Any
    static func _storedOptional(at wrapper: UnsafeMutableRawPointer) -> _Stored
    static func _storedOptionalKey(_ value: Any) -> _Stored?
    static func _storeOptionalWrapper(at wrapper: UnsafeMutableRawPointer, _ writer: _RowWriter)
    /// What tells sections with different keys apart; nil where Swift's equality does.
    static func _sectionKeyInsideOptional(_ value: Self) -> _Stored?
}

extension _PersistableInsideOptional {
    /// What tells sections with different keys apart; nil where Swift's equality does.
    public static func _sectionKeyInsideOptional(_ value: Self) -> _Stored? { nil }
    /// The first value of an unmanaged optional property.
    public static func _initialOptional(_ object: ObjectBase, _ key: UInt32) -> Self? {
        if key & PersistedKey.recording == PersistedKey.recording { PathRecorder.record(object, key) }
        return nil
    }
    /// Converts a dynamically typed value for an optional property; nil when it does not fit.
    public static func _unboxedInsideOptional(_ value: Any) -> Self?? { _unboxedOptional(value).map { .some($0) } }
    /// The value of a dynamically typed read.
    public static func _boxedInsideOptional(_ value: Self) -> Any { value }
    /// The stored form of the value that the wrapper of an optional property holds.
    public static func _storedOptional(at wrapper: UnsafeMutableRawPointer) -> _Stored { _Stored(.null) }
    /// The stored form of a dynamically typed primary key; nil when it does not fit.
    public static func _storedOptionalKey(_ value: Any) -> _Stored? { nil }
    /// Writes the value that the wrapper of an optional property holds into a row.
    public static func _storeOptionalWrapper(at wrapper: UnsafeMutableRawPointer, _ writer: _RowWriter) {
        let value = wrapper.assumingMemoryBound(to: Persisted<Self?>.self).pointee.value
        if let value { _storeOptional(value, writer) } else { _storeOptional(nil, writer) }
    }
    /// Writes a dynamically typed value into a row; false when it does not fit.
    public static func _storeBoxedOptional(_ value: Any, _ writer: _RowWriter) -> Bool {
        guard let typed = _unboxedOptional(value) else { return false }
        _storeOptional(typed, writer)
        return true
    }
}

/// A value type that is stored in one column: numbers, strings, dates, identifiers and enums over them.
public protocol _Scalar: _Persistable, _PersistableInsideOptional, RealmCollectionValue, _CustomPersistedType {
    static func _stored(_ value: Self) -> _Stored
    /// Converts from the stored form; nil when it is null or no value of the type.
    static func _fromStored(_ stored: _Stored) -> Self?
}

extension _Scalar {
    /// What tells sections with different keys apart.
    public static func _sectionKey(_ value: Self) -> _Stored? { _stored(value) }
    /// What tells sections with different keys apart.
    public static func _sectionKeyInsideOptional(_ value: Self) -> _Stored? { _stored(value) }
    /// What the optional form looks like in the schema.
    public static var _shapeInsideOptional: _PropertyShape {
        var shape = _shape
        shape.isOptional = true
        return shape
    }
    /// Writes a value or null into a row.
    public static func _storeOptional(_ value: Self?, _ writer: _RowWriter) {
        if let value { _store(value, writer) } else { writer.setNull() }
    }
    /// Converts a dynamically typed value; nil when it does not fit.
    public static func _unboxedOptional(_ value: Any) -> Self? { _unboxed(value) }
    /// The stored form of the value that a wrapper holds.
    public static func _storedWrapper(at wrapper: UnsafeMutableRawPointer) -> _Stored {
        // The default is kept, so that a generated identifier is generated once.
        let pointer = wrapper.assumingMemoryBound(to: Persisted<Self>.self)
        if let value = pointer.pointee.value { return _stored(value) }
        let value = _defaultValue()
        pointer.pointee.value = value
        return _stored(value)
    }
    /// The stored form of a dynamically typed primary key; nil when it does not fit.
    public static func _storedKey(_ value: Any?) -> _Stored? { _unboxed(value).map { _stored($0) } }
    /// The stored form of a dynamically typed primary key; nil when it does not fit.
    public static func _storedOptionalKey(_ value: Any) -> _Stored? { _unboxed(value).map { _stored($0) } }
    /// The stored form of the value that the wrapper of an optional property holds.
    public static func _storedOptional(at wrapper: UnsafeMutableRawPointer) -> _Stored {
        let value = wrapper.assumingMemoryBound(to: Persisted<Self?>.self).pointee.value
        if let value, let value { return _stored(value) }
        return _Stored(.null)
    }
    /// Reads the property of a managed object.
    @inlinable
    public static func _get(_ object: ObjectBase, _ key: UInt32) -> Self {
        _getOptional(object, key) ?? _defaultValue()
    }
}

/// A type that `@Persisted(indexed:)` accepts.
public protocol _Indexable {}
/// A type that `@Persisted(primaryKey:)` accepts.
public protocol _PrimaryKey {}

extension Optional: _Persistable where Wrapped: _PersistableInsideOptional {
    /// What tells sections with different keys apart; nil where Swift's equality does.
    public static func _sectionKey(_ value: Self) -> _Stored? {
        guard let value else { return _Stored(.null) }
        return Wrapped._sectionKeyInsideOptional(value)
    }
    /// What the type looks like in the schema.
    public static var _shape: _PropertyShape { Wrapped._shapeInsideOptional }
    /// The value that a property without a default of its own starts with.
    public static func _defaultValue() -> Self { nil }
    /// The first value of an unmanaged property; on a recording instance, the value that records further steps.
    public static func _initialValue(_ object: ObjectBase, _ key: UInt32) -> Self {
        Wrapped._initialOptional(object, key)
    }
    /// Reads the property of a managed object.
    @inlinable @inline(__always)
    public static func _get(_ object: ObjectBase, _ key: UInt32) -> Self { Wrapped._getOptional(object, key) }
    /// Writes a value into a row.
    public static func _store(_ value: Self, _ writer: _RowWriter) { Wrapped._storeOptional(value, writer) }
    /// Writes the value that a wrapper holds into a row.
    public static func _storeWrapper(at wrapper: UnsafeMutableRawPointer, _ writer: _RowWriter) {
        Wrapped._storeOptionalWrapper(at: wrapper, writer)
    }
    /// The stored form of the value that a wrapper holds.
    public static func _storedWrapper(at wrapper: UnsafeMutableRawPointer) -> _Stored {
        Wrapped._storedOptional(at: wrapper)
    }
    /// The stored form of a dynamically typed primary key; nil when it does not fit.
    public static func _storedKey(_ value: Any?) -> _Stored? {
        guard let value, !ValueReader.isNull(value) else { return _Stored(.null) }
        return Wrapped._storedOptionalKey(value)
    }
    /// The value of a dynamically typed read.
    public static func _boxed(_ value: Self) -> Any? { value.map { Wrapped._boxedInsideOptional($0) } }
    /// Converts a dynamically typed value; nil when it does not fit.
    public static func _unboxed(_ value: Any?) -> Self? {
        guard let value, !ValueReader.isNull(value) else { return .some(nil) }
        return Wrapped._unboxedInsideOptional(value)
    }
    /// Writes a dynamically typed value into a row; false when it does not fit.
    public static func _storeBoxed(_ value: Any?, _ writer: _RowWriter) -> Bool {
        guard let value, !ValueReader.isNull(value) else {
            Wrapped._storeOptional(nil, writer)
            return true
        }
        return Wrapped._storeBoxedOptional(value, writer)
    }
}
extension Optional: _Indexable where Wrapped: _Indexable {}
extension Optional: _PrimaryKey where Wrapped: _PrimaryKey {}
