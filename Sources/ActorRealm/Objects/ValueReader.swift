import FoundationEssentials
import RealmModel

/// Reads dynamically typed values: the dictionaries, arrays and objects given to `init(value:)` and `create`.
enum ValueReader {
    /// Whether a value stands for null: nil at any depth, or Foundation's NSNull, which bridging code may leave behind.
    static func isNull(_ value: Any) -> Bool {
        if isPlain(value) { return false }
        if let optional = value as? any NilTestable { return optional.isNil }
        return isNullObject(value)
    }

    /// Whether the value is of one of the usual types, which need no search for nested optionals.
    static func isPlain(_ value: Any) -> Bool {
        let type = type(of: value)
        return isScalar(type) || type == [String: Any].self || type == [Any].self || type == Entries.self
    }

    /// Whether a type is one of the usual ones that hold nothing else.
    @inline(__always)
    static func isScalar(_ type: Any.Type) -> Bool {
        type == Int.self || type == String.self || type == Double.self || type == Bool.self || type == Date.self
    }

    /// Whether the value is Foundation's NSNull; names are compared last, for they are made.
    private static func isNullObject(_ value: Any) -> Bool {
        let type = type(of: value)
        guard type is AnyClass, !(type is ObjectBase.Type) else { return false }
        return String(describing: type) == "NSNull"
    }

    /// The model object that a value is; nil for all other values.
    ///
    /// Where Foundation is loaded, a plain cast of a dictionary, an array or a date to a class makes a Foundation object of
    /// it first, which costs more than everything else that is done with it.
    static func object(_ value: Any) -> ObjectBase? {
        if isPlain(value) { return nil }
        let type = type(of: value)
        if type is AnyClass || type == AnyHashable.self { return value as? ObjectBase }
        return (value as? any NilTestable)?.content.flatMap { object($0) }
    }

    /// Whether an object can be made of the value: whether it is a dictionary by property name, or an array.
    static func isComposite(_ value: Any) -> Bool {
        let type = type(of: value)
        return type == [String: Any].self || type == [Any].self || type == Entries.self || value is [String: Any?]
            || value is [Any?]
    }

    /// The class of the object that names and values were read from; nil for all other values.
    static func className(of value: Any) -> String? {
        guard type(of: value) == Entries.self, let entries = value as? Entries else { return nil }
        return entries.className
    }

    /// The value without the optional layers that `Any` may have swallowed.
    static func unwrap(_ value: Any?) -> Any? {
        guard let value else { return nil }
        if isPlain(value) { return value }
        guard let optional = value as? any NilTestable else {
            return isNullObject(value) ? nil : value
        }
        return unwrap(optional.content)
    }

    static func integer(_ value: Any?) -> Int64? {
        guard let value = unwrap(value) else { return nil }
        switch value {
        case let value as Int: return Int64(value)
        case is Bool: return nil
        case let value as any BinaryInteger: return Int64(exactly: value)
        case let value as Double: return Int64(exactly: value)
        case let value as Float: return Int64(exactly: value)
        default: return nil
        }
    }

    static func bool(_ value: Any?) -> Bool? {
        guard let value = unwrap(value) else { return nil }
        if let value = value as? Bool { return value }
        switch integer(value) {
        case 0: return false
        case 1: return true
        default: return nil
        }
    }

    static func double(_ value: Any?) -> Double? {
        guard let value = unwrap(value) else { return nil }
        switch value {
        case let value as Double: return value
        case let value as Float: return Double(value)
        default: return integer(value).map { Double($0) } ?? decimal(value)?.number.double
        }
    }

    static func float(_ value: Any?) -> Float? {
        guard let value = unwrap(value) else { return nil }
        switch value {
        case let value as Float: return value
        case let value as Double:
            let narrow = Float(value)
            // A value beyond the range of a Float would become infinite.
            return narrow.isInfinite && !value.isInfinite ? nil : narrow
        default:
            if let whole = integer(value) { return Float(whole) }
            guard let narrow = decimal(value)?.number.float, !narrow.isInfinite else { return nil }
            return narrow
        }
    }

    /// The number that Foundation's decimal is; nil for all other values.
    static func decimal(_ value: Any) -> Decimal128? { (value as? Decimal).map { Decimal128($0) } }

    /// The values that a dictionary, array or object gives to the properties of a class, by declared ordinal.
    ///
    /// - Returns: One entry per property: nil where nothing is given, `.some(nil)` where null is.
    static func values(of value: Any, for info: ModelClass) -> [Any??]? {
        var result = [Any??](repeating: nil, count: info.properties.count)
        if let object = object(value) {
            let source = object.modelClass
            for property in info.properties where !property.isComputed {
                if let other = source.property(property.name) {
                    if source.isDynamic { object.core?.migration?.reads(other, of: object) }
                    result[property.ordinal] = .some(other.value(in: object))
                }
            }
            return result
        }
        if let entries = value as? Entries {
            let dictionary = Dictionary(entries.entries.map { (TextKey($0.name), $0.value) }) { $1 }
            for property in info.properties where !property.isComputed {
                let given =
                    dictionary[TextKey(property.name)]
                    ?? info.otherName(of: property).flatMap { dictionary[TextKey($0)] }
                if let given {
                    result[property.ordinal] = .some(unwrap(given))
                }
            }
            return result
        }
        if type(of: value) == [String: Any].self, let dictionary = value as? [String: Any] {
            for property in info.properties where !property.isComputed {
                if let given = given(for: property, of: info, in: dictionary) {
                    result[property.ordinal] = .some(unwrap(given))
                }
            }
            return result
        }
        if type(of: value) != [Any].self, let dictionary = value as? [String: Any?] {
            for property in info.properties where !property.isComputed {
                if let given = given(for: property, of: info, in: dictionary) {
                    result[property.ordinal] = .some(unwrap(given))
                }
            }
            return result
        }
        if let array = anys(value) {
            let stored = info.properties.filter { !$0.isComputed }
            if array.count > stored.count {
                misuse(
                    "Invalid array input: more values (\(array.count)) than properties (\(stored.count))."
                )
            }
            for (property, given) in zip(stored, array) { result[property.ordinal] = .some(unwrap(given)) }
            return result
        }
        return nil
    }

    /// What a dictionary gives for a property, whose name it has byte by byte: in another spelling it is another name.
    private static func given<Value>(
        for property: ModelProperty,
        of info: ModelClass,
        in dictionary: [String: Value]
    ) -> Value? {
        func given(_ name: String) -> Value? {
            guard let place = dictionary.index(forKey: name), TextBytes.areEqual(dictionary[place].key, name) else {
                return nil
            }
            return dictionary[place].value
        }
        return given(property.name) ?? info.otherName(of: property).flatMap { given($0) }
    }

    /// The elements of an array, which may be optional.
    private static func anys(_ value: Any) -> [Any?]? {
        if type(of: value) == [Any].self, let array = value as? [Any] { return array.map { $0 } }
        return value as? [Any?]
    }

    /// The elements of a list or an array.
    static func elements(of value: Any) -> [Any?]? {
        if let array = anys(value) { return array.map { unwrap($0) } }
        guard let collection = value as? any RealmCollection else { return plainElements(of: value) }
        func boxed<Elements: RealmCollection>(_ elements: Elements) -> [Any?] {
            var result: [Any?] = []
            for element in elements { result.append(Elements.Element._boxedElement(element)) }
            return result
        }
        return boxed(collection)
    }

    /// Entries whose names may differ by their bytes only, which a dictionary would take for one.
    struct Entries {
        let entries: [(name: String, value: Any?)]
        /// The class of the object that they were read from; nil for those of a dictionary.
        let className: String?

        init(_ entries: [(name: String, value: Any?)], className: String? = nil) {
            self.entries = entries
            self.className = className
        }
    }

    /// The entries of a map or a dictionary.
    static func entries(of value: Any) -> [(name: String, value: Any?)]? {
        if let entries = value as? Entries { return entries.entries }
        if let dictionary = value as? [String: Any?] {
            return dictionary.map { (name: $0.key, value: unwrap($0.value)) }
        }
        guard let map = value as? any RealmKeyedCollection else { return nil }
        func boxed<Entries: RealmKeyedCollection>(_ map: Entries) -> [(name: String, value: Any?)] {
            map.keys.map { key in (Entries.Key._name(key), map[key].flatMap { Entries.Value._boxedElement($0) }) }
        }
        return boxed(map)
    }

    /// The elements of a value that is copied.
    ///
    /// Ends the process where there are none because what they belonged to is gone: stored, that would empty what is in their place.
    static func copiedElements(of value: Any) -> [Any?]? {
        guard let elements = elements(of: value) else { return nil }
        if elements.isEmpty { ElementSource.checkContents(of: value) }
        return elements
    }

    /// The same for the entries of a value.
    static func copiedEntries(of value: Any) -> [(name: String, value: Any?)]? {
        guard let entries = entries(of: value) else { return nil }
        if entries.isEmpty { ElementSource.checkContents(of: value) }
        return entries
    }

    /// Whether a value is taken as it is, also where it is a sequence: an object, or what a property holds and no list, set or map.
    static func isWhole(_ value: Any) -> Bool {
        object(value) != nil || value is any _Persistable && !(value is any ThreadConfined)
    }

    /// A value that may be read more than once: of a sequence in it that is no collection what it has, for it may have that once only.
    static func repeatable(_ value: Any?) -> Any? {
        guard let value = unwrap(value), holdsSequence(value) else { return value }
        if let dictionary = value as? [String: Any?] {
            let values: [String: Any?] = dictionary.mapValues { repeatable($0) }
            return values
        }
        guard let elements = copiedElements(of: value) else { return value }
        let values: [Any?] = elements.map { repeatable($0) }
        return values
    }

    /// Whether a value is a sequence that is no collection, or a dictionary or an array that holds one.
    private static func holdsSequence(_ value: Any) -> Bool {
        if isScalar(type(of: value)) || isWhole(value) { return false }
        func holds(_ element: Any?) -> Bool { element.map { holdsSequence($0) } ?? false }
        switch value {
        case let dictionary as [String: Any?]: return dictionary.values.contains { holds($0) }
        case let array as [Any?]: return array.contains { holds($0) }
        default: return value is any Sequence && !(value is any Collection)
        }
    }

    /// So many elements are taken of a sequence that makes them, such as a range: more are most likely a mistake, and may not fit into
    /// memory.
    static let elementLimit = 1_000_000

    /// The elements of a sequence of the standard library, such as a set or a lazily mapped list; nil where it makes more than
    /// ``elementLimit``.
    private static func plainElements(of value: Any) -> [Any?]? {
        if value is String || value is Data || value is [AnyHashable: Any] || value is any RealmKeyedCollection {
            return nil
        }
        guard let sequence = value as? any Sequence else { return nil }
        let limit = ElementSource.makesElements(value) ? elementLimit : Int.max
        func boxed<Elements: Sequence>(_ elements: Elements) -> [Any?]? {
            // No room is made before: who says how many there are may say anything.
            var result: [Any?] = []
            for element in elements {
                if result.count == limit { return nil }
                result.append(unwrap(element))
            }
            return result
        }
        return boxed(sequence)
    }

    /// Sets the properties of an object from a dictionary, an array or another object.
    static func assign(_ value: Any, to object: ObjectBase) {
        let info = object.modelClass
        guard let values = values(of: value, for: info) else {
            misuse(
                "Invalid value '\(InputCheck.text(of: value))' of type '\(type(of: value))' to initialize object of type '\(info.name)'. "
                    + "Give a dictionary by property name, an array in property order or an object."
            )
        }
        for property in info.properties {
            if let given = values[property.ordinal] { property.assign(given, to: object) }
        }
    }

    /// Makes an unmanaged object of a class from an object, a dictionary or an array; nil for anything else.
    static func makeObject(_ value: Any, of type: ObjectBase.Type) -> ObjectBase? {
        if let object = object(value) { return Swift.type(of: object) == type ? object : nil }
        guard isComposite(value) else { return nil }
        let object = type.init()
        assign(value, to: object)
        return object
    }
}

/// Lets an optional be looked into through `Any`.
private protocol NilTestable {
    var isNil: Bool { get }
    var content: Any? { get }
}

extension Optional: NilTestable {
    var isNil: Bool {
        guard case .some(let wrapped) = self else { return true }
        return (wrapped as? any NilTestable)?.isNil ?? false
    }
    var content: Any? { map { $0 as Any } }
}
