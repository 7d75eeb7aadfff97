import RealmStorage

extension ModelView {
    /// Checks the view where its file was opened for that.
    @inline(__always)
    func checkInvariantsIfAsked() {
        #if DEBUG
        let file: StorageFile? =
            switch state {
            case .reading(let snapshot): snapshot.file
            case .writing(let transaction), .suspended(let transaction): transaction.storage.file
            case .ended: nil
            }
        file?.assertInvariants { () throws(BrokenInvariant) in try checkInvariants() }
        #endif
    }
}

#if DEBUG
extension ModelView {
    /// The view, its tables and the writers of its transaction fit each other.
    func checkInvariants() throws(BrokenInvariant) {
        let flag = transactionFlag.pointee
        try Invariant.require(flag == (isInTransaction ? 1 : 0), "The flag of the transaction is \(flag)")
        let open = openTables
        try Invariant.require(Set(open.map(\.id)).count == open.count, "A table is open twice")
        for table in open {
            try Invariant.require(table.model === self, "A table belongs to another view")
            try table.checkInvariants()
        }
        switch state {
        case .reading(let snapshot):
            try Invariant.require(
                catalog == snapshot.catalog,
                "The view reads another catalog than that of its version"
            )
        case .suspended(let transaction):
            guard let outside = transaction.outside else { throw BrokenInvariant("Nothing is read while suspended") }
            try Invariant.require(catalog == outside.snapshot.catalog, "The view reads another catalog than outside")
        case .writing(let transaction):
            for table in transaction.touched {
                try Invariant.require(open.contains { $0 === table }, "A table that is written is not open")
            }
            try transaction.session.checkInvariants()
        case .ended:
            for table in open { try Invariant.require(table.count == 0, "A view that has ended has rows") }
        }
        if let committed {
            try Invariant.require(committed.roots.count <= open.count, "More was committed than is open")
            for (table, roots) in zip(open, committed.roots) { try roots.checkInvariants(table.layout) }
        }
    }
}

extension ModelSession {
    /// Tables stand under their numbers, in the schema's form, and what is not dirty is as the catalog says.
    func checkInvariants() throws(BrokenInvariant) {
        for (id, table) in tables {
            try Invariant.require(table.id == id, "The writer of table \(table.id) stands under \(id)")
            try Invariant.require(schema.schema(of: id) != nil, "The schema has no table \(id)")
            try table.checkInvariants(in: nil)
        }
    }
}
#endif
