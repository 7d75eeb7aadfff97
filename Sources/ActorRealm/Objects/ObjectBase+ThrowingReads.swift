import RealmModel
import RealmStorage

extension ObservableModel where Self: ObjectBase {
    /// The value of a property, for where a getter would end the process.
    ///
    /// A getter has no way to say that the object was deleted meanwhile, that its realm was closed or belongs to another
    /// isolation, that the page with the value is damaged, or that a later release stored what is no case of an enum here. This
    /// throws instead.
    ///
    /// ```swift
    /// let todo = realm.objects(Todo.self).first!
    /// do { print(try todo.value(of: \.name)) } catch let error as Realm.Error { print(error.code, error) }
    /// ```
    ///
    /// - Parameter keyPath: A property marked `@Persisted`, or links to one: `\.owner?.name`.
    /// - Returns: What the getter returns.
    /// - Throws: `Realm.Error` with the code `.invalidatedObject`, `.closed`, `.wrongIsolation`, `.invalidDatabase`, or
    ///   `.invalidInput` for a key path that names no stored property or goes through a position of a collection, and for a stored value
    ///   that the type does not have.
    /// - Complexity: That of the getter twice, and of evaluating the key path once more.
    public func value<Value: _Persistable>(of keyPath: KeyPath<Self, Value>) throws -> Value {
        try requireReadable(PathRecorder.requiredSteps(of: keyPath, in: Self.self) { CollectionOfOne(self) })
        return self[keyPath: keyPath]
    }
}

nonisolated extension ObjectBase {
    /// The value of the property of that name, for names from outside, where `object[name]` would end the process.
    ///
    /// As `value(of:)`, for code that does not know the class.
    ///
    /// ```swift
    /// let todo = realm.objects(Todo.self).first!
    /// do { print(try todo.value(named: "name") ?? "none") } catch let error as Realm.Error { print(error.code, error) }
    /// ```
    ///
    /// - Parameter name: The name of a property, or of links to one: `owner.name`.
    /// - Returns: What `object[name]` returns; nil where a link leads nowhere.
    /// - Throws: `Realm.Error` with the code `.invalidatedObject`, `.closed`, `.wrongIsolation`, `.invalidDatabase`, or `.invalidInput` for
    ///   a name that the class does not have, for one before the last that is no link, and for a stored value that the type does not have.
    ///   In a migration's block it does not throw: opening the realm does, as for `object[name]`.
    /// - Complexity: That of `object[name]`, twice.
    public final func value(named name: String) throws -> Any? {
        var object: ObjectBase = self
        let names = ValuePath.names(name)
        for (position, name) in names.enumerated() {
            let isLink = try object.requireReadable(named: name)
            let value = object[name]
            if position == names.count - 1 { return value }
            let target = ValueReader.unwrap(value)
            if isLink, target == nil { return nil }
            // What is stored as an embedded object need not be one here.
            guard isLink, let next = target as? ObjectBase else {
                let mistake = ValuePath.Mistake(behind: name)
                if let core = object.core, core.migration != nil {
                    core.mistake(mistake.message, object.modelClass.name, name)
                    return nil
                }
                throw object.nameError(mistake.message, name)
            }
            object = next
        }
        return nil
    }

    /// Throws what reading the property of a name would trap on, and tells whether it is a link.
    private final func requireReadable(named name: String) throws -> Bool {
        // There the first mistake is kept, and opening the realm throws it.
        if core?.migration != nil { return modelClass.property(name)?.isLink ?? true }
        if core == nil, let dynamic = self as? DynamicObject {
            if dynamic.isDetached { return true }
            throw nameError("A `DynamicObject` that no realm has given has no properties.", name)
        }
        guard let property = modelClass.property(name) else {
            throw nameError(modelClass.unknownPropertyMessage(name), name)
        }
        try requireReadable(property)
        return property.isLink
    }

    /// Throws what reading the properties of a path of names would trap on, across links only, also to what the program sees as a value.
    final func requireReadable(namedPath path: String) throws {
        // There mistakes are kept, and of those nobody knows the properties.
        if core?.migration != nil || core == nil && self is DynamicObject {
            _ = try value(named: path)
            return
        }
        var object: ObjectBase = self
        let names = ValuePath.names(path)
        for (position, name) in names.enumerated() {
            let isLink = try object.requireReadable(named: name)
            if position == names.count - 1 { return }
            guard isLink, let property = object.modelClass.property(name) else {
                throw object.nameError(ValuePath.Mistake(behind: name).message, name)
            }
            // Of an unmanaged object it is a value, which has no properties to read.
            guard let next = try object.linked(by: property) else { return }
            object = next
        }
    }

    private final func nameError(_ message: String, _ name: String) -> Realm.Error {
        Realm.Error(
            .invalidInput,
            message,
            fileURL: core?.configuration.fileURL,
            details: Realm.Error.Details(className: core == nil ? nil : modelClass.name, propertyName: name)
        )
    }

    /// Throws unless the object is there and belongs to where it is used, for where ``isInvalidated`` cannot say.
    ///
    /// Its properties are read with `value(of:)`.
    ///
    /// ```swift
    /// let todo = realm.objects(Todo.self).first!
    /// do { try todo.requireReadable() } catch let error as Realm.Error { print(error.code, error) }
    /// ```
    ///
    /// - Throws: `Realm.Error` with the code `.invalidatedObject`, `.closed`, `.wrongIsolation` or `.invalidDatabase`.
    public final func requireReadable() throws {
        guard let core, let accessor = tableAccessor else { return }
        try core.requireAccess()
        do {
            _ = try requireRow(accessor)
        } catch let error as StorageError {
            throw Realm.Error(storage: error, path: core.coordinator.path)
        }
    }

    /// Where the row is.
    private func requireRow(_ accessor: TableAccessor) throws -> RowLocation {
        if let location = try accessor.locate(rowKey) { return location }
        if wasNeverThere, let damage = accessor.table.damage(ofMissing: rowKey) { throw damage }
        throw accessor.core.error(.invalidatedObject, TableAccessor.deletedMessage)
    }

    /// Throws what reading the properties of a path would trap on.
    final func requireReadable(_ path: [PathStep]) throws {
        var object: ObjectBase = self
        for (position, step) in path.enumerated() {
            guard let property = object.modelClass.property(inPath: step.name) else { return }
            try object.requireReadable(property)
            let isLast = position == path.count - 1
            let target: ObjectBase?
            if property.isCollection {
                if let element = step.element {
                    target = try object.readableElement(element, in: property)
                } else {
                    if isLast { return }
                    return try object.requireReadable(Array(path[(position + 1)...]), ofElementsIn: property)
                }
            } else {
                if isLast { return }
                target = try object.linked(by: property)
            }
            guard let next = target else { return }
            object = next
        }
    }

    /// Throws what reading the properties of a path would trap on, of each object of a collection.
    private final func requireReadable(_ path: [PathStep], ofElementsIn property: ModelProperty) throws {
        let elements = property.value(in: self)
        if let collection = elements as? any RealmCollection { return try collection.requireReadable(path: path) }
        try (elements as? any BackedMap)?.requireReadable(path: path)
    }

    /// The object that one element of a collection is, whose reading throws; nil for a value, and where there is none.
    private final func readableElement(
        _ element: PathStep.Element,
        in property: ModelProperty
    ) throws -> ObjectBase? {
        let elements = property.value(in: self)
        if let collection = elements as? any RealmCollection { return try collection.readableElement(element) }
        return try (elements as? any BackedMap)?.readableElement(element)
    }

    /// The object that a property leads to, also one that the program sees as a value of its own.
    final func linked(by property: ModelProperty) throws -> ObjectBase? {
        guard property.shape.isConverted, let core, let accessor = tableAccessor else {
            return ValueReader.unwrap(property.value(in: self)) as? ObjectBase
        }
        guard property.isLink else { return nil }
        do {
            let ordinal = accessor.storedOrdinal(property.ordinal)
            guard case .link(let key) = try accessor.table.value(ordinal, at: requireRow(accessor)) else { return nil }
            return accessor.target(of: property.ordinal).makeObject(key: key)
        } catch let error as StorageError {
            throw Realm.Error(storage: error, path: core.coordinator.path)
        }
    }

    /// The value of a property of the class; nil where reading it would trap.
    final func readableValue(of property: ModelProperty) -> Any? {
        guard (try? requireReadable(property)) != nil else { return nil }
        return ValueReader.unwrap(property.value(in: self))
    }

    /// Throws what reading a property would trap on.
    final func requireReadable(_ property: ModelProperty) throws {
        if core == nil, property.lacksValue(in: self) {
            let name = modelClass.name
            throw Realm.Error(
                .invalidInput,
                property.missingValueMessage(className: name),
                details: Realm.Error.Details(className: name, propertyName: property.name)
            )
        }
        try requireStored(property)
        if property.isLink, property.shape.isConverted, let part = try linked(by: property) {
            try EmbeddedParts.requireReadable(part)
        }
        try requireReadableValue(of: property)
    }

    /// Throws what reading a property would trap on before its value is made.
    final func requireStored(_ property: ModelProperty) throws {
        guard let core, let accessor = tableAccessor else { return }
        try core.requireAccess()
        do {
            let location = try requireRow(accessor)
            try accessor.readableTarget(of: property)
            if property.isComputed { return }
            let ordinal = accessor.storedOrdinal(property.ordinal)
            guard property.shape.collection == .none else {
                _ = try accessor.table.list(ordinal, at: location, key: rowKey)
                return
            }
            if case .link(let key) = try accessor.table.value(ordinal, at: location) {
                _ = try accessor.target(of: property.ordinal).table.contains(key: key)
            }
        } catch let error as StorageError {
            throw Realm.Error(storage: error, path: core.coordinator.path)
        }
    }

    /// Throws where what is stored, and can be read, is no value of the type.
    final func requireReadableValue(of property: ModelProperty) throws {
        guard let core, let accessor = tableAccessor, !property.isComputed, property.shape.collection == .none else {
            return
        }
        if property.valueType._isReadable(self, property.key) { return }
        let value: StoredValue
        do {
            value = try accessor.table.value(accessor.storedOrdinal(property.ordinal), at: requireRow(accessor))
        } catch let error as StorageError {
            throw Realm.Error(storage: error, path: core.coordinator.path)
        }
        throw Realm.Error(
            .invalidInput,
            "The stored value \(value.words) of '\(accessor.info.name).\(property.name)' is none of "
                + "its type. Make the property optional to read such values as nil.",
            fileURL: core.configuration.fileURL,
            details: Realm.Error.Details(className: accessor.info.name, propertyName: property.name)
        )
    }
}

extension StoredValue {
    /// The value in a message.
    var words: String {
        switch self {
        case .int(let value): "\(value)"
        case .double(let value): "\(value)"
        case .float(let value): "\(value)"
        case .string(let value): "'\(value.prefix(100))'"
        default: "\(self)"
        }
    }
}
