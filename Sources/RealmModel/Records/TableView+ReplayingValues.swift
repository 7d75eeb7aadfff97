import RealmStorage

/// Applying what a record says of single values and collections.
///
/// A value that would not be found again, or that cannot be there, is refused: each element of a set and each name of a dictionary stands
/// behind the one before it, which costs a comparison for each that is written, and each row that is linked to is there at the end
/// of the record, which costs a look-up for each link that is written, as the write itself did.
extension TableView {
    func replay(_ value: RecordedValue, _ property: Int, key: Int64, _ links: inout AwaitedLinks) throws {
        let slot = slots[property]
        switch value {
        case .single(let value):
            try require(value, slot, property, of: key)
            if slot.kind == .any {
                try writeAny(property, key: key, value, requiringTargets: false)
            } else {
                try write(property, key: key, value, of: slot.kind)
            }
            guard slot.makesLinks else { return }
            var targets: [Int64] = []
            try appendLinkIDs(of: value, slot, to: &targets)
            for target in targets { try links.note(target, of: self, property, key: key) }
        case .splices(let count, var splices):
            for _ in 0..<count { try replay(try RecordedSplice(from: &splices), property, key: key, &links) }
        case .smallList, .largeList:
            let old = slot.makesLinks ? try linkIDs(property, key: key) : []
            try replaceElements(property, key: key, by: value)
            guard slot.makesLinks else { return }
            for target in try linkIDs(property, key: key) {
                try adjustBacklink(property, target: target, origin: key, by: 1)
                try links.note(target, of: self, property, key: key)
            }
            for target in old { try adjustBacklink(property, target: target, origin: key, by: -1) }
        }
    }

    /// Makes a collection hold other elements, without its backlinks.
    private func replaceElements(_ property: Int, key: Int64, by value: RecordedValue) throws {
        let count = try list(property, key: key).count
        if count > 0 { try rawSplice(property, key: key, 0..<count, with: nil) }
        let elements = slots[property].elements
        switch value {
        case .smallList(let bytes):
            guard bytes.first != ListFormat.largeForm, bytes.count <= ListFormat.inlineByteLimit else {
                throw damaged("a small list is not one.", property, of: key)
            }
            let list = try ListView(bytes, slot: elements, view: view)
            var previous: BorrowedValue?
            for index in 0..<list.count {
                let element = try list.borrowedValue(at: index)
                try require(element, elementOf: property, of: key)
                try require(element, behind: previous, property, of: key)
                previous = element
            }
            try settle(before: key)
            try setListBytes(list.isEmpty ? .empty : bytes, property, key: key)
            if key < firstNewKey {
                try openWriter().rows.transaction.changes.recordModify(table: id, key: key, column: property)
            }
        case .largeList(let count, var reader):
            guard count > 0 else { throw damaged("a large list is empty.", property, of: key) }
            try settle(before: key)
            // Large as it was, also where it had become so small that it might lie in its row: what is done to it later
            // is told of a large one.
            try makeLarge(property, key: key) { (open) throws(StorageError) in
                var previous: BorrowedValue?
                for _ in 0..<count {
                    let element = try element(try reader.counted(), of: property, key: key)
                    try require(element, behind: previous, property, of: key)
                    try open.append(element, elements, in: openTransaction.storage)
                    previous = element
                }
            }
            if key < firstNewKey {
                try openWriter().rows.transaction.changes.recordModify(table: id, key: key, column: property)
            }
        default: break
        }
    }

    private func replay(
        _ splice: RecordedSplice,
        _ property: Int,
        key: Int64,
        _ links: inout AwaitedLinks
    ) throws {
        let slot = slots[property]
        let list = try list(property, key: key)
        guard list.isLarge, splice.index <= list.count, splice.removed <= list.count - splice.index else {
            throw damaged("a splice lies outside of its list.", property, of: key)
        }
        let range = splice.index..<splice.index + splice.removed
        let element = try splice.element.map { try self.element($0, of: property, key: key) }
        if let element {
            // It is in order before the splice and behind it.
            if range.lowerBound > 0 {
                try require(element, behind: try list.borrowedValue(at: range.lowerBound - 1), property, of: key)
            }
            if range.upperBound < list.count {
                try require(try list.borrowedValue(at: range.upperBound), behind: element, property, of: key)
            }
        }
        if slot.makesLinks {
            var old: [Int64] = []
            var new: [Int64] = []
            try list.forEach(in: range) { _, value in try appendLinkIDs(of: value, slot, to: &old) }
            if let element { try appendLinkIDs(of: element, slot, to: &new) }
            _ = try openWriter()
            for target in new {
                try adjustBacklink(property, target: target, origin: key, by: 1)
                try links.note(target, of: self, property, key: key)
            }
            for target in old { try adjustBacklink(property, target: target, origin: key, by: -1) }
        }
        try rawSplice(property, key: key, range, with: element)
    }

    /// An element of a list that was recorded as its sequence holds it.
    private func element(
        _ bytes: UnsafeRawBufferPointer,
        of property: Int,
        key: Int64
    ) throws(StorageError) -> BorrowedValue {
        let elements = slots[property].elements
        let value = ListFormat.value(
            bytes,
            kind: elements.kind,
            width: ListFormat.width(of: elements.kind),
            isOptional: elements.isOptional
        )
        guard let value else { throw damaged("an element has the wrong length.", property, of: key) }
        try require(value, elementOf: property, of: key)
        return value
    }

    // MARK: What is refused

    /// Throws where a set or a dictionary does not have an element behind another one.
    private func require(
        _ element: BorrowedValue,
        behind previous: BorrowedValue?,
        _ property: Int,
        of key: Int64
    ) throws(StorageError) {
        let slot = slots[property]
        guard slot.isOrdered, let previous else { return }
        if slot.collection == .set {
            let kind = slot.elements.kind
            guard StoredValue.order(StoredValue(previous, kind: kind), StoredValue(element, kind: kind)) >= 0 else {
                return
            }
            throw damaged("the elements of a set are not in order.", property, of: key)
        }
        guard case .bytes(let before) = previous, case .bytes(let entry) = element,
            try MapFormat.entry(before, slot).key.lexicographicallyPrecedes(MapFormat.entry(entry, slot).key)
        else { throw damaged("the names of a dictionary are not in order.", property, of: key) }
    }

    /// Throws where a collection cannot hold an element, which in a dictionary is a name and a value.
    private func require(
        _ value: BorrowedValue,
        elementOf property: Int,
        of key: Int64
    ) throws(StorageError) {
        let slot = slots[property]
        try require(value, slot.elements, property, of: key)
        guard slot.collection == .map, case .bytes(let bytes) = value else { return }
        let entry = try MapFormat.entry(bytes, slot)
        guard UTF8Validation.isValid(entry.key) else { throw damaged("a name is not UTF-8.", property, of: key) }
        try require(entry.value, slot, property, of: key)
    }

    /// Throws where a property or an element, of which `slot` is, cannot hold a value.
    func require(
        _ value: BorrowedValue,
        _ slot: PropertySlot,
        _ property: Int,
        of key: Int64
    ) throws(StorageError) {
        guard fits(value, slot) || value.isNull && slot.isLink else {
            throw damaged("a value does not fit.", property, of: key)
        }
        switch (value, slot.kind) {
        case (.int(let target), .object):
            guard target >= 0 else { throw damaged("a link leads nowhere.", property, of: key) }
        case (.int(let value), .bool):
            guard value == 0 || value == 1 else { throw damaged("a bool is neither.", property, of: key) }
        case (.bytes(let bytes), .string):
            guard UTF8Validation.isValid(bytes) else { throw damaged("a text is not UTF-8.", property, of: key) }
        case (.bytes(let bytes), .any):
            guard MixedFormat.decode(bytes) != nil else { throw damaged("a value cannot be read.", property, of: key) }
        default: break
        }
    }
}

extension PropertySlot {
    /// Whether elements are looked for by their place in an order.
    fileprivate var isOrdered: Bool { collection == .set || collection == .map }
}
