import RealmModel
import RealmStorage

// The rows of a class in the order of a sort.
extension ObservedKeys {
    mutating func advanceSorted(
        _ table: TableView,
        _ rows: ConcernedRows,
        _ order: SortOrder,
        _ membership: ChangePaths?,
        _ ordering: ChangePaths,
        _ step: ChangeStep
    ) throws -> CollectionDelta {
        let modified = try modified(rows.changed)
        let candidates = try membership.map { try rows.changed($0) } ?? []
        let reordered = try rows.changed(ordering)
        let inserted = rows.inserted
        let deleted = rows.deleted
        let touched = deleted.count + inserted.count + candidates.count + reordered.count
        var keys = current.tree
        guard let before = try step.old.table(id: table.id), !ObservedKeys.isBulk(touched, of: keys.count) else {
            let next = try query.keys(in: step.new) ?? []
            return replace(with: next, modified: modified, pairsReplacements: false)
        }
        let sought = AscendingKeys.union(deleted, candidates + reordered + modified)
            .filter { !AscendingKeys.contains($0, in: inserted) }
        if sought.isEmpty, inserted.isEmpty { return CollectionDelta() }
        let oldOrder = try CompiledSort(order, table: before)
        let places = try SortedKeys.positions(of: sought, in: keys, precedes: oldOrder.precedes)

        let fits = try membershipTest(in: table)
        var gone = Set(deleted.compactMap { places[$0] })
        var added = try inserted.filter(fits)
        for key in candidates where !AscendingKeys.contains(key, in: inserted) {
            let fits = try fits(key)
            if let place = places[key] {
                if !fits { gone.insert(place) }
            } else if fits {
                added.append(key)
            }
        }
        let newOrder = try CompiledSort(order, table: table)
        let delta = try SortedKeys.apply(
            removed: Array(gone),
            moved: reordered.compactMap { places[$0] }.filter { !gone.contains($0) },
            added: added,
            modified: modified.compactMap { places[$0] }.filter { !gone.contains($0) },
            to: &keys,
            precedes: newOrder.precedes
        )
        current = .tree(keys)
        return delta
    }

    /// Asks whether a row exists and fulfils the predicate.
    func membershipTest(in table: TableView) throws -> (Int64) throws -> Bool {
        guard let predicate = query.predicate else { return { try table.contains(key: $0) } }
        let compiled = try CompiledQuery(predicate, table: table)
        return { try compiled.matches(key: $0) }
    }

    /// The first rows of a sort: a few more than are shown are kept in order, and rows behind them matter only when they
    /// come before them.
    mutating func advanceWindow(
        _ table: TableView,
        _ rows: ConcernedRows,
        _ order: SortOrder,
        _ membership: ChangePaths?,
        _ ordering: ChangePaths,
        _ step: ChangeStep
    ) throws -> CollectionDelta {
        let modified = try modified(rows.changed)
        let candidates = try membership.map { try rows.changed($0) } ?? []
        let reordered = try rows.changed(ordering)
        guard var next = window else { return CollectionDelta() }
        let touched = AscendingKeys.union(rows.deleted + rows.inserted, candidates + reordered)
        if !touched.isEmpty {
            let fits = try membershipTest(in: table)
            let isKnown =
                try touched.count <= SortedWindow.largestChange
                && next.replace(touched, where: fits, precedes: CompiledSort(order, table: table).precedes)
            if !isKnown { _ = try next.evaluate(query, order, in: step.new) }
        }
        window = next
        return replace(with: next.shown, modified: modified, pairsReplacements: false)
    }
}

/// The first rows in an order, a few more than are shown: which rows follow need not be known for as long as enough of
/// these are left.
struct SortedWindow: Sendable {
    /// Larger changes evaluate the query again.
    static let largestChange = 1024
    /// Larger windows are compared as a whole.
    private static let largestEnd = 4096

    let count: Int
    let offset: Int
    /// The first keys in the order.
    private var keys: [Int64] = []
    /// Whether these are all.
    private var isComplete = false

    /// Describes a window; nil for one that is too large to be kept beside.
    init?(count: Int, offset: Int) {
        guard count >= 0, offset >= 0, count <= Self.largestEnd, offset <= Self.largestEnd - count else { return nil }
        self.count = count
        self.offset = offset
    }

    private var end: Int { offset + count }
    private var capacity: Int { end * 2 + 32 }

    /// The keys that are shown.
    var shown: [Int64] { Array(keys.dropFirst(offset).prefix(count)) }

    /// Takes the keys that are shown, when no more are known.
    mutating func take(_ shown: [Int64]) {
        // Of rows that are left out before the first one nothing is known.
        keys = offset == 0 ? shown : []
        isComplete = offset == 0 && shown.count < count
    }

    /// Reads the window anew, and returns the keys that are shown.
    mutating func evaluate(_ query: ObservedQuery, _ order: SortOrder, in model: ModelView) throws -> [Int64] {
        guard let table = try model.table(named: query.className) else {
            keys = []
            isComplete = true
            return []
        }
        let compiled = try CompiledQuery(query.predicate ?? .constant(true), table: table)
        keys = try compiled.keys(sortedBy: CompiledSort(order, table: table), limit: capacity)
        isComplete = keys.count < capacity
        return shown
    }

    /// Puts rows that were written, came or went, where they belong now.
    ///
    /// - Returns: false when too few of the known rows are left to tell which ones are shown.
    mutating func replace(
        _ touched: [Int64],
        where fits: (Int64) throws -> Bool,
        precedes: (Int64, Int64) throws -> Bool
    ) throws -> Bool {
        let gone = Set(touched)
        let staying = keys.filter { !gone.contains($0) }
        // What is not known and was not written comes after the last row that stays.
        guard isComplete || !staying.isEmpty else { return false }
        let incoming = try SortedKeys.mergeSorted(try touched.filter(fits), precedes: precedes)
        var merged: [Int64] = []
        merged.reserveCapacity(staying.count + incoming.count)
        var next = 0
        for key in staying {
            while next < incoming.count, try precedes(incoming[next], key) {
                merged.append(incoming[next])
                next += 1
            }
            merged.append(key)
        }
        if isComplete { merged += incoming[next...] }
        if merged.count > capacity {
            merged.removeLast(merged.count - capacity)
            isComplete = false
        }
        guard isComplete || merged.count >= end else { return false }
        keys = merged
        return true
    }
}
