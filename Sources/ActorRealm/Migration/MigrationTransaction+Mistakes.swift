import RealmModel
import RealmQuery
import RealmStorage

/// What a block does wrong: neither it nor the calls that it makes throw, so that the opening does.
extension MigrationTransaction {
    /// Whether a call of the block failed, so that later ones do nothing.
    var hasFailed: Bool { new.hasWriteFailure }

    /// Keeps an error for the end of the block; the first one is thrown.
    func fail(_ error: any Error) { new.refuseCommit(because: error) }

    /// Keeps a mistake of the block for its end.
    func refuse(_ message: String, _ className: String? = nil, _ propertyName: String? = nil) {
        fail(mistake(message, className, propertyName))
    }

    private func mistake(_ message: String, _ className: String?, _ propertyName: String?) -> Realm.Error {
        Realm.Error(
            .invalidInput,
            message,
            fileURL: new.configuration.fileURL,
            details: Realm.Error.Details(className: className, propertyName: propertyName)
        )
    }

    /// Does something that may fail, and keeps the error.
    func attempt(_ className: String? = nil, _ propertyName: String? = nil, _ body: () throws -> Void) {
        do {
            try body()
        } catch {
            fail(publicError(error, className, propertyName))
        }
    }

    /// What the layers below refuse in its public form, with what it is about.
    func publicError(_ error: any Error, _ className: String? = nil, _ propertyName: String? = nil) -> any Error {
        let details = Realm.Error.Details(className: className, propertyName: propertyName)
        switch error {
        case let error as Realm.Error: return error.addingDetails(details)
        case let error as ModelError:
            return Realm.Error(model: error, fileURL: new.configuration.fileURL).addingDetails(details)
        case let error as QueryError: return mistake(error.description, className, propertyName)
        case let error as PredicateParseError: return mistake(error.description, className, propertyName)
        case let error as StorageError:
            return Realm.Error.wrap(error, path: new.coordinator.path)
        default: return error
        }
    }

    // MARK: Properties by name

    /// The value of a property of an old or new object; nil after a mistake.
    func value(of name: String, in object: DynamicObject) -> Any? {
        guard let accessor = object.tableAccessor, let property = property(name, accessor.info) else { return nil }
        if accessor.isFrozen { finder.looked(at: property, ofRow: object.rowKey) }
        do {
            try object.requireReadable(property)
        } catch let error as Realm.Error where error.code == .invalidatedObject {
            refuse("Object of type '\(accessor.info.name)' has been deleted or invalidated.", accessor.info.name, name)
            return nil
        } catch {
            fail(publicError(error, accessor.info.name, name))
            return nil
        }
        return property.value(in: object)
    }

    /// Notes that a property is read of an object, old or new.
    func reads(_ property: ModelProperty, of object: ObjectBase) {
        if object.core === old { finder.looked(at: property, ofRow: object.rowKey) }
    }

    /// Assigns to a property of a new object.
    func assign(_ value: Any?, to name: String, of object: DynamicObject) {
        guard !hasFailed, let accessor = object.tableAccessor, let property = property(name, accessor.info) else {
            return
        }
        let className = accessor.info.name
        if object.core === old {
            return refuse(
                "Attempting to modify an old object: property '\(className).\(name)' can be written in the new one.",
                className,
                name
            )
        }
        if property.isComputed {
            return refuse(
                "Linking objects property '\(className).\(name)' cannot be assigned to.",
                className,
                name
            )
        }
        guard isThere(object, accessor) else {
            return refuse("Object of type '\(className)' has been deleted or invalidated.", className, name)
        }
        do throws(StorageError) { try new.requireReadable(accessor) } catch {
            return fail(publicError(error, className, name))
        }
        property.assign(value, to: object)
        if let failure = new.takeWriteFailure() { fail(publicError(failure, className, name)) }
    }

    /// Whether an object is there and has a property; where not, that is kept as a mistake.
    func has(_ name: String, in object: ObjectBase) -> Bool {
        guard let accessor = object.tableAccessor, property(name, accessor.info) != nil else { return false }
        do throws(StorageError) { try accessor.core.requireReadable(accessor) } catch {
            fail(publicError(error, accessor.info.name, name))
            return false
        }
        if !object.isInvalidated { return true }
        refuse("Object of type '\(accessor.info.name)' has been deleted or invalidated.", accessor.info.name, name)
        return false
    }

    /// The property of a name; nil after a mistake.
    func property(_ name: String, _ info: ModelClass) -> ModelProperty? {
        if let property = info.property(name) { return property }
        refuse(info.unknownPropertyMessage(name), info.name, name)
        return nil
    }

    /// Whether the row of an object exists, which is where it points afterwards.
    private func isThere(_ object: DynamicObject, _ accessor: TableAccessor) -> Bool {
        let generation = accessor.state.pointee.generation.pointee
        if object.rowGeneration == generation { return true }
        guard let location = new.attempt(or: nil, { try accessor.locate(object.rowKey) }) else { return false }
        object.point(to: location, generation: generation)
        return true
    }

    /// Notes that a property of a new object is written.
    func wrote(_ property: ModelProperty, ofRow key: Int64, _ accessor: TableAccessor) {
        finder.wrote(property, ofRow: key, accessor.info.name)
        if property.isPrimaryKey { keys.wrote(key, accessor.info.name) }
    }
}

extension Realm.Error {
    /// The same error, with details where it has none.
    func addingDetails(_ details: Details) -> Realm.Error {
        if self.details != nil || details == Details() { return self }
        return Realm.Error(
            code,
            message,
            fileURL: fileURL,
            underlyingError: underlyingError,
            details: details
        )
    }
}
