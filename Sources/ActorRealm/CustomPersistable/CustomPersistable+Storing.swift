import RealmModel

extension _CustomPersistable {
    /// What the type looks like in the schema.
    public static var _shape: _PropertyShape { PersistedType._customShape.converted }
    /// What the optional form looks like in the schema.
    public static var _shapeInsideOptional: _PropertyShape { PersistedType._shapeInsideOptional.converted }
    /// What an element looks like in the schema.
    public static var _elementShape: _PropertyShape { PersistedType._elementShape.converted }

    /// The value that a property without a default of its own starts with.
    public static func _defaultValue() -> Self { converted(PersistedType._customDefault()) }

    /// Whether the default is another value each time.
    public static var _isDefaultGenerated: Bool { PersistedType._isCustomDefaultGenerated }

    /// A new default; nil when what is stored before a value was set is no value of the type, which only matters to who
    /// reads it, or adds an object without a value.
    public static func _generatedDefault() -> Self? { _fromPersisted(PersistedType._customDefault()) }

    /// The first value of an unmanaged property; on a recording instance any value, at which nobody looks.
    public static func _initialValue(_ object: ObjectBase, _ key: UInt32) -> Self {
        guard key & PersistedKey.recording == PersistedKey.recording else { return _defaultValue() }
        PathRecorder.record(object, key)
        guard let value = _recordingElement() else {
            misuse(
                "A key path leads to '\(Self.self)' or through it, which has no value for the default of its stored type, and nobody knows "
                    + "another one. Declare a default of the property, or read it by its name."
            )
        }
        return value
    }

    /// What getters and collections of recording instances have; nil where nobody knows a value.
    public static func _recordingElement() -> Self? { _generatedDefault() ?? PathRecorder.knownValue(Self.self) }

    /// Writes the value that a wrapper holds into a row; an object that has none, nor a default, is refused.
    public static func _storeWrapper(at wrapper: UnsafeMutableRawPointer, _ writer: _RowWriter) {
        if let value = held(at: wrapper) ?? _generatedDefault() { return _store(value, writer) }
        guard let context = writer.context else { return _store(_defaultValue(), writer) }
        let info = writer.accessor.info
        context.refuse(info.properties[writer.declared].missingValueMessage(className: info.name))
    }

    /// The stored form of the value that a wrapper holds; null where it has none, nor the type a default.
    public static func _storedWrapper(at wrapper: UnsafeMutableRawPointer) -> _Stored {
        if let value = held(at: wrapper) { return _stored(value) }
        guard let value = _generatedDefault() else { return _Stored(.null) }
        // Kept, so that a generated identifier is generated once.
        wrapper.assumingMemoryBound(to: Persisted<Self>.self).pointee.value = value
        return _stored(value)
    }

    /// The value that a wrapper holds: one that was declared or assigned, or a default that was made.
    private static func held(at wrapper: UnsafeMutableRawPointer) -> Self? {
        wrapper.assumingMemoryBound(to: Persisted<Self>.self).pointee.value
    }

    /// The same as a dynamically typed value.
    static func value(at wrapper: UnsafeMutableRawPointer) -> Any? { held(at: wrapper) }

    /// Whether there is nothing to read in a wrapper.
    static func lacksValue(at wrapper: UnsafeMutableRawPointer) -> Bool {
        held(at: wrapper) == nil && _generatedDefault() == nil
    }

    /// A value of the type that is found by trying some of what it can be stored as; nil where none of that is one.
    static func triedValue() -> Self? {
        // Embedded objects are not made up.
        if PersistedType._customShape.kind == .object { return nil }
        let candidates: [any Sendable] = [1, -1, 2, 0.5, true, "a", "A", "1", "a@b.cd", "https://a.bc"]
        for candidate in candidates {
            if let persisted = PersistedType._unboxedOptional(candidate), let value = _fromPersisted(persisted) {
                return value
            }
        }
        return nil
    }

    /// Whether getters of recording instances have a value of the type.
    static var canBeRecorded: Bool { _recordingElement() != nil }

    private static func converted(_ persisted: PersistedType) -> Self {
        guard let value = _fromPersisted(persisted) else {
            misuse(
                "Failed to convert persisted value '\(persisted)' to type '\(Self.self)' in a non-optional context. "
                    + "Make the property optional to read such values as nil, or read it with `try object.value(of: \\.name)`, which "
                    + "throws."
            )
        }
        return value
    }

    /// Reads the property of a managed object.
    public static func _get(_ object: ObjectBase, _ key: UInt32) -> Self {
        let persisted = PersistedType._getOptional(object, key)
        if let persisted, let value = _fromPersisted(persisted) { return value }
        // Nothing is stored in a closed realm.
        if object.core?.isClosed ?? false { return _defaultValue() }
        if let persisted { return converted(persisted) }
        return PersistedType._isCustomReadable(object, key) ? _defaultValue() : _unreadable(object, key)
    }

    private static func _unreadable(_ object: ObjectBase, _ key: UInt32) -> Self {
        misuse(
            "The stored value of '\(object.propertyDescription(key))' is none of \(PersistedType.self), and cannot be converted to "
                + "\(Self.self). Make the property optional to read such values as nil, or read it with "
                + "`try object.value(of: \\.name)`, which throws."
        )
    }

    /// Whether what is stored can be converted.
    public static func _isReadable(_ object: ObjectBase, _ key: UInt32) -> Bool {
        PersistedType._isCustomReadable(object, key)
            && _fromPersisted(PersistedType._getOptional(object, key) ?? PersistedType._customDefault()) != nil
    }

    /// Reads an optional property of a managed object.
    public static func _getOptional(_ object: ObjectBase, _ key: UInt32) -> Self? {
        PersistedType._getOptional(object, key).flatMap { _fromPersisted($0) }
    }
    /// Writes a value into a row.
    public static func _store(_ value: Self, _ writer: _RowWriter) {
        PersistedType._storeOptional(value.persistableValue, writer)
    }
    /// Writes a value or null into a row.
    public static func _storeOptional(_ value: Self?, _ writer: _RowWriter) {
        PersistedType._storeOptional(value?.persistableValue, writer)
    }
    /// The stored form of a value.
    public static func _stored(_ value: Self) -> _Stored {
        guard let stored = PersistedType._customStored(value.persistableValue) else {
            misuse(PredicateFormat.noIdentityMessage(of: Self.self))
        }
        return stored
    }
    /// What tells sections with different keys apart; nil for values that are stored as embedded objects.
    public static func _sectionKey(_ value: Self) -> _Stored? { PersistedType._customStored(value.persistableValue) }
    /// What tells sections with different keys apart; nil for values that are stored as embedded objects.
    public static func _sectionKeyInsideOptional(_ value: Self) -> _Stored? { _sectionKey(value) }
    /// Converts from the stored form; nil when it is null or no value of the type.
    public static func _fromStored(_ stored: _Stored) -> Self? {
        PersistedType._customFromStored(stored).flatMap { _fromPersisted($0) }
    }
    /// Converts a dynamically typed value, of the type itself or as it is stored; nil when it does not fit.
    ///
    /// Null is the default where null can be stored for it.
    public static func _unboxed(_ value: Any?) -> Self? {
        guard let value = ValueReader.unwrap(value) else { return _shape.isOptional ? _generatedDefault() : nil }
        return value as? Self ?? PersistedType._unboxedOptional(value).flatMap { _fromPersisted($0) }
    }
    /// Converts a dynamically typed value for an optional property, which is nil when the type has no value for what is stored.
    public static func _unboxedInsideOptional(_ value: Any) -> Self?? {
        if let typed = value as? Self { return .some(typed) }
        return PersistedType._unboxedOptional(value).map { _fromPersisted($0) }
    }
    /// Writes a dynamically typed value into a row as it is stored, even where the type has no value for it; false when it does not
    /// fit.
    public static func _storeBoxed(_ value: Any?, _ writer: _RowWriter) -> Bool {
        guard let value = ValueReader.unwrap(value) else {
            guard _shape.isOptional else { return false }
            PersistedType._storeOptional(nil, writer)
            return true
        }
        return _storeBoxedOptional(value, writer)
    }
    /// Writes a dynamically typed value into a row as it is stored, even where the type has no value for it; false when it does not
    /// fit.
    public static func _storeBoxedOptional(_ value: Any, _ writer: _RowWriter) -> Bool {
        guard let typed = value as? Self else { return PersistedType._storeBoxedOptional(value, writer) }
        _store(typed, writer)
        return true
    }
    /// Converts a dynamically typed element; nil when it does not fit.
    public static func _unboxedElement(_ value: Any?) -> Self? { ValueReader.unwrap(value).flatMap { _unboxed($0) } }
    /// The stored form of a dynamically typed element, even where the type has no value for it; nil when it does not fit.
    public static func _encodeBoxedElement(_ value: Any?, _ writer: _RowWriter) -> _Stored? {
        guard let value = ValueReader.unwrap(value) else { return nil }
        guard let typed = value as? Self else { return PersistedType._encodeBoxedElement(value, writer) }
        return _encodeElement(typed, writer)
    }
    /// Makes an element from its stored form; nil for null, and where the type has no value for it.
    public static func _optionalElement(_ stored: _Stored, in backing: _CollectionBacking) -> Self? {
        guard !stored.value.isNull, PersistedType._isReadableElement(stored, in: backing) else { return nil }
        return _fromPersisted(PersistedType._element(stored, in: backing))
    }

    /// Whether the type has a value for a stored form.
    public static func _isReadableElement(_ stored: _Stored, in backing: _CollectionBacking) -> Bool {
        PersistedType._isReadableElement(stored, in: backing)
            && _fromPersisted(PersistedType._element(stored, in: backing)) != nil
    }
    /// Makes an element from its stored form.
    public static func _element(_ stored: _Stored, in backing: _CollectionBacking) -> Self {
        converted(PersistedType._element(stored, in: backing))
    }
    /// The stored form of an element that is there already.
    public static func _storedElement(_ value: Self, in backing: _CollectionBacking) -> _Stored? {
        PersistedType._storedElement(value.persistableValue, in: backing)
    }
    /// The stored form of an element; an embedded object is added.
    public static func _encodeElement(_ value: Self, _ writer: _RowWriter) -> _Stored? {
        PersistedType._encodeElement(value.persistableValue, writer)
    }
}

extension _CustomPersistable {
    /// Whether both are stored as the same.
    public static func == (left: Self, right: Self) -> Bool {
        PersistedType._customEqual(left.persistableValue, right.persistableValue)
    }
    /// Hashes what is stored.
    public func hash(into hasher: inout Hasher) { PersistedType._customHash(persistableValue, into: &hasher) }
}

/// A type of the program's own, or an optional one: it is a key or has an index where what is stored can be or have one.
public protocol _CustomStored {}

extension Optional: _CustomStored where Wrapped: _CustomPersistable {}

extension Persisted where Value: _CustomStored, Value.PersistedType: _PrimaryKey {
    /// Declares the primary key, which starts at its type's default.
    public init(primaryKey: Bool) { self.init(declared: primaryKey ? PersistedKey.primaryKey : 0) }

    /// Declares the primary key with a default value.
    public init(wrappedValue: @autoclosure () -> Value, primaryKey: Bool) {
        self.init(key: primaryKey ? PersistedKey.primaryKey : 0, value: wrappedValue())
    }
}

extension Persisted where Value: _CustomStored, Value.PersistedType: _Indexable {
    /// Declares a property with an index.
    public init(indexed: Bool) { self.init(declared: indexed ? PersistedKey.indexed : 0) }

    /// Declares a property with an index and a default value.
    public init(wrappedValue: @autoclosure () -> Value, indexed: Bool) {
        self.init(key: indexed ? PersistedKey.indexed : 0, value: wrappedValue())
    }

    /// Declares a property of which no two objects may have the same stored value, nil excepted; it has an index.
    public init(unique: Bool) { self.init(declared: unique ? PersistedKey.unique : 0) }

    /// Declares a property with an index, of which no two objects may have the same stored value where it is unique.
    public init(indexed: Bool, unique: Bool) {
        self.init(declared: unique ? PersistedKey.unique : indexed ? PersistedKey.indexed : 0)
    }

    /// Declares a property with a default value, of which no two objects may have the same stored value.
    public init(wrappedValue: @autoclosure () -> Value, unique: Bool) {
        self.init(key: unique ? PersistedKey.unique : 0, value: wrappedValue())
    }

    /// Declares a property with an index and a default value, of which no two objects may have the same stored value where
    /// it is unique.
    public init(wrappedValue: @autoclosure () -> Value, indexed: Bool, unique: Bool) {
        self.init(key: unique ? PersistedKey.unique : indexed ? PersistedKey.indexed : 0, value: wrappedValue())
    }
}
