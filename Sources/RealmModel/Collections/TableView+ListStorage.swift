import RealmStorage

/// Small lists in the row, large ones in a sequence tree, and the way from one to the other.
extension TableView {
    /// Replaces a range (nil: at the end) by at most one element in the list itself, and records the change.
    ///
    /// - Throws: `StorageError` when a page cannot be read or made: the transaction can only be rolled back then.
    func rawSplice(_ property: Int, key: Int64, _ range: Range<Int>?, with element: BorrowedValue?) throws {
        let writer = try openWriter()
        try settle(before: key)
        let list = try list(property, key: key)
        let range = range ?? list.count..<list.count
        precondition(
            range.lowerBound >= 0 && range.upperBound <= list.count,
            "Index \(range.lowerBound) is out of bounds (must be less than \(list.count))."
        )
        do {
            if list.isLarge {
                try spliceLarge(list, property, key: key, range, with: element)
            } else {
                try spliceSmall(list, property, key: key, range, with: element)
            }
        } catch let error as StorageError {
            // A sequence may be half changed; what is too long is refused before.
            if error.code != .limit { writer.rows.transaction.refuseCommit(because: error) }
            throw error
        }
        if list.isLarge, case .record = writer.rows.transaction.recording, key < firstNewKey {
            try openTransaction.splices[place(property, key), default: ListSplices()]
                .note(range, with: element, slots[property].elements)
        }
        if key < firstNewKey { writer.rows.transaction.changes.recordModify(table: id, key: key, column: property) }
    }

    private func spliceSmall(
        _ list: ListView,
        _ property: Int,
        key: Int64,
        _ range: Range<Int>,
        with element: BorrowedValue?
    ) throws {
        let slot = slots[property].elements
        let transaction = try openTransaction
        let width = ListFormat.width(of: slot.kind)
        let count = list.count - range.count + (element == nil ? 0 : 1)
        var heapByteCount = width == 0 ? list.byteCount : 0
        if width == 0 {
            for index in range { heapByteCount -= try list.bytes(at: index).count }
            if case .bytes(let bytes) = element { heapByteCount += bytes.count }
        }
        let byteCount = ListFormat.byteCount(
            width: width,
            isOptional: slot.isOptional,
            count: count,
            heapByteCount: heapByteCount
        )
        guard byteCount <= ListFormat.inlineByteLimit else {
            try grow(list, property, key: key, range, with: element)
            return
        }
        guard count > 0 else {
            try setListBytes(UnsafeRawBufferPointer(start: nil, count: 0), property, key: key)
            return
        }
        var encoder = SmallListWriter(transaction.listBuffer, slot: slot, count: count)
        for index in 0..<range.lowerBound { encoder.append(try list.borrowedValue(at: index)) }
        if let element { encoder.append(element) }
        for index in range.upperBound..<list.count { encoder.append(try list.borrowedValue(at: index)) }
        try setListBytes(encoder.bytes, property, key: key)
    }

    func setListBytes(_ bytes: UnsafeRawBufferPointer, _ property: Int, key: Int64) throws(StorageError) {
        try openWriter().rows.setBytes(bytes, key: key, column: Int(slots[property].column))
    }

    /// Moves a small list into a sequence, together with a change that makes it too large.
    private func grow(
        _ list: ListView,
        _ property: Int,
        key: Int64,
        _ range: Range<Int>,
        with element: BorrowedValue?
    ) throws {
        let slot = slots[property].elements
        try makeLarge(property, key: key) { (open) throws(StorageError) in
            let storage = try openTransaction.storage
            for index in 0..<range.lowerBound {
                try open.append(try list.borrowedValue(at: index), slot, in: storage)
            }
            if let element { try open.append(element, slot, in: storage) }
            for index in range.upperBound..<list.count {
                try open.append(try list.borrowedValue(at: index), slot, in: storage)
            }
        }
    }

    /// Puts a sequence with at least one element into the place of a small list.
    func makeLarge(
        _ property: Int,
        key: Int64,
        _ fill: (ModelTransaction.OpenSequence) throws(StorageError) -> Void
    ) throws(StorageError) {
        let open = ModelTransaction.OpenSequence()
        try fill(open)
        try openTransaction.sequences[place(property, key)] = open
        try tellAsWhole(property, key: key)
        try open.withBytes(slots[property].elements) { (bytes) throws(StorageError) in
            try setListBytes(bytes, property, key: key)
        }
    }

    private func spliceLarge(
        _ list: ListView,
        _ property: Int,
        key: Int64,
        _ range: Range<Int>,
        with element: BorrowedValue?
    ) throws {
        let transaction = try openTransaction
        let slot = slots[property].elements
        let open = try openSequence(property, key: key)
        if let element, range.count == 1 {
            try open.replace(at: range.lowerBound, with: element, slot, in: transaction.storage)
        } else if range.count == open.count {
            try open.removeAll(in: transaction.storage)
            if let element { try open.append(element, slot, in: transaction.storage) }
        } else {
            for index in range.reversed() { try open.remove(at: index, in: transaction.storage) }
            if let element { try open.insert(element, at: range.lowerBound, slot, in: transaction.storage) }
        }
        if open.byteCount <= ListFormat.shrinkByteLimit { try shrink(open, property, key: key) }
    }

    /// Brings a sequence that became small back into its row.
    private func shrink(_ open: ModelTransaction.OpenSequence, _ property: Int, key: Int64) throws {
        let transaction = try openTransaction
        let slot = slots[property].elements
        let width = ListFormat.width(of: slot.kind)
        let byteCount = ListFormat.byteCount(
            width: width,
            isOptional: slot.isOptional,
            count: open.count,
            heapByteCount: width == 0 ? open.byteCount : 0
        )
        guard byteCount <= ListFormat.inlineByteLimit / 4 * 3 else { return }
        if open.count == 0 {
            try setListBytes(UnsafeRawBufferPointer(start: nil, count: 0), property, key: key)
        } else {
            let list = ListView(
                sequence: open.tree,
                count: open.count,
                byteCount: open.byteCount,
                slot: slot,
                view: transaction.storage.view
            )
            // What the row says that its elements are long together is all that is known until here.
            var elementByteCount = 0
            try list.visit { elementByteCount += ListFormat.encodedByteCount($0, list) }
            guard elementByteCount == open.byteCount else {
                throw ListFormat.damaged("its elements are \(elementByteCount) bytes long and not \(open.byteCount).")
            }
            var encoder = SmallListWriter(transaction.listBuffer, slot: slot, count: open.count)
            try list.visit { encoder.append($0) }
            try setListBytes(encoder.bytes, property, key: key)
        }
        try open.removeAll(in: transaction.storage)
        transaction.sequences[place(property, key)] = nil
        try tellAsWhole(property, key: key)
    }

    /// Notes that a list became large or small: what was done to it before means nothing any more.
    private func tellAsWhole(_ property: Int, key: Int64) throws(StorageError) {
        let transaction = try openTransaction
        guard case .record = transaction.storage.recording, key < firstNewKey else { return }
        transaction.splices[place(property, key), default: ListSplices()].tellWhole()
    }

    /// The sequence of a large list, open for changes.
    func openSequence(_ property: Int, key: Int64) throws -> ModelTransaction.OpenSequence {
        let transaction = try openTransaction
        if let open = transaction.sequences[place(property, key)] { return open }
        let location = try row(of: key)
        let bytes = try column(property, in: location.leaf).bytes(location.row)
        let list = try ListView(bytes, slot: slots[property].elements, view: view)
        precondition(list.isLarge, "The list is not large.")
        let open = ModelTransaction.OpenSequence(
            tree: SequenceTree(root: try ListFormat.root(at: bytes.baseAddress!)),
            count: list.count,
            byteCount: list.byteCount
        )
        #if DEBUG
        let storage = transaction.storage
        storage.file.assertInvariants { () throws(BrokenInvariant) in open.lookAtClaims(in: storage) }
        #endif
        transaction.sequences[place(property, key)] = open
        return open
    }

    /// Frees the pages of a row's large lists, before the row goes.
    func freeSequences(of key: Int64) throws {
        for property in layout.listProperties where try list(property, key: key).isLarge {
            let open = try openSequence(property, key: key)
            let transaction = try openTransaction
            try open.removeAll(in: transaction.storage)
            transaction.sequences[place(property, key)] = nil
        }
    }
}

extension ModelTransaction {
    /// Seals every changed large list and stores its root in its row.
    func sealSequences(in model: ModelView) throws(StorageError) {
        for (place, open) in sequences {
            try open.tree.seal(in: storage)
            guard let table = try model.table(id: place.table) else { continue }
            let property = Int(place.property)
            let writer = try table.openWriter()
            try table.settle(before: place.key)
            try open.withBytes(table.slots[property].elements) { (bytes) throws(StorageError) in
                try writer.rows.setBytes(bytes, key: place.key, column: table.column(property))
            }
        }
        sequences.removeAll()
    }
}
