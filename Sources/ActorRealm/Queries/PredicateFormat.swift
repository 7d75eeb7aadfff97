import RealmModel
import RealmQuery

/// A predicate in the string language, parsed.
///
/// It is the form for text that comes from outside: what `filter(_:_:)` would trap on is thrown here.
///
/// ```swift
/// let predicate = try RealmPredicate(parsing: text)
/// let found = try realm.objects(Person.self).filter(predicate)
/// ```
public struct RealmPredicate: Sendable, CustomStringConvertible {
    let query: ParsedQuery
    /// The text that was parsed.
    public let format: String
    /// The file of the objects among the arguments; nil when there are none.
    let path: String?

    /// Parses a predicate; `%@` stands for the next argument, `%K` for a property name.
    ///
    /// The lists among the arguments have at most 100,000 values together. Collections of a realm are read here, whole.
    ///
    /// - Throws: `Realm.Error` with the code `.invalidInput` that says what is wrong and where, also for what belongs to another isolation.
    ///   For a collection among the arguments that cannot be read, such as one with a damaged page or of a deleted object, the error has
    ///   the code of what ``RealmCollection/requireReadable()`` of it throws, and says which argument it is.
    public init(parsing format: String, _ arguments: Any...) throws {
        self.format = format
        do {
            let arguments = try PredicateFormat.limited(arguments)
            query = try ParsedQuery.parse(format, arguments: PredicateFormat.values(arguments))
            path = try PredicateFormat.path(of: arguments)
        } catch let error as PredicateParseError {
            throw Realm.Error(.invalidInput, error.description)
        } catch let error as QueryError {
            throw Realm.Error(.invalidInput, error.description)
        }
    }

    /// The text that was parsed.
    public var description: String { format }
}

/// Turns the arguments of the string language into constants.
enum PredicateFormat {
    /// Parses for API that cannot throw.
    static func predicate(_ format: String, _ arguments: [Any], in core: RealmCore) -> Predicate {
        core.attempt(or: .constant(false)) { try Predicate.parse(format, arguments: try values(arguments, in: core)) }
    }

    /// Parses with the clauses behind the predicate, for API that cannot throw.
    static func query(_ format: String, _ arguments: [Any], in core: RealmCore) -> ParsedQuery {
        core.attempt(or: .nothing) {
            try ParsedQuery.parse(format, arguments: try values(arguments, in: core))
        }
    }

    static func values(_ arguments: [Any], in core: RealmCore? = nil) throws -> [PredicateValue] {
        // An array as the only argument of several place holders is not spread: it is one list.
        try arguments.enumerated()
            .map { index, argument in
                do {
                    return try value(argument, in: core)
                } catch var error as QueryError {
                    error.message += " It is argument \(index + 1)."
                    throw error
                }
            }
    }

    /// The arguments of a predicate from outside, with their lists as arrays, of which only as much is read as is allowed.
    static func limited(_ arguments: [Any]) throws -> [Any] {
        var room = PredicateLimits.argumentValueCount
        return try arguments.enumerated()
            .map { index, given in
                var argument = ValueReader.unwrap(given) ?? given
                if let any = argument as? AnyRealmValue, any.isCollection, let content = any.content {
                    argument = content
                }
                let source = ElementSource(of: argument)
                if let core = (source.elements as? any ThreadConfined)?.realm?.core, !core.isCurrent {
                    throw QueryError(
                        "Argument \(index + 1) belongs to a realm of another isolation: give a frozen copy of it."
                    )
                }
                do {
                    // What goes over the elements afterwards has no way to throw.
                    try source.requireArgument(first: room + 1)
                } catch let error as Realm.Error {
                    throw Realm.Error(
                        error.code,
                        "Argument \(index + 1): \(error.message)",
                        fileURL: error.fileURL,
                        underlyingError: error.underlyingError,
                        details: error.details
                    )
                }
                guard !ValueReader.isWhole(argument), let elements = ValueReader.elements(of: argument, limit: room + 1)
                else { return argument }
                guard elements.count <= room else {
                    throw QueryError(
                        "The lists of a predicate have more than \(PredicateLimits.argumentValueCount) values together. "
                            + "Those of argument \(index + 1) are too many."
                    )
                }
                room -= elements.count
                return elements
            }
    }

    /// The file of the managed objects among some arguments and the lists in them; nil when there are none.
    static func path(of arguments: [Any]) throws -> String? {
        var path: String?
        func note(_ value: Any?) throws {
            switch value {
            case is Int, is String, is Double: return
            default: break
            }
            guard let value = ValueReader.unwrap(value) else { return }
            let object = value as? ObjectBase ?? (value as? AnyRealmValue)?.content as? ObjectBase
            guard let found = object?.core?.coordinator.path else { return }
            if let path, path != found { throw QueryError("The objects of a predicate must be from one Realm.") }
            path = found
        }
        for argument in arguments {
            if let elements = argument as? [Any?] {
                for element in elements { try note(element) }
            } else {
                try note(argument)
            }
        }
        return path
    }

    /// The embedded object that a value is, or is stored as, unless it has a row; nil for all other values.
    static func embedded(_ argument: Any) -> EmbeddedObject? {
        guard let argument = ValueReader.unwrap(argument) else { return nil }
        if let object = ValueReader.object(argument) as? EmbeddedObject { return object.core == nil ? object : nil }
        guard let custom = argument as? any _CustomPersistable else { return nil }
        func persisted<Value: _CustomPersistable>(_ value: Value) -> EmbeddedObject? {
            value.persistableValue as? EmbeddedObject
        }
        return persisted(custom)
    }

    /// Says why a value that is stored as an embedded object is no constant.
    static func noIdentityMessage(of type: Any.Type) -> String {
        "A \(type) is stored as an embedded object, which has no identity to search for: compare with `==` or `!=`, "
            + "or its properties through `persistableValue`."
    }

    /// The constant of a value, or of a list of values; an element of a list is no list itself.
    static func value(_ argument: Any?, in core: RealmCore? = nil, isElement: Bool = false) throws -> PredicateValue {
        guard let argument else { return .null }
        // The usual types first: casts to protocols and the search for nested optionals are slow.
        let given = type(of: argument)
        if given == Int.self, let value = argument as? Int { return .int(Int64(value)) }
        if given == String.self, let value = argument as? String { return .string(value) }
        if let plain = ValueReader.foundationValue(argument, isExact: true) {
            return try value(plain, in: core, isElement: isElement)
        }
        switch argument {
        case let value as Int: return .int(Int64(value))
        case let value as String: return .string(value)
        case let value as Bool: return .bool(value)
        case let value as Double: return .double(value)
        default: break
        }
        guard let argument = ValueReader.unwrap(argument) else { return .null }
        if let object = ValueReader.object(argument) {
            guard let owner = object.core, let accessor = object.tableAccessor else {
                throw QueryError("Only managed objects can be compared in a query: add the object to a Realm first.")
            }
            if let core, owner.coordinator !== core.coordinator {
                throw QueryError("Object must be from the Realm being queried: it belongs to another file.")
            }
            return .object(className: accessor.info.name, key: object.rowKey)
        }
        switch argument {
        case let any as AnyRealmValue: return try value(any.content, in: core, isElement: isElement)
        case let scalar as any _Scalar:
            func stored<Value: _Scalar>(_ value: Value) throws -> PredicateValue {
                // There is no row to compare with.
                if Value._shape.kind == .object { throw QueryError(noIdentityMessage(of: Value.self)) }
                return PredicateValue(Value._stored(value).value)
            }
            return try stored(scalar)
        case let integer as any BinaryInteger:
            if let fitting = Int64(exactly: integer) { return .int(fitting) }
            // No Int is equal to it, but decimals, and values of any kind, may be.
            return .decimal(DecimalBytes(DecimalNumber(parsing: "\(integer)") ?? .notANumber))
        default: break
        }
        if let decimal = ValueReader.decimal(argument) { return .decimal(DecimalBytes(decimal.number)) }
        if isElement, argument is any Sequence {
            throw QueryError("A list in a list cannot be used in a query.")
        }
        if let elements = ValueReader.elements(of: argument) {
            return .list(try elements.map { try value($0, in: core, isElement: true) })
        }
        if ElementSource.makesElements(argument) {
            throw QueryError(
                "A range, or another sequence that makes its elements, has more than \(ValueReader.elementLimit) of them."
            )
        }
        if let sequence = argument as? any Sequence {
            func list<Elements: Sequence>(_ elements: Elements) throws -> PredicateValue {
                .list(try elements.map { try value($0, in: core, isElement: true) })
            }
            return try list(sequence)
        }
        throw QueryError("A value of the type '\(type(of: argument))' cannot be used in a query.")
    }
}

extension PredicateValue {
    /// The constant of a stored value other than a link.
    init(_ value: StoredValue) {
        switch value {
        case .null, .link, .anyLink: self = .null
        case .list(let values): self = .list(values.map { PredicateValue($0) })
        case .dictionary: self = .null
        case .decimal(let value): self = .decimal(value)
        case .int(let value): self = .int(value)
        case .bool(let value): self = .bool(value)
        case .float(let value): self = .float(value)
        case .double(let value): self = .double(value)
        case .string(let value): self = .string(value)
        case .data(let value): self = .data(value)
        case .date(let value): self = .date(value)
        case .objectId(let value): self = .objectId(value)
        case .uuid(let value): self = .uuid(value)
        }
    }
}
