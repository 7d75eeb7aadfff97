import RealmModel
import RealmStorage

/// Reading one element of what a property holds so that damage, and what is no value of its type, is an error.
extension _CollectionBacking {
    /// Reads one element of a list, set, map or of linking objects, and none of the others.
    ///
    /// - Parameters:
    ///   - element: Which of them.
    ///   - isReadable: Whether the type of the elements has a stored value.
    /// - Returns: The object that the element is; nil for a value, and where there is none.
    /// - Throws: `Realm.Error`.
    func readableElement(_ element: PathStep.Element, _ isReadable: (_Stored) -> Bool) throws -> ObjectBase? {
        if isEmptied { return nil }
        try core.requireReading()
        if core.isClosed { return nil }
        return try throwingRealmErrors {
            try requireOwner()
            guard let stored = try freshElement(element) else { return nil }
            guard let elements else {
                try requireValue(stored, isReadable)
                return nil
            }
            // Else an entry without an object.
            guard case .link(let key) = stored else { return nil }
            try requireObject(key, of: elements, isReadable)
            return elements.makeObject(key: key)
        }
    }

    /// The stored form of an element, read as its getter reads it; nil where there is none.
    private func freshElement(_ element: PathStep.Element) throws -> StoredValue? {
        guard case .list(let accessor, let key, let property) = source else {
            let keys = try readKeys()
            guard let position = try element.position(of: keys.count) else { return nil }
            return .link(keys[position])
        }
        guard let location = try accessor.table.locate(key) else { return nil }
        if case .name(let name) = element {
            guard accessor.table.collection(of: property) == .map else { return nil }
            return try accessor.table.map(property, at: location, key: key).value(for: name)
        }
        let list = try accessor.table.list(property, at: location, key: key)
        guard let position = try element.position(of: list.count) else { return nil }
        return try list.value(at: position)
    }
}

extension RealmCollection {
    /// Reads one element, for where reading it would end the process.
    ///
    /// - Returns: The object that the element is; nil for a value, and where there is none.
    /// - Throws: As `requireReadable()`, and `invalidInput` for a position that there is not.
    func readableElement(_ element: PathStep.Element) throws -> ObjectBase? {
        if let backing = try readableBacking() {
            return try backing.readableElement(element) { Element._isReadableElement($0, in: backing) }
        }
        guard let position = try element.position(of: count) else { return nil }
        return Element._elementKey(self[position])?.object
    }
}

extension Map {
    /// Reads the value of a name, as `readableElement(_:)` of other collections reads an element.
    func readableElement(_ element: PathStep.Element) throws -> ObjectBase? {
        if let backing = try readableBacking() {
            return try backing.readableElement(element) { Value._isReadableElement($0, in: backing) }
        }
        guard case .name(let name) = element, let value = self[Key._key(named: name)] else { return nil }
        return Value._elementKey(value)?.object
    }
}
