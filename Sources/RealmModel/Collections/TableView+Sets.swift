package import RealmStorage

/// Sets: lists whose elements ascend in the order of `StoredValue.order`, each once.
extension TableView {
    /// Where an element of a set is or belongs, in O(log n).
    package func setPosition(
        _ property: Int,
        key: Int64,
        of value: StoredValue
    ) throws -> (index: Int, isThere: Bool) {
        let list = try list(property, key: key)
        return try list.sortedPosition(of: value)
    }

    /// Puts an element into a set; false when it was there.
    @discardableResult
    package func setInsert(_ property: Int, key: Int64, _ value: StoredValue) throws -> Bool {
        guard value.depth == 0 else { throw invalidValue(property, value) }
        let place = try setPosition(property, key: key, of: value)
        if place.isThere { return false }
        try listInsert(property, key: key, at: place.index, value)
        return true
    }

    /// Takes an element out of a set; false when it was not there.
    @discardableResult
    package func setRemove(_ property: Int, key: Int64, _ value: StoredValue) throws -> Bool {
        let place = try setPosition(property, key: key, of: value)
        guard place.isThere else { return false }
        try listRemove(property, key: key, at: place.index)
        return true
    }

    /// Makes a set hold exactly these elements, in any order and however often.
    package func setAssign(_ property: Int, key: Int64, _ elements: [StoredValue]) throws {
        if let nested = elements.first(where: { $0.depth > 0 }) { throw invalidValue(property, nested) }
        try listAssign(property, key: key, elements.sortedAndUnique())
    }
}

extension ListView {
    /// Where an element of a sorted list is or belongs.
    package func sortedPosition(of value: StoredValue) throws(StorageError) -> (index: Int, isThere: Bool) {
        var lower = 0
        var upper = count
        while lower < upper {
            let middle = (lower + upper) / 2
            let order = StoredValue.order(try self.value(at: middle), value)
            if order == 0 { return (middle, true) }
            if order < 0 { lower = middle + 1 } else { upper = middle }
        }
        return (lower, false)
    }
}
