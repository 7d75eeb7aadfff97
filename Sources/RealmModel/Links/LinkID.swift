package import RealmStorage

/// What a backlink tree names a target by.
///
/// Where a property links to one class, the target's row key. Where it can link to any class, the table's number is
/// joined to it: tables are numbered from 1 and rows counted up from 0, so that 20 bits and 43 bits are enough for both
/// of every file that can be.
struct LinkID {
    static let keyBits: Int64 = 43

    let table: UInt32
    let key: Int64

    /// The target that a tree's number stands for.
    init(_ number: Int64, _ slot: PropertySlot) {
        if slot.kind == .any {
            table = UInt32(truncatingIfNeeded: number >> Self.keyBits)
            key = number & (1 << Self.keyBits - 1)
        } else {
            table = slot.targetTable
            key = number
        }
    }

    /// The number that stands for a row in the tree of a property that can link to any class.
    ///
    /// No link leads to a row beyond the bits, which only damage gives out: its number is in no tree, and not that of another row.
    static func number(table: UInt32, key: Int64) -> Int64 {
        key >> keyBits == 0 ? Int64(table) << keyBits | key : -1
    }
}

extension TableView {
    /// The number that stands for a row of this table in the backlinks of a property.
    func linkNumber(of key: Int64, in slot: PropertySlot) -> Int64 {
        slot.kind == .any ? LinkID.number(table: id, key: key) : key
    }

    /// Appends the targets of the links in a value or element, as a backlink tree names them.
    func appendLinkIDs(of value: BorrowedValue, _ slot: PropertySlot, to numbers: inout [Int64]) throws {
        guard slot.collection == .map, case .bytes(let bytes) = value else {
            return try appendLinkIDs(ofSingle: value, slot, to: &numbers)
        }
        try appendLinkIDs(ofSingle: try MapFormat.entry(bytes, slot).value, slot, to: &numbers)
    }

    private func appendLinkIDs(ofSingle value: BorrowedValue, _ slot: PropertySlot, to numbers: inout [Int64]) throws {
        switch value {
        case .int(let key): numbers.append(key)
        case .bytes(let bytes) where slot.kind == .any:
            guard let value = MixedFormat.decode(bytes) else {
                throw corrupt("a value of any type is damaged.")
            }
            try value.forEachLink { table, key in
                guard key >= 0, key < 1 << LinkID.keyBits, table < 1 << 20 else {
                    throw corrupt("a link to row \(key) of table \(table) cannot be.")
                }
                numbers.append(LinkID.number(table: table, key: key))
            }
        default: break
        }
    }

    /// The targets of a row's collection, as a backlink tree names them, in order and as often as they occur.
    func linkIDs(_ property: Int, key: Int64) throws -> [Int64] {
        try linkIDs(property, at: try row(of: key), key: key)
    }

    /// The targets of a collection or single value of a row already located.
    func linkIDs(_ property: Int, at location: RowLocation, key: Int64) throws -> [Int64] {
        let slot = slots[property]
        var numbers: [Int64] = []
        guard slot.collection != .none else {
            try appendLinkIDs(of: try borrowedValue(property, at: location), slot, to: &numbers)
            return numbers
        }
        let list = try list(property, at: location, key: key)
        numbers.reserveCapacity(forClaimed: list.count)
        try list.forEach(in: nil, { _, value in try appendLinkIDs(of: value, slot, to: &numbers) })
        return numbers
    }

    /// The rows of a collection of objects, in order; a dictionary's entries without an object are left out.
    package func linkedKeys(_ property: Int, at location: RowLocation, key: Int64) throws -> [Int64] {
        precondition(slots[property].isLink, "The property is not a link.")
        return try linkIDs(property, at: location, key: key)
    }

    /// The rows of a collection of objects.
    package func linkedKeys(_ property: Int, key: Int64) throws -> [Int64] {
        try linkedKeys(property, at: try row(of: key), key: key)
    }
}
