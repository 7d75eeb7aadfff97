import RealmStorage

extension ModelView {
    /// Throws when rows cannot go together, with all that goes with them, because one links to a row that stays through a
    /// property whose delete rule denies that.
    ///
    /// - Throws: `ModelError.deletionDenied`, or the storage's error.
    package func requireDeletable(_ rows: [TableView.Doomed]) throws {
        guard schema.deniesDeletions else { return }
        var going: [UInt32: Set<Int64>] = [:]
        var pending: [TableView.Doomed] = []
        func add(_ row: TableView.Doomed) throws {
            guard going[row.table.id, default: []].insert(row.key).inserted else { return }
            if try row.table.contains(key: row.key) { pending.append(row) }
        }
        for row in rows { try add(row) }
        var next = 0
        while next < pending.count {
            let (table, key) = pending[next]
            next += 1
            for (property, targets) in table.links(where: \.cascades) {
                for target in try table.linkIDs(property, key: key) { try add((targets, target)) }
            }
        }
        for (table, key) in pending {
            for (property, targets) in table.links(where: { $0.deleteRule == .deny }) {
                for target in try table.linkIDs(property, key: key)
                where going[targets.id]?.contains(target) != true {
                    throw ModelError.deletionDenied(
                        className: table.schema.name,
                        property: table.schema.properties[property].name,
                        targetClass: targets.schema.name
                    )
                }
            }
        }
    }
}

extension TableView {
    /// The link properties that fit, with the tables that they link to.
    fileprivate func links(where fits: (PropertySlot) -> Bool) -> [(property: Int, targets: TableView)] {
        layout.linkProperties.compactMap { property in
            let slot = slots[property]
            guard slot.isLink, fits(slot), let targets = try? model.table(id: slot.targetTable) else { return nil }
            return (property, targets)
        }
    }
}
