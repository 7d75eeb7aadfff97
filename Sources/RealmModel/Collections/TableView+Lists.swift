package import RealmStorage

extension TableView {
    /// What collection a property is.
    package func collection(of property: Int) -> CollectionKind { slots[property].collection }

    /// A list of a row.
    ///
    /// - Throws: `ModelError.noSuchRow`, or the storage's error.
    package func list(_ property: Int, key: Int64) throws -> ListView {
        try list(property, at: try row(of: key), key: key)
    }

    /// A list of a row already located.
    package func list(_ property: Int, at location: RowLocation, key: Int64) throws(StorageError) -> ListView {
        let slot = slots[property].elements
        precondition(slot.collection != .none && slot.column >= 0, "The property is not a list.")
        let bytes = try column(property, in: location.leaf).bytes(location.row)
        if let transaction = model.transaction, bytes.first == ListFormat.largeForm,
            let open = transaction.sequences[place(property, key)]
        {
            return ListView(
                sequence: open.tree,
                count: open.count,
                byteCount: open.byteCount,
                slot: slot,
                view: view
            )
        }
        return try ListView(bytes, slot: slot, view: view)
    }

    func place(_ property: Int, _ key: Int64) -> ModelTransaction.SequencePlace {
        ModelTransaction.SequencePlace(table: id, property: Int32(property), key: key)
    }

    // MARK: - Writing. Positions out of bounds are a programmer's error and trap.

    /// Inserts an element before a position; at `count` it is appended.
    @_disfavoredOverload
    package func listInsert(_ property: Int, key: Int64, at index: Int, _ element: BorrowedValue) throws {
        try splice(property, key: key, index..<index, with: element)
    }

    /// Inserts an element before a position; at `count` it is appended.
    package func listInsert(_ property: Int, key: Int64, at index: Int, _ element: StoredValue) throws {
        try requireKind(element, property)
        try element.withBorrowed(for: slots[property].kind) { try listInsert(property, key: key, at: index, $0) }
    }

    /// Appends an element.
    @_disfavoredOverload
    package func listAppend(_ property: Int, key: Int64, _ element: BorrowedValue) throws {
        try splice(property, key: key, nil, with: element)
    }

    /// Appends an element.
    package func listAppend(_ property: Int, key: Int64, _ element: StoredValue) throws {
        try requireKind(element, property)
        try element.withBorrowed(for: slots[property].kind) { try listAppend(property, key: key, $0) }
    }

    /// Replaces an element; a row of an embedded class that it held is deleted.
    @_disfavoredOverload
    package func listReplace(_ property: Int, key: Int64, at index: Int, with element: BorrowedValue) throws {
        try splice(property, key: key, index..<index + 1, with: element)
    }

    /// Replaces an element; a row of an embedded class that it held is deleted.
    package func listReplace(_ property: Int, key: Int64, at index: Int, with element: StoredValue) throws {
        try requireKind(element, property)
        try element.withBorrowed(for: slots[property].kind) { try listReplace(property, key: key, at: index, with: $0) }
    }

    /// Removes an element; a row of an embedded class goes with it.
    package func listRemove(_ property: Int, key: Int64, at index: Int) throws {
        try splice(property, key: key, index..<index + 1, with: nil)
    }

    /// Removes the elements of a range; rows of an embedded class go with them.
    package func listRemove(_ property: Int, key: Int64, in range: Range<Int>) throws {
        try splice(property, key: key, range, with: nil)
    }

    /// Removes every element; rows of an embedded class go with them.
    package func listRemoveAll(_ property: Int, key: Int64) throws {
        let count = try list(property, key: key).count
        try splice(property, key: key, 0..<count, with: nil)
    }

    /// Moves the element at one position so that it ends at another.
    package func listMove(_ property: Int, key: Int64, from source: Int, to destination: Int) throws {
        let list = try list(property, key: key)
        precondition(
            (0..<list.count).contains(source) && (0..<list.count).contains(destination),
            "A position to move from or to is out of bounds (must be less than \(list.count))."
        )
        let element = try list.value(at: source)
        // The element stays in the list, so its backlinks stay too and an embedded row is not deleted.
        try rawSplice(property, key: key, source..<source + 1, with: nil)
        try element.withBorrowed(for: slots[property].kind) {
            try rawSplice(property, key: key, destination..<destination, with: $0)
        }
    }

    /// Exchanges two elements.
    package func listSwap(_ property: Int, key: Int64, _ first: Int, _ second: Int) throws {
        let list = try list(property, key: key)
        let firstElement = try list.value(at: first)
        let secondElement = try list.value(at: second)
        try secondElement.withBorrowed(for: slots[property].kind) {
            try rawSplice(property, key: key, first..<first + 1, with: $0)
        }
        try firstElement.withBorrowed(for: slots[property].kind) {
            try rawSplice(property, key: key, second..<second + 1, with: $0)
        }
    }

    /// Makes the list hold exactly these elements.
    ///
    /// Embedded rows that are among them are kept, others are deleted.
    package func listAssign(_ property: Int, key: Int64, _ elements: [StoredValue]) throws {
        for element in elements { try requireKind(element, property) }
        try assign(property, key: key, elements, of: slots[property].kind)
    }

    /// Replaces all elements of a collection, given as it stores them.
    func assign(_ property: Int, key: Int64, _ elements: [StoredValue], of kind: PropertyKind) throws {
        let slot = slots[property]
        let old = slot.makesLinks ? try linkIDs(property, key: key) : []
        if slot.makesLinks {
            var new: [Int64] = []
            for element in elements {
                try element.withBorrowed(for: kind) { try appendLinkIDs(of: $0, slot, to: &new) }
            }
            for target in new { try requireTarget(target, of: property, before: old) }
            _ = try openWriter()
            for target in new { try adjustBacklink(property, target: target, origin: key, by: 1) }
            for target in old { try adjustBacklink(property, target: target, origin: key, by: -1) }
        }
        let count = try list(property, key: key).count
        try rawSplice(property, key: key, 0..<count, with: nil)
        for element in elements {
            try element.withBorrowed(for: kind) { try rawSplice(property, key: key, nil, with: $0) }
        }
        if slot.ownsTarget { try deleteUnowned(old, in: slot.targetTable) }
    }

    private func requireKind(_ element: StoredValue, _ property: Int) throws {
        guard element.isOf(slots[property].kind), element.depth <= MixedFormat.depthLimit else {
            throw invalidValue(property, element)
        }
    }

    /// Replaces a range (nil: at the end) by at most one element, with all that follows from it.
    func splice(_ property: Int, key: Int64, _ range: Range<Int>?, with element: BorrowedValue?) throws {
        let slot = slots[property]
        if let element, !fits(element, slot.elements) { throw invalidValue(property) }
        guard slot.makesLinks else {
            try rawSplice(property, key: key, range, with: element)
            return
        }
        var old: [Int64] = []
        if let range, !range.isEmpty {
            let list = try list(property, key: key)
            precondition(range.upperBound <= list.count && range.lowerBound >= 0, "The position is out of bounds.")
            old.reserveCapacity(range.count)
            try list.forEach(in: range) { _, value in try appendLinkIDs(of: value, slot, to: &old) }
        }
        if let element {
            var new: [Int64] = []
            try appendLinkIDs(of: element, slot, to: &new)
            for target in new { try requireTarget(target, of: property, before: old) }
            _ = try openWriter()
            for target in new { try adjustBacklink(property, target: target, origin: key, by: 1) }
        }
        for target in old { try adjustBacklink(property, target: target, origin: key, by: -1) }
        try rawSplice(property, key: key, range, with: element)
        if slot.ownsTarget { try deleteUnowned(old, in: slot.targetTable) }
    }

    /// Deletes the embedded rows to which nothing links any more.
    private func deleteUnowned(_ keys: [Int64], in tableID: UInt32) throws {
        guard let table = try model.table(id: tableID) else { return }
        for key in keys where try table.contains(key: key) && !table.hasBacklinks(to: key) {
            try table.delete(key: key)
        }
    }
}
