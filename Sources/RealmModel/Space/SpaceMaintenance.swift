import OrderedCollections
package import RealmStorage

/// Makes a file smaller while it is open: moves pages off its end when more than half of it is free, and gives what is
/// free at the end back to the file system.
///
/// Each step is an ordinary, small write transaction, so that other writers wait no longer for it than for each other.
/// Not Sendable: one owner takes the steps.
package final class SpaceMaintenance {
    /// Where a pass over everything in the file has come to.
    private struct Pass {
        let limit: PageNumber
        /// The table that is being moved, nil for those that are left.
        var table: UInt32 = 0
        var part = Part.rows(nil)
        var isDone = false
    }

    private enum Part {
        case rows(Int64?)
        case tree(Int, [UInt8]?)
    }

    private var pass: Pass?
    /// Whether the last commit of a step was for the sake of the log alone: with the next one like it, nothing would end.
    private var hasMovedLogAlone = false
    /// Pages moved since the beginning.
    package private(set) var movedPageCount = 0
    /// Whether a step moved pages or gave space back; commits for the sake of the log alone gain nothing.
    package private(set) var hasGained = false
    /// The most pages that one step moves.
    package var pageBudget = 256

    package init() {}

    /// What a step came to.
    package enum Step: Sendable {
        /// A commit, to be published.
        case commit(PreparedCommit)
        /// Nothing to commit; there is more to look at.
        case more
        /// Nothing is left to do for now.
        case done
    }

    /// Takes one step on the file, always the same one.
    ///
    /// The caller holds the write lock, and every prepared commit has been published.
    package func step(_ file: StorageFile) throws(StorageError) -> Step {
        do throws(StorageError) {
            if try file.returnTrailingSpace() { hasGained = true }
            return try step(in: file.beginWrite())
        } catch {
            // Wherever it failed: the next transactions of others are not to put their pages into holes any more.
            file.forgetWriterState()
            pass = nil
            throw error
        }
    }

    private func step(in transaction: WriteTransaction) throws(StorageError) -> Step {
        do throws(StorageError) {
            var isChanged = false
            if pass == nil || pass?.isDone == true {
                pass = transaction.relocationLimit.map { Pass(limit: $0) }
            }
            if let limit = pass?.limit {
                var relocation = Relocation(below: limit, in: transaction, pageBudget: pageBudget)
                transaction.setPlacementLimit(limit)
                try advance(&relocation, in: transaction)
                movedPageCount += relocation.movedPageCount
                isChanged = relocation.movedPageCount > 0
                if pass?.isDone == true, !isChanged { pass = nil }
            }
            if transaction.trimEnd() > 0 { isChanged = true }
            if isChanged { hasGained = true }
            // The limit holds for what the commit itself takes, its record among them.
            let isPassOver = pass?.isDone != false
            if !isChanged, !transaction.writesPicture, !transaction.file.isOlderHeaderLonger {
                if isPassOver { transaction.setPlacementLimit(nil) }
                transaction.rollback()
                if isPassOver { hasMovedLogAlone = false }
                return isPassOver ? .done : .more
            }
            hasMovedLogAlone = !isChanged && transaction.writesPicture
            let commit = try transaction.prepareCommit()
            if isPassOver { transaction.setPlacementLimit(nil) }
            return .commit(commit)
        } catch {
            transaction.rollback()
            throw error
        }
    }

    /// Goes on with the pass until the step has done enough.
    private func advance(_ relocation: inout Relocation, in transaction: WriteTransaction) throws(StorageError) {
        guard var pass else { return }
        defer { self.pass = pass }
        _ = try transaction.catalog.map(through: &relocation)
        if !hasMovedLogAlone { try transaction.relocateLog(below: pass.limit) }
        let schema = try DatabaseSchema(in: transaction.catalog, view: transaction.view) ?? .empty
        let classes = schema.classes.values.sorted { $0.tableID < $1.tableID }
        while !relocation.isExhausted {
            guard let current = classes.first(where: { $0.tableID >= pass.table }) else {
                pass.isDone = true
                return
            }
            if current.tableID > pass.table {
                pass.table = current.tableID
                pass.part = .rows(nil)
            }
            if let part = try advance(current, from: pass.part, &relocation, in: transaction) {
                pass.part = part
            } else {
                pass.table = current.tableID + 1
                pass.part = .rows(nil)
            }
        }
    }

    /// Goes on within a table; returns where to go on, nil when the table is done.
    private func advance(
        _ schema: ClassSchema,
        from part: Part,
        _ relocation: inout Relocation,
        in transaction: WriteTransaction
    ) throws(StorageError) -> Part? {
        guard
            let bytes = try CatalogKey.value(
                CatalogKey.table,
                schema.tableID,
                in: transaction.catalog,
                view: transaction.view
            )
        else { return nil }
        var (clusters, trees) = try TableEntry.read(bytes, of: schema)
        var isChanged = false
        var next: Part? = part
        while let part = next, !relocation.isExhausted {
            switch part {
            case .rows(let key):
                let old = clusters.root
                let stop = try clusters.map(
                    from: key,
                    lists: schema.listColumns,
                    rootOffset: ListFormat.rootOffset(in:),
                    through: &relocation
                )
                if clusters.root != old { isChanged = true }
                next = stop.map { .rows($0) } ?? .tree(0, nil)
            case .tree(let index, let key):
                guard index < trees.count else {
                    next = nil
                    continue
                }
                var tree = ByteTree(root: trees[index].root)
                let stop = try tree.map(from: key, through: &relocation)
                if tree.root != trees[index].root {
                    trees[index].root = tree.root
                    isChanged = true
                }
                next = stop.map { .tree(index, $0) } ?? .tree(index + 1, nil)
            }
        }
        if isChanged {
            let entry = TableEntry.bytes(clusters: clusters, trees: trees)
            try CatalogKey.store(entry, CatalogKey.table, schema.tableID, in: transaction)
        }
        return next
    }
}

extension ClassSchema {
    /// The physical columns that hold lists.
    var listColumns: Set<Int> {
        Set(properties.filter { $0.collection != .none && $0.isStored }.map(\.column))
    }
}

extension ListFormat {
    /// Where the root of a large list's sequence stands in its bytes; nil for a list that has none.
    static func rootOffset(in bytes: UnsafeRawBufferPointer) -> Int? {
        bytes.first == largeForm && bytes.count == largeByteCount ? rootOffset : nil
    }
}
