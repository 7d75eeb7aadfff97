import RealmModel

/// Makes managed objects from dynamically typed values: dictionaries, arrays and objects, nested to any depth.
///
/// Nesting is limited only by what the value itself nests: objects that lead back to themselves are refused.
final class CreateContext: AddContext {
    /// Whether the values of an update have been read out of the realm.
    private var hasRead = false
    /// The objects that are being copied, each of which one of the others led to.
    private var copying: Set<InputCheck.Identity> = []

    /// Creates an object, or updates the one with its primary key.
    ///
    /// - Parameters:
    ///   - value: What the properties are to hold.
    ///   - accessor: The class.
    ///   - existing: The row to update, for an embedded object.
    ///   - resets: Whether properties that are not given get their defaults in that row, too.
    /// - Returns: the object's row.
    /// - Throws: `ModelError` when the primary key exists already, or the storage's error.
    func create(
        _ value: Any,
        _ accessor: TableAccessor,
        updating existing: Int64? = nil,
        resets: Bool = false
    ) throws -> Int64 {
        let info = accessor.info
        let identity = ValueReader.object(value).map { InputCheck.Identity($0) }
        if let identity, !copying.insert(identity).inserted {
            throw refusal(
                "An object of type '\(info.name)' leads back to itself, and copying it would never end: detach it and add the "
                    + "copy instead, with `realm.add(object.detached(), update: .modified)`."
            )
        }
        defer { if let identity { copying.remove(identity) } }
        guard var values = ValueReader.values(of: value, for: info) else {
            throw refusal(
                "Invalid value '\(InputCheck.text(of: value))' of type '\(Swift.type(of: value))' to initialize object of type "
                    + "'\(info.name)'. Give a dictionary by property name, an array in property order or an object."
            )
        }
        // Nothing that is there is written over where there is no update. What nests was read with the outermost value.
        if policy != .error, !hasRead {
            hasRead = true
            read(&values, accessor)
        }
        // Defaults are asked of a fresh instance, when one is needed.
        var sample: ObjectBase?
        func defaults() -> ObjectBase {
            if let sample { return sample }
            let made = info.type.init()
            sample = made
            return made
        }

        if let existing { try accessor.table.requireLinked(existing) }
        var rowKey = existing
        var isNew = false
        // A migration may have taken the primary key away until it is done.
        let keyProperty = accessor.table.primaryKeyOrdinal == nil ? nil : info.primaryKeyProperty
        if let property = keyProperty {
            let stored: StoredValue
            if let given = values[property.ordinal] {
                guard let value = property.valueType._storedKey(given) else {
                    throw named(refusal(property.invalidValueMessage(given, className: info.name)), info, property)
                }
                stored = value.value
            } else if info.isDynamic {
                throw refusal(Self.missingKeyMessage(info, property))
            } else {
                stored = property.storedValue(in: defaults()).value
                if stored.isNull, !property.shape.isOptional {
                    throw named(refusal(property.missingValueMessage(className: info.name)), info, property)
                }
            }
            if policy != .error { rowKey = try accessor.table.existingRow(withPrimaryKey: stored) }
            if rowKey == nil {
                rowKey = try accessor.table.insert(primaryKey: stored)
                isNew = true
            }
        } else if rowKey == nil {
            if policy != .error, let key = try releasedKey(of: values, info) {
                rowKey = try core.migration?.row(of: accessor, withKey: key)
            }
            if rowKey == nil {
                rowKey = try accessor.table.insert()
                isNew = true
            }
        }
        guard let rowKey else { throw refusal("An object of type '\(info.name)' got no row.") }
        if isNew {
            didMake(rowKey, accessor)
            try accessor.fillUndeclared(rowKey)
        }
        for property in info.properties where !property.isComputed && property !== keyProperty {
            let writer = _RowWriter(
                accessor: accessor,
                rowKey: rowKey,
                declared: property.ordinal,
                context: self,
                skipsEqual: !isNew && policy == .modified,
                isNewRow: isNew
            )
            if let given = values[property.ordinal] {
                if !isNew { core.migration?.wrote(property, ofRow: rowKey, accessor) }
                property.storeBoxed(given, to: writer)
            } else if isNew || resets, !info.isDynamic {
                property.store(from: defaults(), to: writer)
            }
            // What a link made before may have looked for keys while this one was not there.
            if isNew, property.isPrimaryKey { core.migration?.keys.wrote(rowKey, info.name) }
            if let failure { throw named(failure, info, property) }
        }
        try accessor.table.requireUnique(key: rowKey)
        return rowKey
    }

    /// Says that a dynamic object was given no primary key.
    static func missingKeyMessage(_ info: ModelClass, _ property: ModelProperty) -> String {
        "Missing value for the primary key '\(info.name).\(property.name)': an object that is created by the name of its class "
            + "needs one."
    }

    /// Sets the properties of an object that values name, but its primary key.
    ///
    /// - Throws: `ModelError` when another object has the values of its unique properties, or the storage's error.
    func update(_ rowKey: Int64, with given: [String: Any?], _ accessor: TableAccessor) throws {
        let info = accessor.info
        var values = ValueReader.values(of: given, for: info) ?? []
        read(&values, accessor)
        for property in info.properties where !property.isComputed && !property.isPrimaryKey {
            guard property.ordinal < values.count, let value = values[property.ordinal] else { continue }
            let writer = _RowWriter(accessor: accessor, rowKey: rowKey, declared: property.ordinal, context: self)
            core.migration?.wrote(property, ofRow: rowKey, accessor)
            property.storeBoxed(value, to: writer)
            if let failure { throw named(failure, info, property) }
        }
        // Before the objects that it links to are managed for good.
        try accessor.table.requireUnique(key: rowKey)
        try drain()
    }

    /// Reads what lies in the realm, in the values and in what they lead to, before anything is written over.
    private func read(_ values: inout [Any??], _ accessor: TableAccessor) {
        let live = LiveValues(core: core)
        live.read(&values, of: accessor.info)
        if accessor.leadsToValues { readValues = live.values(ledToBy: values, of: accessor.info) }
    }

    /// The primary key that values give in a migration that has taken it away, or makes it; nil where they give none.
    private func releasedKey(of values: [Any??], _ info: ModelClass) throws -> StoredValue? {
        guard core.migration != nil, let property = info.primaryKeyProperty, let given = values[property.ordinal] else {
            return nil
        }
        guard let stored = property.valueType._storedKey(given) else {
            throw named(refusal(property.invalidValueMessage(given, className: info.name)), info, property)
        }
        return stored.value
    }

    /// A failure with the property that it is about.
    private func named(_ error: any Error, _ info: ModelClass, _ property: ModelProperty) -> any Error {
        guard let error = error as? Realm.Error else { return error }
        return error.addingDetails(Realm.Error.Details(className: info.name, propertyName: property.name))
    }

    /// The error for a value of which no object can be made; it ends the process where the operation does not throw.
    private func refusal(_ message: @autoclosure () -> String) -> any Error {
        refuse(message())
        return failure ?? core.error(.invalidInput, message())
    }

    /// The row that a link to a dynamically typed value must hold; nil when the value stands for no object.
    func linkKey(forValue value: Any, of type: ObjectBase.Type, writer: _RowWriter) -> Int64? {
        let target = writer.accessor.target(of: writer.declared)
        if let object = ValueReader.object(value) {
            guard object.modelClass.name == target.info.name else { return nil }
            // A live object of this realm is linked to; anything else, and every embedded object, is copied.
            if object.core === core, !target.info.isEmbedded { return linkKey(to: object, writer: writer) }
        } else if let className = ValueReader.className(of: value) {
            guard className == target.info.name else { return nil }
        } else if !ValueReader.isComposite(value) {
            // As in RealmSwift, a bare primary key stands for an array of one.
            return nil
        }
        do {
            // An embedded object of which everything is written is as good as new.
            let resets = policy == .all && target.info.isEmbedded
            return try create(value, target, updating: embeddedKey(writer), resets: resets)
        } catch {
            failure = error
            return nil
        }
    }
}
