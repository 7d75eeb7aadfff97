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
        file?
            .assertInvariants { () throws(BrokenInvariant) in
                if file?.checksWholeStructures == true { try checkInvariants() } else { try checkInvariantsOfChange() }
            }
        #endif
    }
}

#if DEBUG
extension ModelView {
    /// As ``checkInvariantsOfChange()``, with the rows and indexes of tables that are written, and what stands in large lists.
    func checkInvariants() throws(BrokenInvariant) {
        try checkInvariantsOfChange()
        guard let transaction else { return }
        let storage = transaction.storage
        for writer in transaction.session.tables.values { try writer.rows.checkInvariants() }
        for table in openTables { try table.writer?.checkIndexes(in: storage) }
        try transaction.session.checkRoots(in: storage)
        try transaction.checkLists(in: self, wholly: true)
    }

    /// The view, its tables and the writers of its transaction fit each other.
    func checkInvariantsOfChange() throws(BrokenInvariant) {
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
            let session = transaction.session
            try Invariant.require(session.schema.stamp == schema.stamp, "The session has another schema than the view")
            // Whoever changes a schema looks at it through views of its own.
            if !transaction.storage.changesSchema {
                let isKnown = transaction.storage.session === session
                try Invariant.require(isKnown, "What the transaction leaves in its session would not be sealed")
            }
            try session.checkInvariantsOfChange()
            try transaction.checkLists(in: self)
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
    /// As ``checkInvariantsOfChange()``, with the rows of all writers.
    func checkInvariants() throws(BrokenInvariant) {
        try checkInvariantsOfChange()
        for table in tables.values { try table.rows.checkInvariants() }
    }

    /// Tables stand under their numbers, in the schema's form.
    func checkInvariantsOfChange() throws(BrokenInvariant) {
        for (id, table) in tables {
            try Invariant.require(table.id == id, "The writer of table \(table.id) stands under \(id)")
            guard let stored = schema.schema(of: id) else { throw BrokenInvariant("The schema has no table \(id)") }
            try Invariant.require(
                table.layout.schema == stored,
                "The writer of '\(stored.name)' goes by another class than the session"
            )
            try table.checkInvariantsOfChange()
        }
    }

    /// What is not dirty is as the transaction's catalog says.
    func checkRoots(in transaction: WriteTransaction) throws(BrokenInvariant) {
        // Where steps are made to fail, reading pages here would be one of them.
        if transaction.file.options.failures != nil { return }
        for table in tables.values where !table.isDirty {
            let (layout, roots) = (table.layout, table.roots)
            let catalog = transaction.catalog
            // What cannot be read says nothing of this structure.
            guard
                let stored = try? TableRoots(
                    of: layout,
                    in: catalog,
                    view: transaction.view,
                    known: roots.clusters
                )
            else { continue }
            try Invariant.require(
                stored.clusters == roots.clusters && stored.trees == roots.trees,
                "The catalog has other roots of '\(layout.schema.name)' than the session"
            )
        }
    }
}

extension ModelTransaction {
    /// Large lists belong to rows of open tables, and splices are kept for a record, of rows that were there before.
    func checkLists(in model: ModelView, wholly isWhole: Bool = false) throws(BrokenInvariant) {
        // A list may be half changed where the transaction can only be rolled back.
        if sequences.isEmpty && splices.isEmpty || (try? storage.checkCommit()) == nil { return }
        let tables = model.openTables
        func owner(of place: SequencePlace) throws(BrokenInvariant) -> TableView {
            guard let table = tables.first(where: { $0.id == place.table }) else {
                throw BrokenInvariant("A list is changed of table \(place.table), which is not open")
            }
            let isList = table.layout.listProperties.contains(Int(place.property))
            try Invariant.require(isList, "Property \(place.property) of '\(table.schema.name)' holds no lists")
            return table
        }
        for (place, list) in sequences {
            let table = try owner(of: place)
            try Invariant.require(place.key < table.nextKey, "A list of '\(table.schema.name)' belongs to no row")
            try list.checkInvariants(in: storage, wholly: isWhole)
        }
        try Invariant.require(
            splices.isEmpty || storage.recording == .record,
            "What is done to lists is kept for no record"
        )
        for (place, noted) in splices {
            let table = try owner(of: place)
            try Invariant.require(
                place.key < table.firstNewKey,
                "A list of '\(table.schema.name)' is told by its changes, and its row is new"
            )
            try noted.checkInvariants()
        }
    }
}

extension ModelTransaction.OpenSequence {
    /// Looks whether what the row says of the list is true: a stranger's file may say anything.
    func lookAtClaims(in transaction: WriteTransaction) {
        if transaction.file.options.failures != nil { return }
        isCounted = (try? tree.count(in: transaction.view)) == count
        isMeasured = isCounted && transaction.file.checksWholeStructures && measured(in: transaction) == byteCount
    }

    /// What is counted is what stands in the sequence, unless the file has lied from the beginning.
    func checkInvariants(in transaction: WriteTransaction, wholly isWhole: Bool) throws(BrokenInvariant) {
        try Invariant.require(count >= 0 && byteCount >= 0, "A list has \(count) elements of \(byteCount) bytes")
        if transaction.file.options.failures != nil { return }
        if isCounted, let found = try? tree.count(in: transaction.view) {
            try Invariant.require(found == count, "\(found) elements of a list are counted as \(count)")
        }
        if isMeasured, isWhole, let found = measured(in: transaction) {
            try Invariant.require(found == byteCount, "\(found) bytes of a list are counted as \(byteCount)")
        }
    }

    /// How long the elements are together; nil when they cannot be read.
    private func measured(in transaction: WriteTransaction) -> Int? {
        var sum = 0
        do throws(StorageError) {
            let count = try tree.count(in: transaction.view)
            try tree.forEach(in: 0..<count, view: transaction.view) { _, element in sum += element.count }
        } catch {
            return nil
        }
        return sum
    }
}

extension ListSplices {
    /// As many splices are written as are counted, and nothing behind them.
    func checkInvariants() throws(BrokenInvariant) {
        let found = writer.bytes.withUnsafeBytes { bytes -> Int? in
            var reader = RecordReader(bytes)
            var found = 0
            while !reader.isAtEnd {
                guard (try? RecordedSplice(from: &reader)) != nil else { return nil }
                found += 1
            }
            return found
        }
        guard let found else { throw BrokenInvariant("The splices of a list cannot be read") }
        try Invariant.require(found == count, "\(found) splices of a list are counted as \(count)")
    }
}
#endif
