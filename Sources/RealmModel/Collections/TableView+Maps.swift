package import RealmStorage

/// Dictionaries: a name and a value for each entry.
extension TableView {
    /// A dictionary of a row.
    package func map(_ property: Int, key: Int64) throws -> MapView {
        try map(property, at: try row(of: key), key: key)
    }

    /// A dictionary of a row already located.
    package func map(_ property: Int, at location: RowLocation, key: Int64) throws(StorageError) -> MapView {
        precondition(slots[property].collection == .map, "The property is not a dictionary.")
        return MapView(try list(property, at: location, key: key), slots[property])
    }

    /// Calls a function with each element of a collection, of a dictionary with each value, until it returns false.
    ///
    /// - Returns: whether it went through all of them.
    package func forEachElement(
        _ property: Int,
        at location: RowLocation,
        key: Int64,
        _ body: (BorrowedValue) throws -> Bool
    ) throws -> Bool {
        if slots[property].collection == .map {
            let map = try map(property, at: location, key: key)
            for index in 0..<map.count {
                guard try body(map.entry(at: index).value) else { return false }
            }
            return true
        }
        let list = try list(property, at: location, key: key)
        for index in 0..<list.count {
            guard try body(list.borrowedValue(at: index)) else { return false }
        }
        return true
    }

    /// Sets the value of a name.
    package func mapSet(_ property: Int, key: Int64, _ name: String, to value: StoredValue) throws {
        try requireEntry(name, value, property)
        let place = try map(property, key: key).position(of: name)
        let bytes = try MapFormat.encode(name, value, slots[property])
        try bytes.withUnsafeBytes {
            try splice(
                property,
                key: key,
                place.index..<place.index + (place.isThere ? 1 : 0),
                with: .bytes($0)
            )
        }
    }

    /// Removes an entry; false when there is none of the name.
    @discardableResult
    package func mapRemove(_ property: Int, key: Int64, _ name: String) throws -> Bool {
        let place = try map(property, key: key).position(of: name)
        guard place.isThere else { return false }
        try splice(property, key: key, place.index..<place.index + 1, with: nil)
        return true
    }

    /// Makes the dictionary hold exactly these entries; of several with one name it takes the last.
    package func mapAssign(_ property: Int, key: Int64, _ entries: [StoredEntry]) throws {
        for entry in entries { try requireEntry(entry.key, entry.value, property) }
        let slot = slots[property]
        let elements = try entries.sortedAndUnique()
            .map { StoredValue.data(try MapFormat.encode($0.key, $0.value, slot)) }
        try assign(property, key: key, elements, of: .data)
    }

    private func requireEntry(_ name: String, _ value: StoredValue, _ property: Int) throws {
        let slot = slots[property]
        precondition(slot.collection == .map, "The property is not a dictionary.")
        guard value.isOf(slot.kind), !value.isNull || slot.isOptional, name.utf8.count <= MapFormat.keyByteLimit,
            value.depth <= MixedFormat.depthLimit
        else { throw invalidValue(property, value) }
    }
}
