import RealmStorage

/// Properties that hold a value of any kind.
extension TableView {
    /// Writes a value, and the backlinks of the links in it.
    ///
    /// The rows that it links to must be there, but where `requiringTargets` is false.
    func writeAny(
        _ property: Int,
        key: Int64,
        _ value: BorrowedValue,
        requiringTargets: Bool = true
    ) throws {
        let slot = slots[property]
        let writer = try openWriter()
        guard try exists(key) else { throw ModelError.noSuchRow(className: schema.name, key: key) }
        try settle(before: key)
        let old = try linkIDs(property, key: key)
        var new: [Int64] = []
        try appendLinkIDs(of: value, slot, to: &new)
        if requiringTargets { for target in new { try requireTarget(target, of: property, before: old) } }
        for target in new { try adjustBacklink(property, target: target, origin: key, by: 1) }
        for target in old { try adjustBacklink(property, target: target, origin: key, by: -1) }
        try storeAny(value, property, key: key, writer)
    }

    private func storeAny(
        _ value: BorrowedValue,
        _ property: Int,
        key: Int64,
        _ writer: TableWriter
    ) throws(StorageError) {
        try store(value, slots[property], key: key, writer)
        if key < firstNewKey { writer.rows.transaction.changes.recordModify(table: id, key: key, column: property) }
    }

    /// Puts null where a value, or the elements of a collection, link to a row that goes; its backlinks are gone already.
    ///
    /// A dictionary of links that are not optional loses the entry.
    func removeLinks(to target: (table: UInt32, key: Int64), _ property: Int, key: Int64) throws {
        let slot = slots[property]
        func without(_ value: StoredValue) -> StoredValue {
            value.replacingLinks { table, key in
                table == target.table && key == target.key ? .null : .anyLink(table: table, key: key)
            }
        }
        let writer = try openWriter()
        guard slot.collection != .none else {
            let value = without(try value(property, key: key))
            try value.withBorrowed(for: .any) { try storeAny($0, property, key: key, writer) }
            return
        }
        let count = try list(property, key: key).count
        for index in (0..<count).reversed() {
            if slot.collection == .map {
                let map = try map(property, key: key)
                let old = try map.value(at: index)
                let new = slot.kind == .any ? without(old) : old == .link(target.key) ? .null : old
                guard new != old else { continue }
                if slot.isLink, !slot.isOptional {
                    try rawSplice(property, key: key, index..<index + 1, with: nil)
                    continue
                }
                let bytes = try MapFormat.encode(try map.key(at: index), new, slot)
                try bytes.withUnsafeBytes { try rawSplice(property, key: key, index..<index + 1, with: .bytes($0)) }
            } else {
                let old = try list(property, key: key).value(at: index)
                let new = without(old)
                guard new != old else { continue }
                // A set keeps its order: null goes to its place, if it is not there yet.
                try new.withBorrowed(for: .any) {
                    try rawSplice(property, key: key, index..<index + 1, with: slot.collection == .set ? nil : $0)
                }
                guard slot.collection == .set else { continue }
                let place = try setPosition(property, key: key, of: new)
                guard !place.isThere else { continue }
                try new.withBorrowed(for: .any) {
                    try rawSplice(property, key: key, place.index..<place.index, with: $0)
                }
            }
        }
    }
}
