package import RealmModel
import RealmStorage

/// The keys of results at one version, as they are taken to a later one.
package struct ResultKeys: Sendable {
    /// The keys in order.
    package let order: ObservedOrder
    /// The rows known of a sorted collection of which only the first ones are shown.
    fileprivate(set) var window: SortedWindow?

    package init(_ order: ObservedOrder) { self.order = order }

    fileprivate init(_ order: ObservedOrder, window: SortedWindow?) {
        self.order = order
        self.window = window
    }
}

/// Takes the keys of results from the version that they were read at to the one that is read now.
///
/// As ``ObservedKeys`` does it for observers, with less at hand: nobody held the earlier version, so that its rows cannot
/// be looked at any more. Each row that was touched since is taken out, wherever it stands, and put where it belongs now.
/// Nothing else than keys and what changed is needed, and nothing is done before somebody reads.
///
/// It belongs to the model view of its results.
package final class ResultAdvance {
    /// When not to evaluate the query as a whole.
    package enum Economy: Sendable {
        /// Where less work is to be expected otherwise.
        case estimated
        /// Wherever it can be avoided.
        case always
    }

    private let collection: ObservedCollection
    /// What the rows are tested with; nil for all rows.
    private let query: CompiledQuery?
    private let economy: Economy
    /// The classes for which all this holds.
    private let schemaStamp: UInt64
    /// Whether links lead from what was written to the rows that it concerns.
    private let isForward: Bool
    private let usesIndex: Bool

    /// Prepares for the keys of a query over the rows of a class.
    ///
    /// - Parameters:
    ///   - described: The query.
    ///   - query: Its predicate, compiled.
    ///   - model: The view that is read.
    ///   - economy: When to evaluate the query as a whole instead.
    /// - Throws: `QueryError` when the query does not fit the schema.
    package init(
        _ described: ObservedQuery,
        _ query: CompiledQuery?,
        in model: ModelView,
        economy: Economy = .estimated
    ) throws {
        collection = try ObservedCollection(described, keyPaths: [], in: model)
        self.query = query
        self.economy = economy
        schemaStamp = model.schema.stamp
        usesIndex = try query?.usesIndex ?? false
        isForward =
            switch collection.strategy {
            case .wholeTable: true
            case .filtered(let membership), .sequence(let membership): membership.isForward
            case .sorted(_, let membership, let ordering), .window(_, _, let membership, let ordering):
                ordering.isForward && membership?.isForward ?? true
            }
    }

    /// Whether it is of use for the classes that a view has.
    package func fits(_ model: ModelView) -> Bool { schemaStamp == model.schema.stamp }

    /// Whether it is worth while to find out what changed; `count` is the number of the keys.
    package func isWorthwhile(_ count: Int, of table: TableView) -> Bool {
        economy == .always || evaluationCost(count, table) > Cost.reading
    }

    /// How large a part of the log may be read to find out what changed, in bytes.
    package func readingLimit(_ count: Int, of table: TableView) -> Int {
        economy == .always ? .max : evaluationCost(count, table) / Cost.logByte
    }

    /// How many rows may have been touched for that to be looked at.
    package func touchedLimit(_ count: Int, of table: TableView) -> Int {
        economy == .always ? .max : evaluationCost(count, table) / touchedRowCost(count)
    }

    /// The keys after a step, of which the old view is not looked at; nil where the query is to be evaluated as a whole.
    package func advanced(_ keys: ResultKeys, by step: ChangeStep) throws -> ResultKeys? {
        guard fits(step.new), let table = try step.new.table(named: collection.query.className) else { return nil }
        guard step.changes.tables.keys.contains(where: { collection.tables.contains($0) }) else { return keys }
        guard isForward else { return nil }
        switch collection.strategy {
        case .wholeTable: return nil
        case .filtered(let membership):
            let touched = try touched(in: table, step, [membership])
            return touched.isEmpty ? keys : try filtered(keys, touched, table)
        case .sorted(let order, let membership, let ordering):
            let touched = try touched(in: table, step, [ordering] + (membership.map { [$0] } ?? []))
            return touched.isEmpty ? keys : try sorted(keys, order, touched, table)
        case .window(let order, let window, let membership, let ordering):
            let touched = try touched(in: table, step, [ordering] + (membership.map { [$0] } ?? []))
            return touched.isEmpty ? keys : try windowed(keys, keys.window ?? window, order, touched, table, step.new)
        case .sequence(let membership):
            return try touched(in: table, step, [membership]).isEmpty ? keys : nil
        }
    }

    /// The rows, ascending, that came, went, or were written where it counts, or lead to such.
    private func touched(in table: TableView, _ step: ChangeStep, _ paths: [ChangePaths]) throws -> [Int64] {
        let own = step.changes(in: table.id)
        var touched = Array(own.inserted) + own.deleted
        for path in paths { touched += try path.changedKeys(in: step) }
        return AscendingKeys.union(touched, [])
    }

    private func filtered(_ keys: ResultKeys, _ touched: [Int64], _ table: TableView) throws -> ResultKeys? {
        guard isCheaper(touched.count, keys.order.count, table) else { return nil }
        var tree = keys.order.tree(isAscending: true)
        let (removed, added) = try ObservedKeys.moves(of: touched, in: tree, fits: membership(in: table))
        if removed.isEmpty, added.isEmpty { return ResultKeys(.tree(tree)) }
        _ = AscendingKeys.apply(removed: removed, added: added, modified: [], to: &tree)
        return ResultKeys(.tree(tree))
    }

    private func sorted(
        _ keys: ResultKeys,
        _ order: SortOrder,
        _ touched: [Int64],
        _ table: TableView
    ) throws -> ResultKeys? {
        guard isCheaper(touched.count, keys.order.count, table) else { return nil }
        var tree = keys.order.tree(isAscending: false)
        let added = try touched.filter(membership(in: table))
        let removed = tree.positions(of: touched)
        let sort = try CompiledSort(order, table: table)
        _ = try SortedKeys.apply(
            removed: removed,
            moved: [],
            added: added,
            modified: [],
            to: &tree,
            precedes: sort.precedes
        )
        return ResultKeys(.tree(tree))
    }

    private func windowed(
        _ keys: ResultKeys,
        _ window: SortedWindow,
        _ order: SortOrder,
        _ touched: [Int64],
        _ table: TableView,
        _ model: ModelView
    ) throws -> ResultKeys? {
        guard isCheaper(touched.count, keys.order.count, table) else { return nil }
        var next = window
        if keys.window == nil { next.take(keys.order.array()) }
        let sort = try CompiledSort(order, table: table)
        let isKnown =
            try touched.count <= SortedWindow.largestChange
            && next.replace(touched, where: membership(in: table), precedes: sort.precedes)
        // From here on a few more rows are known than are shown.
        if !isKnown { _ = try next.evaluate(collection.query, order, in: model) }
        return ResultKeys(.list(next.shown), window: next)
    }

    /// Asks whether a row exists and fulfils the predicate.
    private func membership(in table: TableView) -> (Int64) throws -> Bool {
        guard let query else { return { try table.contains(key: $0) } }
        return { try query.matches(key: $0) }
    }
}

// MARK: - What is cheaper

extension ResultAdvance {
    /// About what things take, in nanoseconds.
    private enum Cost {
        /// To look at a row in a scan.
        static let scannedRow = 1
        /// To find a row through an index.
        static let foundRow = 20
        /// To compare two rows while many are sorted.
        static let sortedComparison = 3
        /// To test a row by its key, and to find that among others.
        static let testedRow = 800
        /// To compare two rows by their keys.
        static let comparison = 700
        /// To read a byte of the log.
        static let logByte = 8
        /// To read what changed at least.
        static let reading = 30_000
    }

    /// What it takes to evaluate the query that has so many results.
    private func evaluationCost(_ count: Int, _ table: TableView) -> Int {
        var cost = usesIndex ? count * Cost.foundRow : table.count * Cost.scannedRow
        switch collection.strategy {
        case .sorted, .sequence: cost += count * Cost.sortedComparison * logarithm(count)
        case .wholeTable, .filtered, .window: break
        }
        return cost
    }

    /// What it takes to put a row that was touched where it belongs among so many.
    private func touchedRowCost(_ count: Int) -> Int {
        guard case .sorted = collection.strategy else { return Cost.testedRow }
        return Cost.testedRow + Cost.comparison * logarithm(count)
    }

    private func logarithm(_ count: Int) -> Int { Int.bitWidth - count.leadingZeroBitCount }

    private func isCheaper(_ touchedCount: Int, _ count: Int, _ table: TableView) -> Bool {
        if economy == .always { return true }
        var cost = touchedCount * touchedRowCost(count)
        // Rows whose values are gone are looked for.
        if case .sorted = collection.strategy { cost += count }
        return cost < evaluationCost(count, table)
    }
}

extension ObservedOrder {
    /// The keys as a tree, which they may have to be made first.
    fileprivate func tree(isAscending: Bool) -> KeyOrder {
        switch self {
        case .tree(let keys): keys
        case .list(let keys): KeyOrder(keys, isAscending: isAscending)
        }
    }
}
