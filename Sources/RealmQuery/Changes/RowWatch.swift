import RealmModel
import RealmStorage

/// Which rows alone can concern a collection: those of a table that lie within a bound, before a step or after it.
package struct RowWatch: Sendable, Hashable {
    /// What collections have in common that are looked at together.
    package struct Place: Sendable, Hashable {
        let table: UInt32
        let property: Int
        /// Whether rows count, too, of which nothing was written, but something that links lead to.
        let followsLinks: Bool
    }

    package let place: Place
    package let bound: RowBound
}

extension ObservedCollection {
    /// What the rows that a predicate selects have in common, where it says so of a single property.
    ///
    /// That tells which rows can concern the collection if nothing else counts than what is written to them, or what the
    /// links to the default depth lead to.
    static func watch(
        _ query: ObservedQuery,
        counted: ChangePaths,
        read: [ChangePaths],
        in model: ModelView
    ) throws -> RowWatch? {
        guard case .table = query.source, let predicate = query.predicate,
            let table = try model.table(named: query.className), let bound = RowBound(predicate, in: table)
        else { return nil }
        let isShallow = counted.isShallow && read.allSatisfy(\.isShallow)
        guard isShallow || counted.isEverything && read.allSatisfy(\.isWithinEverything) else { return nil }
        let place = RowWatch.Place(table: table.id, property: bound.property, followsLinks: !isShallow)
        return RowWatch(place: place, bound: bound)
    }
}

/// The rows of a step that can concern a collection: all that were touched, or those that its bound leaves.
struct ConcernedRows {
    private let own: TableChanges
    private let near: [Int64]?
    private let step: ChangeStep

    /// `near` are the rows, ascending, that alone can concern the collection; nil for all.
    init(_ own: TableChanges, near: [Int64]?, _ step: ChangeStep) {
        self.own = own
        self.near = near
        self.step = step
    }

    /// Whether there are none.
    var isNone: Bool { near?.isEmpty ?? false }

    var inserted: [Int64] { near?.filter { own.inserted.contains($0) } ?? Array(own.inserted) }

    var deleted: [Int64] { near?.filter { own.deleted.contains($0) } ?? Array(own.deleted) }

    /// The rows of which something was written that counts.
    func changed(_ paths: ChangePaths) throws -> [Int64] {
        guard let near else { return try paths.changedKeys(in: step) }
        if paths.isShallow { return near.filter { own.columns(of: $0).map(paths.counts) ?? false } }
        let changed = try paths.changedKeys(in: step)
        return near.filter { AscendingKeys.contains($0, in: changed) }
    }
}
