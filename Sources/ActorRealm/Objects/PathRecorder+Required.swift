extension PathRecorder {
    /// The steps that a key path goes through, found without ending the process.
    ///
    /// Where nobody knows a value of a type on the way, for getters to return, one is taken from objects, or from what they lead to.
    ///
    /// - Parameters:
    ///   - path: The key path.
    ///   - type: The class that it begins in.
    ///   - objects: Objects of the class, which may be read.
    /// - Returns: The steps; none where the path leads to such a value, and no object leads to any.
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
        let unknown = unknownTypes(from: type)
        if unknown.isEmpty { return recordedSteps(of: path, in: type) }
        var search = ValueSearch(for: unknown)
        try search.look(in: objects())
        let valueType = ObjectIdentifier(unwrapped(Swift.type(of: path).valueType))
        if unknown.contains(where: { ObjectIdentifier($0) == valueType }), search.found[valueType] == nil {
            if let failure = search.failure { throw failure }
            return search.mayHaveMissed(valueType) ? nil : []
        }
        return recordedSteps(of: path, in: type, lent: search.found)
    }

    /// A type without the optionals around it.
    private static func unwrapped(_ type: Any.Type) -> Any.Type {
        func wrapped<Value: OptionalProtocol>(by type: Value.Type) -> Any.Type { Value.Wrapped.self }
        var type = type
        while let optional = type as? any OptionalProtocol.Type { type = wrapped(by: optional) }
        return type
    }
}

/// Looks in objects, and in what they lead to, for values of types of which nobody knows one.
private struct ValueSearch {
    /// So many objects are looked at.
    private static let limit = 100

    private let wanted: Set<ObjectIdentifier>
    /// The values, by their types.
    private(set) var found: [ObjectIdentifier: Any] = [:]
    /// What the first failed with that could not be read.
    private(set) var failure: (any Error)?
    private var objects: [ObjectBase] = []
    private var seen: Set<InputCheck.Identity> = []
    /// Whether there were more objects.
    private var isCut = false
    /// The types of which collections had no element.
    private var lacking: Set<ObjectIdentifier> = []

    init(for types: [any _CustomPersistable.Type]) { wanted = Set(types.map { ObjectIdentifier($0) }) }

    /// Whether a getter, or a position of a collection, may be met all the same that has a value of a type.
    func mayHaveMissed(_ type: ObjectIdentifier) -> Bool { isCut || lacking.contains(type) }

    /// - Throws: What keeps one of these objects from being read at all.
    mutating func look<Objects: Sequence>(in roots: Objects) throws where Objects.Element: ObjectBase {
        var next = 0
        for root in roots {
            try root.requireReadable()
            add(root)
            while next < objects.count, found.count < wanted.count {
                read(objects[next])
                next += 1
            }
            if isCut || found.count == wanted.count { return }
        }
    }

    private mutating func add(_ object: ObjectBase) {
        guard seen.insert(InputCheck.Identity(object)).inserted else { return }
        if objects.count < Self.limit { objects.append(object) } else { isCut = true }
    }

    private mutating func read(_ object: ObjectBase) {
        for property in object.modelClass.properties {
            do {
                if let type = property.ownElementType.map({ ObjectIdentifier($0) }) {
                    if wanted.contains(type), found[type] == nil { try readValue(of: property, in: object, type) }
                } else if property.shape.target != nil, !property.shape.isConverted {
                    try readObjects(of: property, in: object)
                }
            } catch {
                failure = failure ?? error
            }
        }
    }

    private mutating func readValue(
        of property: ModelProperty,
        in object: ObjectBase,
        _ type: ObjectIdentifier
    ) throws {
        try object.requireReadable(property)
        let value = property.value(in: object)
        guard let elements = value as? any RealmCollection else {
            found[type] = value
            return
        }
        found[type] = try elements.readableFirst()
        if found[type] == nil { lacking.insert(type) }
    }

    private mutating func readObjects(of property: ModelProperty, in object: ObjectBase) throws {
        try object.requireReadable(property)
        guard property.isCollection else {
            if let target = try object.linked(by: property) { add(target) }
            return
        }
        let value = property.value(in: object)
        if let collection = value as? any RealmCollection {
            for element in try collection.readableObjects(first: Self.limit + 1) { add(element) }
        } else if let map = value as? any BackedMap {
            for element in try map.readableObjects(first: Self.limit + 1) { add(element) }
        }
    }
}

extension RealmCollection {
    /// The first element, whose reading throws.
    fileprivate func readableFirst() throws -> Any? {
        _ = try readableElement(.first)
        for element in self { return element }
        return nil
    }

    /// The first objects, whose reading throws.
    fileprivate func readableObjects(first limit: Int) throws -> [ObjectBase] {
        try requireReadable()
        var objects: [ObjectBase] = []
        for element in self {
            if objects.count == limit { break }
            if let object = Element._elementKey(element)?.object { objects.append(object) }
        }
        return objects
    }
}

extension Map {
    /// The first objects, whose reading throws.
    func readableObjects(first limit: Int) throws -> [ObjectBase] {
        try requireReadable()
        return values.prefix(limit).compactMap { Value._elementKey($0)?.object }
    }
}
