import RealmModel

extension PathRecorder {
    /// The steps that a key path goes through, found without ending the process.
    ///
    /// Where nobody knows a value of a type that may be on the way, for getters to return, one is taken from the objects, or from others of the file
    /// (``ValueSearch``).
    ///
    /// - Parameters:
    ///   - path: The key path.
    ///   - type: The class that it begins in.
    ///   - objects: Objects of the class, which may be read.
    /// - Returns: The steps; none where the path may lead to such a value, and there is none.
    /// - Throws: `invalidInput` for one that names no stored property, or goes through a position of a collection; what reading the objects
    ///   does where it takes one.
    static func requiredSteps<Root: ObjectBase, Objects: Sequence>(
        of path: PartialKeyPath<Root>,
        in type: Root.Type,
        readFrom objects: () throws -> Objects
    ) throws -> [PathStep] where Objects.Element == Root {
        guard let steps = try readSteps(of: path, in: type, readFrom: objects), !steps.contains(where: \.takesPosition)
        else { throw Realm.Error(.invalidInput, brokenMessage("\(path)")) }
        return steps
    }

    /// The same, with those through positions, and nil for one that names no stored property.
    static func readSteps<Root: ObjectBase, Objects: Sequence>(
        of path: PartialKeyPath<Root>,
        in type: Root.Type,
        readFrom objects: () throws -> Objects
    ) throws -> [PathStep]? where Objects.Element == Root {
        let unknown = unknownProperties(from: type)
        if unknown.isEmpty || leadsElsewhere(path, unknown) { return recordedSteps(of: path, in: type) }
        var search = ValueSearch(for: unknown)
        try search.look(in: objects())
        if search.isComplete { return recordedSteps(of: path, in: type, lent: search.found) }
        if let failure = search.failure { throw failure }
        return []
    }

    /// Whether a key path has one part, and leads to no type without a value: no getter is met then that has none to return.
    ///
    /// Where Swift does not know the name of a part, its text has the type in brackets instead.
    private static func leadsElsewhere(_ path: AnyKeyPath, _ unknown: [UnknownProperty]) -> Bool {
        let type = ObjectIdentifier(unwrapped(Swift.type(of: path).valueType))
        if unknown.contains(where: { ObjectIdentifier($0.valueType) == type }) { return false }
        var (depth, parts) = (0, 0)
        for byte in "\(path)".utf8 {
            switch byte {
            case UInt8(ascii: "<"), UInt8(ascii: "("): depth += 1
            case UInt8(ascii: ">"), UInt8(ascii: ")"): depth -= 1
            case UInt8(ascii: ".") where depth == 0: parts += 1
            default: break
            }
        }
        return parts == 1
    }

    /// A type without the optionals around it.
    private static func unwrapped(_ type: Any.Type) -> Any.Type {
        func wrapped<Value: OptionalProtocol>(by type: Value.Type) -> Any.Type { Value.Wrapped.self }
        var type = type
        while let optional = type as? any OptionalProtocol.Type { type = wrapped(by: optional) }
        return type
    }
}

/// Looks in objects for values of types of which nobody knows one.
private struct ValueSearch {
    /// So many objects are looked at, of those that are given and of each class.
    private static let limit = 100

    private let wanted: [PathRecorder.UnknownProperty]
    /// The values, by their types.
    private(set) var found: [ObjectIdentifier: Any] = [:]
    /// What the first failed with that could not be read.
    private(set) var failure: (any Error)?

    init(for properties: [PathRecorder.UnknownProperty]) { wanted = properties }

    /// Whether there is a value of each type.
    var isComplete: Bool { wanted.allSatisfy { found[ObjectIdentifier($0.valueType)] != nil } }

    /// Looks in some objects, and behind them in what the file has of each class.
    ///
    /// - Throws: What keeps one of these objects from being read at all.
    mutating func look<Objects: Sequence>(in objects: Objects) throws where Objects.Element: ObjectBase {
        var core: RealmCore?
        for object in objects.prefix(Self.limit) {
            try object.requireReadable()
            core = core ?? object.core
            for unknown in wanted where unknown.owner == type(of: object) {
                do { try read(unknown, of: object) } catch { failure = failure ?? error }
            }
            if isComplete { return }
        }
        guard let core else { return }
        for unknown in wanted where found[ObjectIdentifier(unknown.valueType)] == nil {
            do { try look(for: unknown, in: core) } catch { failure = failure ?? error }
        }
    }

    private mutating func look(for unknown: PathRecorder.UnknownProperty, in core: RealmCore) throws {
        let accessor = try core.readableAccessor(for: unknown.owner)
        for index in 0..<min(Self.limit, accessor.table.count) {
            guard let key = try accessor.table.key(at: index) else { return }
            do { try read(unknown, of: accessor.makeObject(key: key)) } catch { failure = failure ?? error }
            if found[ObjectIdentifier(unknown.valueType)] != nil { return }
        }
    }

    private mutating func read(_ unknown: PathRecorder.UnknownProperty, of object: ObjectBase) throws {
        let type = ObjectIdentifier(unknown.valueType)
        if found[type] != nil { return }
        try object.requireReadable(unknown.property)
        let value = unknown.property.value(in: object)
        let one: Any? =
            if let elements = value as? any RealmCollection {
                try elements.readableFirst()
            } else if let map = value as? any BackedMap {
                try map.readableFirst()
            } else {
                value
            }
        guard let one = ValueReader.unwrap(one) else { return }
        found[type] = one
        unknown.valueType.keep(one)
    }
}

extension RealmCollection {
    /// The first element, whose reading throws.
    fileprivate func readableFirst() throws -> Any? {
        _ = try readableElement(.first)
        for element in self { return element }
        return nil
    }
}

extension Map {
    /// A value, whose reading throws.
    func readableFirst() throws -> Any? {
        try requireReadable()
        return values.first
    }
}
