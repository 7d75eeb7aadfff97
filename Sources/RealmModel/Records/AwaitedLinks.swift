import RealmStorage

/// The links of a record that is being applied to rows that were not there yet: rows that come later in the record may be linked to
/// before they come.
struct AwaitedLinks {
    fileprivate struct Link {
        let origin: TableView
        let property: Int
        let key: Int64
        /// As the backlinks of the property name it.
        let target: Int64
    }

    private var links: [Link] = []

    /// Notes a link to a row, if that is not there.
    ///
    /// What is there stays: a row that is linked to is not deleted.
    mutating func note(_ target: Int64, of origin: TableView, _ property: Int, key: Int64) throws(StorageError) {
        let link = Link(origin: origin, property: property, key: key, target: target)
        if try !link.isWhole { links.append(link) }
    }

    /// Checks that all rows have come that are linked to still: an element of a large list may have come and gone, with its row.
    func check() throws(StorageError) {
        for link in links {
            guard try !link.isWhole, try link.isThere else { continue }
            throw link.origin.dangling(link.property, link.key, link.target)
        }
    }
}

extension AwaitedLinks.Link {
    /// Whether the row is there that it leads to.
    fileprivate var isWhole: Bool {
        get throws(StorageError) {
            let row = LinkID(target, origin.slots[property])
            return try origin.model.table(id: row.table)?.exists(row.key) ?? false
        }
    }

    /// Whether the property holds it.
    fileprivate var isThere: Bool {
        get throws(StorageError) {
            let tree = try origin.linkTree(property)
            return try origin.withKeyBuffer { (buffer) throws(StorageError) -> Bool in
                try tree.contains(IndexKey.backlink(target: target, origin: key, to: buffer), in: origin.view)
            }
        }
    }
}

extension TableView {
    /// Checks that the rows are there that this table, which a record leaves as it was, links to in tables that it does not leave so.
    ///
    /// - Complexity: O(*n*) in the links, and a look-up for each row that is linked to.
    func requireTargets(outside kept: Set<UInt32>) throws(StorageError) {
        for property in layout.linkProperties {
            if slots[property].isLink, kept.contains(slots[property].targetTable) { continue }
            try requireTargets(of: property, outside: kept)
        }
    }

    private func requireTargets(of property: Int, outside kept: Set<UInt32>) throws(StorageError) {
        var cursor = try linkTree(property).cursor(in: view)
        var isOnEntry = try cursor.seekFirst()
        var last: Int64?
        while isOnEntry {
            let entry = cursor.key
            guard entry.count == 16 else { throw corrupt("a backlink is damaged.") }
            let number = Int64(bitPattern: UInt64(bigEndian: entry.loadUnaligned(as: UInt64.self)))
            let target = LinkID(number, slots[property])
            if number != last, !kept.contains(target.table) {
                guard let table = try model.table(id: target.table), try table.exists(target.key) else {
                    throw dangling(property, Int64(bitPattern: cursor.lastEightBytes), number)
                }
            }
            last = number
            isOnEntry = try cursor.next()
        }
    }

    fileprivate func dangling(_ property: Int, _ key: Int64, _ target: Int64) -> StorageError {
        let target = LinkID(target, slots[property])
        return damaged("it links to row \(target.key) of table \(target.table), which is not there.", property, of: key)
    }

    /// The error for what a record says of a row's property.
    func damaged(_ what: String, _ property: Int, of key: Int64) -> StorageError {
        RecordReader.damaged("'\(schema.name).\(schema.properties[property].name)' of row \(key): \(what)")
    }
}
