import RealmModel
import RealmQuery
import RealmStorage

/// Reading what a collection holds so that damage, and what has ended meanwhile, is an error.
extension _CollectionBacking {
    /// Reads all elements, and some properties of each, by names that may lead across links.
    ///
    /// What was read is kept for the version that the realm stands on, and no later read of it meets a page for the first time.
    ///
    /// - Parameters:
    ///   - paths: Paths of properties, as key paths say them.
    ///   - limit: Of objects, only the first so many are looked at.
    ///   - readsParts: Whether embedded objects of which the program makes the elements are read whole before.
    ///   - isReadable: Whether the type of the elements has a stored value.
    /// - Throws: `Realm.Error`.
    func requireReadable(
        _ paths: [[PathStep]],
        first limit: Int = .max,
        readsParts: Bool = true,
        _ isReadable: (_Stored) -> Bool
    ) throws {
        if isEmptied { return }
        try core.requireReading()
        if core.isClosed { return }
        try throwingRealmErrors {
            try requireOwner()
            if elements == nil { return try requireValues(isReadable) }
            try requireObjects(paths, first: limit, readsParts, isReadable)
        }
    }

    /// As ``requireReadable(_:first:readsParts:_:)`` for whoever counts the elements and goes over the first of them.
    func requireFirst(_ limit: Int, _ isReadable: (_Stored) -> Bool) throws {
        try requireReadable([], first: limit, isReadable)
        if isEmptied || core.isClosed { return }
        guard isWholeTable, let elements else { return }
        try throwingRealmErrors { try elements.table.requireCounts() }
    }

    /// Throws a `Realm.Error` for what a function throws.
    func throwingRealmErrors<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as StorageError {
            throw Realm.Error(storage: error, path: core.coordinator.path)
        } catch let error as ModelError {
            throw Realm.Error(model: error, fileURL: core.configuration.fileURL)
        } catch let error as QueryError {
            throw core.error(.invalidInput, error.description)
        }
    }

    /// Throws where a property that is asked for is gone, and where the object is that the elements belong to, unless they are to be none
    /// then.
    func requireOwner() throws {
        if let misfit { throw misfit }
        if outlivesOwner { return }
        let owner: (accessor: TableAccessor, key: Int64)
        switch source {
        case .table: return
        case .list(let accessor, let key, _), .backlinks(let accessor, let key, _): owner = (accessor, key)
        case .nested(let accessor, let key, let property, let path, let isMap):
            owner = (accessor, key)
            if try accessor.table.hasNested(property, key: key, path, isMap: isMap) { return }
        }
        if case .nested = source {} else if try owner.accessor.locate(owner.key) != nil { return }
        throw core.error(
            .invalidatedObject,
            "The collection is no longer valid: its object has been deleted or invalidated."
        )
    }

    private func requireValues(_ isReadable: (_Stored) -> Bool) throws {
        let values = try withCache { cache in
            if let values = cache.values { return values }
            let values = try freshValues()
            cache.values = values
            return values
        }
        for value in values { try requireValue(value, isReadable) }
    }

    /// Throws where the type of the elements does not have a value.
    func requireValue(_ value: StoredValue, _ isReadable: (_Stored) -> Bool) throws {
        if isReadable(_Stored(value)) { return }
        throw core.error(
            .invalidInput,
            "The stored value \(value.words) of a collection is none of its type. Make the elements optional to read such "
                + "values as nil."
        )
    }

    /// The keys of the objects, which are kept.
    func readKeys() throws -> [Int64] {
        try withCache { cache in
            if let keys = cache.keys { return keys }
            if cache.order == nil { cache.keys = try freshKeys() }
            return cache.keys ?? cache.order?.array() ?? []
        }
    }

    /// Throws where an object cannot be read, or what the program makes of it.
    func requireObject(
        _ key: Int64,
        of elements: TableAccessor,
        readsParts: Bool = true,
        _ isReadable: (_Stored) -> Bool
    ) throws {
        guard try elements.locate(key) != nil else {
            throw elements.table.damage(ofMissing: key)
                ?? core.error(.invalidDatabase, "An object of a collection does not exist.")
        }
        if shape.isConverted, readsParts { try EmbeddedParts.requireReadable(elements.makeObject(key: key)) }
        guard isReadable(_Stored(.link(key))) else {
            throw core.error(.invalidInput, "An object of a collection holds what is no value of its type.")
        }
    }

    private func requireObjects(
        _ paths: [[PathStep]],
        first limit: Int,
        _ readsParts: Bool,
        _ isReadable: (_Stored) -> Bool
    ) throws {
        guard let elements else { return }
        let keys: [Int64]
        if isWholeTable {
            keys = try elements.allKeys(first: limit)
            if limit == .max {
                try elements.table.requireCounts()
            } else if !keys.isEmpty, let last = try elements.table.key(at: elements.table.count - 1) {
                // An iteration begins by looking where it will end.
                _ = try elements.locate(last)
            }
        } else {
            keys = try readKeys()
        }
        // The first is looked for on a way of its own.
        if let equality, refinement == nil { _ = try elements.firstKey(equality) }
        for key in keys.prefix(limit) {
            try requireObject(key, of: elements, readsParts: readsParts, isReadable)
            if paths.isEmpty { continue }
            let object = elements.makeObject(key: key)
            for path in paths { try object.requireReadable(path) }
        }
        if case .list(let accessor, let key, let property) = source, accessor.table.collection(of: property) == .map,
            let location = try accessor.table.locate(key)
        {
            _ = try accessor.table.map(property, at: location, key: key).entries()
        }
    }
}

extension Realm {
    /// Reads where the objects of a class begin, and those of the classes that links lead to from it, for where ``objects(_:)`` would
    /// end the process.
    ///
    /// After it has returned, `objects(_:)` does not, nor does ``isEmpty`` when that is so for each class; what the results hold is read
    /// behind their own ``RealmCollection/requireReadable()``.
    ///
    /// ```swift
    /// do {
    ///     try realm.requireReadable(Todo.self)
    ///     try realm.objects(Todo.self).requireReadable()
    /// } catch let error as Realm.Error { print(error.code, error) }
    /// ```
    ///
    /// - Throws: `Realm.Error` with the code `.wrongIsolation`, `.invalidDatabase`, or `.invalidInput` for a class that the realm does not
    ///   have, and for an embedded one.
    public func requireReadable<Element: RealmFetchable>(_ type: Element.Type) throws {
        try core.requireReading()
        let accessor = try core.readableAccessor(for: type._fetchedType)
        do throws(StorageError) {
            try core.requireReadable(accessor)
        } catch {
            throw Realm.Error(storage: error, path: core.coordinator.path)
        }
        if accessor.info.isEmbedded { throw core.error(.invalidInput, Self.embeddedMessage(accessor.info.name)) }
    }

    /// As ``requireReadable(_:)``, for ``dynamicObjects(_:)``.
    public func requireReadable(className: String) throws {
        try core.requireReading()
        let found: TableAccessor?
        do throws(StorageError) {
            found = try core.registry.readableDynamicAccessor(className: className)
            if let found { try core.requireReadable(found) }
        } catch {
            throw Realm.Error(storage: error, path: core.coordinator.path)
        }
        guard let found else { throw core.error(.invalidInput, core.unknownClassMessage(className)) }
        if found.info.isEmbedded { throw core.error(.invalidInput, Self.embeddedMessage(found.info.name)) }
    }
}

extension RealmCollection {
    /// Reads the elements, for where reading one would end the process.
    ///
    /// Counts, subscripts and iterations have no way to say that the object that holds a list was deleted meanwhile, that the realm was
    /// invalidated or belongs to another isolation, or that a page with the elements is damaged. This throws instead. After it has
    /// returned, `count`, `first`, `last`, `isEmpty`, `index(of:)`, iterations and positions below the count do not end the process until
    /// something is written or the realm moves on: in a synchronous call, as long as that lasts.
    ///
    /// ```swift
    /// let todos = realm.objects(Todo.self).where { !$0.done }
    /// do {
    ///     try todos.requireReadable()
    ///     for todo in todos { print(try todo.value(of: \.name)) }
    /// } catch let error as Realm.Error { print(error.code, error) }
    /// ```
    /// A collection of a realm that was closed is empty, as it is when it is read.
    ///
    /// - Throws: `Realm.Error` with the code `.invalidatedObject`, `.wrongIsolation`, `.invalidDatabase`, or `.invalidInput` for a stored
    ///   element that the type does not have, and for results by a property that another release has removed from the file.
    /// - Complexity: That of an iteration, which need not search again afterwards.
    public func requireReadable() throws { try requireReadable(withParts: true) }

    func requireReadable(withParts readsParts: Bool) throws {
        guard let backing = try readableBacking() else { return }
        try backing.requireReadable([], readsParts: readsParts) { Element._isReadableElement($0, in: backing) }
    }

    /// Reads the elements and a property of each, by a path as key paths say it.
    func requireReadable(path: [PathStep]) throws {
        guard let backing = try readableBacking() else {
            for element in self { try Element._elementKey(element)?.object.requireReadable(path) }
            return
        }
        try backing.requireReadable([path]) { Element._isReadableElement($0, in: backing) }
    }
}

extension RealmCollection {
    /// Reads the number of the elements and the first of them, for where asking for those would end the process.
    func requireFirst(_ limit: Int) throws {
        guard let backing = try readableBacking() else { return }
        try backing.requireFirst(limit) { Element._isReadableElement($0, in: backing) }
    }

    /// Reads the elements and properties of each, by names from outside, for where using such a name would end the process.
    ///
    /// As ``requireReadable()``; and after it `value(forKey:)` and `value(forKeyPath:)` do not end the process for these names, nor do averages,
    /// extremes and sums of those that are numbers. Text that asks for an order is parsed by `RealmPredicate(parsing:)`.
    ///
    /// - Parameter names: Names of properties, or of links to one: `owner.name`.
    /// - Throws: As ``requireReadable()``, and as ``ObjectBase/value(named:)`` of the elements; `.invalidInput` for a name that their class
    ///   does not have, also where there are no elements.
    public func requireReadable(properties names: [String]) throws {
        guard let backing = try readableBacking() else {
            try requireNames(names, of: Element._elementShape)
            for case let object as ObjectBase in self {
                for name in names { try object.requireReadable(namedPath: name) }
            }
            return
        }
        try backing.requireReadable(backing.paths(of: names)) { Element._isReadableElement($0, in: backing) }
    }
}

extension RealmCollection where Element: ObjectBase {
    /// Reads the elements and properties of each, for where reading one would end the process.
    ///
    /// As ``requireReadable()``; and after it the getters of these properties do not end the process either, nor do averages and extremes
    /// of them, nor sums that fit in the type that they are asked for in.
    ///
    /// ```swift
    /// let todos = realm.objects(Todo.self)
    /// try todos.requireReadable(\.name, \.done)
    /// for todo in todos { print(todo.name, todo.done) }
    /// ```
    ///
    /// - Parameters:
    ///   - first: A property marked `@Persisted`, or links to one.
    ///   - others: More of them.
    /// - Throws: As ``requireReadable()``, and as `value(of:)` of the elements.
    public func requireReadable(_ first: PartialKeyPath<Element>, _ others: PartialKeyPath<Element>...) throws {
        let paths = try ([first] + others)
            .map { path in
                try PathRecorder.requiredSteps(of: path, in: Element.self) { () throws -> Self in
                    try requireReadable()
                    return self
                }
            }
        guard let backing = try readableBacking() else { return }
        try backing.requireReadable(paths) { Element._isReadableElement($0, in: backing) }
    }
}

extension Map {
    /// Reads the entries, for where reading one would end the process.
    ///
    /// As `requireReadable()` of other collections: afterwards `count`, `keys`, `values`, subscripts and iterations do not end it.
    ///
    /// - Throws: `Realm.Error` with the code `.invalidatedObject`, `.wrongIsolation`, `.invalidDatabase`, or `.invalidInput` for a stored
    ///   value that the type does not have.
    public func requireReadable() throws { try requireReadable(withParts: true) }

    func requireReadable(withParts readsParts: Bool) throws {
        guard let backing = try readableBacking() else { return }
        try backing.requireReadable([], readsParts: readsParts) { Value._isReadableElement($0, in: backing) }
    }

    /// Reads the values and a property of each, by a path as key paths say it.
    func requireReadable(path: [PathStep]) throws {
        guard let backing = try readableBacking() else {
            for value in values { try Value._elementKey(value)?.object.requireReadable(path) }
            return
        }
        try backing.requireReadable([path]) { Value._isReadableElement($0, in: backing) }
    }
}

extension Map {
    /// Reads the entries and properties of each object, by names from outside.
    ///
    /// As `requireReadable(properties:)` of other collections.
    ///
    /// - Throws: As ``requireReadable()``, and `.invalidInput` for a name that the class of the objects does not have.
    public func requireReadable(properties names: [String]) throws {
        guard let backing = try readableBacking() else {
            try requireNames(names, of: Value._elementShape)
            for case let object as ObjectBase in values.map({ $0 as Any }) {
                for name in names { try object.requireReadable(namedPath: name) }
            }
            return
        }
        try backing.requireReadable(backing.paths(of: names)) { Value._isReadableElement($0, in: backing) }
    }
}

/// Throws where names are none of properties of what an unmanaged collection has.
private func requireNames(_ names: [String], of shape: _PropertyShape) throws {
    // A dynamic object says itself what it has.
    if shape.target == DynamicObject.self { return }
    let info = shape.target.map { ModelClass.of($0) }
    for name in names {
        do {
            _ = try ValuePath.property(name, of: info)
        } catch {
            let details = Realm.Error.Details(className: info?.name, propertyName: error.name)
            throw Realm.Error(.invalidInput, error.message, details: details)
        }
    }
}

extension _CollectionBacking {
    /// Paths of properties, as key paths say them, by their names in the classes.
    ///
    /// - Throws: `invalidInput` for one that there is not.
    fileprivate func paths(of names: [String]) throws -> [[PathStep]] {
        func mistake(_ mistake: ValuePath.Mistake) -> Realm.Error {
            Realm.Error(
                .invalidInput,
                mistake.message,
                fileURL: core.configuration.fileURL,
                details: Realm.Error.Details(className: elements?.info.name, propertyName: mistake.name)
            )
        }
        let isGone = isEmptied || core.isClosed
        if !isGone { try core.requireReading() }
        for name in names {
            do {
                _ = try ValuePath.property(name, of: elements?.info)
            } catch {
                throw mistake(error)
            }
        }
        if isGone { return [] }
        return try names.map { name in
            var accessor = elements
            var before: ModelProperty?
            return try ValuePath.names(name)
                .map { name in
                    // Of dynamic classes only the realm knows what they link to.
                    if let before, !before.isLink { throw mistake(ValuePath.Mistake(behind: before.name)) }
                    guard let current = accessor else {
                        throw mistake(.init(name, "Property '\(name)' is looked for in what is no object."))
                    }
                    guard let property = current.info.property(name) else {
                        throw mistake(.init(name, current.info.unknownPropertyMessage(name)))
                    }
                    before = property
                    do throws(StorageError) {
                        accessor = try current.readableTarget(of: property)
                    } catch {
                        throw Realm.Error(storage: error, path: core.coordinator.path)
                    }
                    return PathStep(current.info.pathName(of: property))
                }
        }
    }
}

extension SectionedResults {
    /// Reads the elements and the keys of their sections, for where reading one would end the process.
    ///
    /// As `requireReadable()` of other collections. Of sections that a closure makes, the elements are read and the closure is not called.
    ///
    /// - Throws: As `requireReadable()` of other collections, and as `value(of:)` for the keys.
    public func requireReadable() throws { try store.requireReadable() }
}

extension ResultsSection {
    /// Reads the elements of all sections and their keys, for where reading one would end the process.
    ///
    /// As `requireReadable()` of other collections. Of sections that a closure makes, the elements are read and the closure is not called.
    ///
    /// - Throws: As `requireReadable()` of other collections, and as `value(of:)` for the keys.
    public func requireReadable() throws { try store.requireReadable() }
}

extension SectionStore {
    fileprivate func requireReadable() throws {
        var paths: [[PathStep]] = []
        if let keyPath = rule.keyPath, let type = Element.self as? any KeypathSortable.Type {
            paths.append(type._name(of: keyPath).split(separator: ".").map { PathStep(String($0)) })
        }
        let backing = results.backing
        try backing.requireReadable(paths) { Element._isReadableElement($0, in: backing) }
    }
}

extension ProjectedCollection {
    /// Reads the objects and the property of each, for where reading one would end the process.
    ///
    /// As `requireReadable()` of other collections.
    ///
    /// - Throws: As `requireReadable()` of other collections, and as `value(of:)` of the objects.
    public func requireReadable() throws { try source.requireReadable() }
}

nonisolated extension Projection {
    /// Reads everything that the projection shows, for where reading a property of it would end the process.
    ///
    /// As `requireReadable()` of collections, for one object: afterwards the projected properties do not end the process until something
    /// is written or the realm moves on.
    ///
    /// - Throws: As `value(of:)` of the object.
    public func requireReadable() throws {
        for property in try ProjectionSchema.of(Self.self, readFrom: rootObject) {
            try property.requireReadable(in: rootObject)
        }
    }
}

extension RealmCollection {
    /// What stands behind a managed collection, where a class of elements that cannot be read is an error.
    func readableBacking() throws -> _CollectionBacking? {
        if let place = (self as? any ReadableElements)?.place { return try place.readableBacking() }
        return _backing
    }
}

extension Map {
    /// What stands behind a managed map, where a class of objects that cannot be read is an error.
    func readableBacking() throws -> _CollectionBacking? { try place?.readableBacking() }
}
