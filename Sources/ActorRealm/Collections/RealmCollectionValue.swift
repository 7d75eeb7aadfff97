import RealmModel

/// What a collection can hold: numbers, strings, dates, identifiers, enums, optionals of these, and objects.
public protocol RealmCollectionValue: Hashable, _HasPersistedType, SendableMetatype {
    static var _elementShape: _PropertyShape { get }
    /// Makes an element from its stored form.
    static func _element(_ stored: _Stored, in backing: _CollectionBacking) -> Self
    /// Whether the type has a value for a stored form.
    static func _isReadableElement(_ stored: _Stored, in backing: _CollectionBacking) -> Bool
    /// The element at a position of a managed collection.
    static func _element(at index: Int, in backing: _CollectionBacking) -> Self
    /// The object of a managed collection with a row key.
    static func _element(forKey key: Int64, in backing: _CollectionBacking) -> Self
    /// Makes an element from its stored form, where a list or dictionary in it lies at the given step.
    static func _element(_ stored: _Stored, in backing: _CollectionBacking, step: _NestedStep) -> Self
    /// The stored form of an element; an unmanaged object is added. Nil after a failure of the writer's operation.
    static func _encodeElement(_ value: Self, _ writer: _RowWriter) -> _Stored?
    /// The stored form of an element that is there already; nil for an object of another realm or of none.
    static func _storedElement(_ value: Self, in backing: _CollectionBacking) -> _Stored?
    static func _unboxedElement(_ value: Any?) -> Self?
    static func _boxedElement(_ value: Self) -> Any?
    /// The stored form of a dynamically typed element; nil when it does not fit.
    static func _encodeBoxedElement(_ value: Any?, _ writer: _RowWriter) -> _Stored?
    /// The next element of an iteration.
    static func _next(_ cursor: _CollectionCursor) -> Self?
    /// The element of a recording instance's collection; nil where there is no value to be one.
    static func _recordingElement() -> Self?
    /// What tells the elements of an unmanaged set apart; nil where Swift's equality does.
    static func _setKey(_ value: Self) -> _Stored?
    /// The key that the element has in its collection's keys; nil for values.
    static func _elementKey(_ value: Self) -> (object: ObjectBase, key: Int64)?
}

extension RealmCollectionValue {
    /// What tells the elements of an unmanaged set apart; nil where Swift's equality does.
    public static func _setKey(_ value: Self) -> _Stored? { nil }
    /// Whether the type has a value for a stored form.
    public static func _isReadableElement(_ stored: _Stored, in backing: _CollectionBacking) -> Bool { true }
    /// The object of a managed collection with a row key.
    public static func _element(forKey key: Int64, in backing: _CollectionBacking) -> Self {
        _element(_Stored(.link(key)), in: backing)
    }
    /// The stored form of an element that is there already; nil for an object of another realm or of none.
    public static func _storedElement(_ value: Self, in backing: _CollectionBacking) -> _Stored? {
        guard let (object, key) = _elementKey(value), object.core === backing.core,
            object.tableAccessor === backing.elements
        else { return nil }
        return _Stored(.link(key))
    }
    /// Makes an element from its stored form.
    public static func _element(_ stored: _Stored, in backing: _CollectionBacking, step: _NestedStep) -> Self {
        _element(stored, in: backing)
    }
    /// The element at a position of a managed collection.
    public static func _element(at index: Int, in backing: _CollectionBacking) -> Self {
        _element(backing.stored(at: index), in: backing)
    }
    /// The element as a dynamically typed value.
    public static func _boxedElement(_ value: Self) -> Any? { value }
    /// The element of a recording instance's collection.
    public static func _recordingElement() -> Self? { nil }
    /// The object and its row key; nil for values.
    public static func _elementKey(_ value: Self) -> (object: ObjectBase, key: Int64)? { nil }
    /// The next element of an iteration.
    public static func _next(_ cursor: _CollectionCursor) -> Self? {
        guard let stored = cursor.nextValue() else { return nil }
        return _element(stored, in: cursor.backing)
    }
    /// The stored form of a dynamically typed element; nil when it does not fit.
    public static func _encodeBoxedElement(_ value: Any?, _ writer: _RowWriter) -> _Stored? {
        guard let typed = _unboxedElement(value) else { return nil }
        return _encodeElement(typed, writer)
    }
}

extension _Scalar {
    /// What tells the elements of an unmanaged set apart.
    public static func _setKey(_ value: Self) -> _Stored? { _sectionKey(value) }
    /// The stored form of an element.
    public static func _storedElement(_ value: Self, in backing: _CollectionBacking) -> _Stored? { _stored(value) }
    /// What an element looks like in the schema.
    public static var _elementShape: _PropertyShape { _shape }
    /// Whether the type has a value for a stored form.
    public static func _isReadableElement(_ stored: _Stored, in backing: _CollectionBacking) -> Bool {
        stored.value.isNull || _fromStored(stored) != nil
    }
    /// Makes an element from its stored form.
    public static func _element(_ stored: _Stored, in backing: _CollectionBacking) -> Self {
        if let element = _fromStored(stored) { return element }
        // Nothing is stored in a closed realm.
        if stored.value.isNull { return _defaultValue() }
        misuse(
            "The stored value \(stored.value.words) of a collection is none of \(Self.self). Make the elements optional to read "
                + "such values as nil, or call `try collection.requireReadable()` before, which throws."
        )
    }
    /// The stored form of an element; an unmanaged object is added.
    public static func _encodeElement(_ value: Self, _ writer: _RowWriter) -> _Stored? { _stored(value) }
    /// Converts a dynamically typed element; nil when it does not fit.
    public static func _unboxedElement(_ value: Any?) -> Self? { _unboxed(value) }
    /// The element of a recording instance's collection.
    public static func _recordingElement() -> Self? { _generatedDefault() }
}

/// A type whose optional form can be an element of a collection.
public protocol _RealmCollectionValueInsideOptional: RealmCollectionValue {
    static var _optionalElementShape: _PropertyShape { get }
    /// Makes an element from its stored form; nil for null.
    static func _optionalElement(_ stored: _Stored, in backing: _CollectionBacking) -> Self?
    /// Converts a dynamically typed element; nil when it does not fit, and a nil inside when it is nil there.
    static func _unboxedInOptional(_ value: Any) -> Self??
}

extension _RealmCollectionValueInsideOptional where Self: _Scalar {
    /// What an optional element looks like in the schema.
    public static var _optionalElementShape: _PropertyShape { _shapeInsideOptional }
    /// Makes an element from its stored form; nil for null.
    public static func _optionalElement(_ stored: _Stored, in backing: _CollectionBacking) -> Self? {
        _fromStored(stored)
    }
    /// Converts a dynamically typed element; nil when it does not fit.
    public static func _unboxedInOptional(_ value: Any) -> Self?? { _unboxedInsideOptional(value) }
}

extension Int: _RealmCollectionValueInsideOptional {}
extension Int8: _RealmCollectionValueInsideOptional {}
extension Int16: _RealmCollectionValueInsideOptional {}
extension Int32: _RealmCollectionValueInsideOptional {}
extension Int64: _RealmCollectionValueInsideOptional {}
extension Bool: _RealmCollectionValueInsideOptional {}
extension Float: _RealmCollectionValueInsideOptional {}
extension Double: _RealmCollectionValueInsideOptional {}
extension String: _RealmCollectionValueInsideOptional {}
extension ObjectId: _RealmCollectionValueInsideOptional {}

extension Optional: RealmCollectionValue where Wrapped: _RealmCollectionValueInsideOptional {
    /// What an element looks like in the schema.
    public static var _elementShape: _PropertyShape { Wrapped._optionalElementShape }
    /// Makes an element from its stored form.
    public static func _element(_ stored: _Stored, in backing: _CollectionBacking) -> Self {
        Wrapped._optionalElement(stored, in: backing)
    }
    /// The stored form of an element; an unmanaged object is added.
    public static func _encodeElement(_ value: Self, _ writer: _RowWriter) -> _Stored? {
        if let value { Wrapped._encodeElement(value, writer) } else { _Stored(.null) }
    }
    /// The stored form of an element that is there already; nil for an object of another realm or of none.
    public static func _storedElement(_ value: Self, in backing: _CollectionBacking) -> _Stored? {
        if let value { Wrapped._storedElement(value, in: backing) } else { _Stored(.null) }
    }
    /// What tells the elements of an unmanaged set apart; nil where Swift's equality does.
    public static func _setKey(_ value: Self) -> _Stored? {
        if let value { Wrapped._setKey(value) } else { _Stored(.null) }
    }
    /// The element as a dynamically typed value.
    public static func _boxedElement(_ value: Self) -> Any? { value.flatMap { Wrapped._boxedElement($0) } }
    /// Converts a dynamically typed element; nil when it does not fit.
    public static func _unboxedElement(_ value: Any?) -> Self? {
        guard let value, !ValueReader.isNull(value) else { return .some(nil) }
        return Wrapped._unboxedInOptional(value)
    }
    /// The stored form of a dynamically typed element; nil when it does not fit.
    public static func _encodeBoxedElement(_ value: Any?, _ writer: _RowWriter) -> _Stored? {
        guard let value, !ValueReader.isNull(value) else { return _Stored(.null) }
        return Wrapped._encodeBoxedElement(value, writer)
    }
    /// The element of a recording instance's collection.
    public static func _recordingElement() -> Self? { .some(Wrapped._recordingElement()) }
    /// The object and its row key; nil for values and for none.
    public static func _elementKey(_ value: Self) -> (object: ObjectBase, key: Int64)? {
        value.flatMap { Wrapped._elementKey($0) }
    }
}

extension ObjectBase: _RealmCollectionValueInsideOptional {}

extension _RealmCollectionValueInsideOptional where Self: ObjectBase {
    /// What an optional element looks like in the schema.
    public static var _optionalElementShape: _PropertyShape {
        _PropertyShape(.object, isOptional: true, target: Self.self)
    }

    /// Makes an element from its stored form; nil for null.
    public static func _optionalElement(_ stored: _Stored, in backing: _CollectionBacking) -> Self? {
        stored.value.isNull ? nil : _element(stored, in: backing)
    }

    /// Converts a dynamically typed element; nil when it does not fit.
    public static func _unboxedInOptional(_ value: Any) -> Self?? { _unboxedInsideOptional(value) }
}

extension RealmCollectionValue where Self: ObjectBase {
    /// The object of a managed collection with a row key.
    public static func _element(forKey key: Int64, in backing: _CollectionBacking) -> Self {
        unsafeDowncast(backing.object(forKey: key), to: Self.self)
    }

    /// The object at a position of a managed collection.
    public static func _element(at index: Int, in backing: _CollectionBacking) -> Self {
        unsafeDowncast(backing.object(at: index), to: Self.self)
    }

    /// What an element looks like in the schema.
    public static var _elementShape: _PropertyShape { _PropertyShape(.object, target: Self.self) }

    /// Makes an element from its stored form.
    public static func _element(_ stored: _Stored, in backing: _CollectionBacking) -> Self {
        guard case .link(let key) = stored.value else {
            return unsafeDowncast(backing.missingObject(), to: Self.self)
        }
        return unsafeDowncast(backing.object(forKey: key), to: Self.self)
    }

    /// The stored form of an element; an unmanaged object is added.
    public static func _encodeElement(_ value: Self, _ writer: _RowWriter) -> _Stored? {
        writer.adding { context in
            if value is EmbeddedObject, value.core != nil {
                context.refuse("Cannot add an existing managed embedded object to a List. Add a copy of it.")
                return nil
            }
            return context.linkKey(to: value, writer: writer).map { _Stored(.link($0)) }
        }
    }

    /// Converts a dynamically typed element; nil when it does not fit.
    public static func _unboxedElement(_ value: Any?) -> Self? { value.flatMap { Self._unboxedOptional($0) } }

    /// The stored form of a dynamically typed element; nil when it does not fit.
    public static func _encodeBoxedElement(_ value: Any?, _ writer: _RowWriter) -> _Stored? {
        guard let value else { return nil }
        if let context = writer.context as? CreateContext {
            return context.linkKey(forValue: value, of: Self.self, writer: writer).map { _Stored(.link($0)) }
        }
        guard let typed = _unboxedOptional(value) else { return nil }
        return _encodeElement(typed, writer)
    }

    /// The next element of an iteration.
    @inlinable
    public static func _next(_ cursor: _CollectionCursor) -> Self? {
        guard let object = cursor.nextObject() else { return nil }
        return unsafeDowncast(object, to: Self.self)
    }

    /// The element of a recording instance's collection.
    public static func _recordingElement() -> Self? {
        unsafeDowncast(PathRecorder.instance(of: Self.self), to: Self.self)
    }

    /// The object and its row key; nil for values.
    public static func _elementKey(_ value: Self) -> (object: ObjectBase, key: Int64)? { (value, value.rowKey) }
}

/// What `Realm.objects(_:)` returns results of.
public protocol RealmFetchable: RealmCollectionValue {
    /// The class whose objects are looked up.
    static var _fetchedType: ObjectBase.Type { get }
}
extension ObjectBase: RealmFetchable {
    /// The class whose objects are looked up.
    public static var _fetchedType: ObjectBase.Type { self }
}
