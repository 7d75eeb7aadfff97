import RealmModel
import RealmStorage
import Synchronization

/// The rows that a step touched, by the words of their properties; see ``RowBound``.
///
/// An observer finds those that can concern it without looking at the others. What was found out is shared by all
/// observers that go the same way, on any thread.
package final class TouchedRows: Sendable {
    /// Rows in the order of their words; a row whose word was written is there with both.
    struct Order: Sendable {
        fileprivate(set) var words: [Int64] = []
        fileprivate var keys: [Int64] = []
    }

    private let known = Mutex<[RowWatch.Place: Order?]>([:])

    package init() {}

    /// The rows of a table by the words of a property; nil when links lead from too many to what was touched.
    func order(at place: RowWatch.Place, _ step: ChangeStep) throws -> Order? {
        try known.withLock { known in
            if let order = known[place] { return order }
            let order = try Order(at: place, step)
            known[place] = .some(order)
            return order
        }
    }
}

extension TouchedRows.Order {
    /// The rows, ascending, whose word lies in a bound before the step or after it.
    func keys(within bound: RowBound) -> [Int64] {
        if bound.lower > bound.upper { return [] }
        var index = words.partitioningIndex { $0 >= bound.lower }
        var found: [Int64] = []
        while index < words.count, words[index] <= bound.upper {
            found.append(keys[index])
            index += 1
        }
        return found.count < 2 ? found : AscendingKeys.union(found, [])
    }

    fileprivate init?(at place: RowWatch.Place, _ step: ChangeStep) throws {
        let property = place.property
        let table = place.table
        let changes = step.changes(in: table)
        var rows: [(word: Int64, key: Int64)] = []
        func read(_ key: Int64, _ table: TableView?) throws {
            guard let table, let location = try table.locate(key) else { return }
            rows.append((RowBound.word(of: try table.value(property, at: location)), key))
        }
        let new = try step.new.table(id: table)
        let isOldRead = !changes.deleted.isEmpty || changes.modified.contains { $0.columns.contains(property) }
        let old = isOldRead ? try step.old.table(id: table) : nil
        for key in changes.inserted { try read(key, new) }
        for key in changes.deleted { try read(key, old) }
        for change in changes.modified {
            try read(change.key, new)
            if change.columns.contains(property) { try read(change.key, old) }
        }
        if place.followsLinks {
            let reached = try step.tracing.keys(in: table, depth: ChangePaths.defaultDepth)
            if reached.count > ChangeStep.largestProbed { return nil }
            // What was not touched itself has the value that it had.
            for key in reached where changes.columns(of: key) == nil { try read(key, new) }
        }
        rows.sort { ($0.word, $0.key) < ($1.word, $1.key) }
        words = rows.map(\.word)
        keys = rows.map(\.key)
    }
}
