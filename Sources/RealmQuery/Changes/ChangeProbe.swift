package import RealmModel
import RealmStorage

/// Tells whether a change can concern a filtered collection, without taking the collection to the new version.
///
/// Its query is compiled once and follows a model view that moves from version to version. It belongs to whom that view
/// belongs to.
package final class ChangeProbe {
    /// Larger changes are not probed.
    private static let largestChange = 64

    /// The model view that the probe belongs to.
    package let model: ModelView
    private let compiled: CompiledQuery
    private let collection: ObservedCollection
    private let table: UInt32
    private let stamp: UInt64

    /// Compiles the query of a collection; nil when the collection is none that can be probed.
    package init?(_ keys: ObservedKeys, in model: ModelView) throws {
        guard case .filtered(let membership) = keys.collection.strategy, membership.isShallow,
            let table = try model.table(named: keys.query.className), let predicate = keys.query.predicate
        else { return nil }
        compiled = try CompiledQuery(predicate, table: table)
        self.model = model
        collection = keys.collection
        self.table = table.id
        stamp = model.schema.stamp
    }

    /// Whether a step may change the collection, which has these keys, or something that is observed in it.
    ///
    /// The rows are those of the step at the new version, in the model view of the probe.
    package func isConcerned(_ keys: ObservedOrder, by step: ChangeStep, _ rows: ProbedRows) throws -> Bool {
        guard stamp == step.new.schema.stamp, case .tree(let current) = keys, !step.changesSchema else { return true }
        let own = step.changes(in: table)
        // A predicate may follow links and still depend on its own table alone: how many objects a list holds.
        func context() -> QueryContext { compiled.followsLinks ? compiled.makeContext() : rows.context }
        if let bound = collection.bound {
            if own.rowCount > ChangeStep.largestProbed { return true }
            let near = try step.keys(within: bound, of: table)
            if near.count > ChangeProbe.largestChange { return true }
            for key in near {
                if current.contains(key) { return true }
                guard let location = try compiled.table.locate(key) else { continue }
                if try compiled.condition.test(location, key: key, context()) { return true }
            }
        } else {
            if own.rowCount > ChangeProbe.largestChange { return true }
            for key in own.deleted where current.contains(key) { return true }
            let context = context()
            for row in try rows.locations(of: own, in: compiled.table) {
                if try current.contains(row.key) || compiled.condition.test(row.location, key: row.key, context) {
                    return true
                }
            }
        }
        // What was written elsewhere, in the same table too, counts where links lead there.
        if collection.counted.isShallow { return false }
        return try collection.counted.changedKeys(in: step).contains { current.contains($0) }
    }
}

/// The rows that a step inserted or wrote to, looked up once for all probes of a model view.
package final class ProbedRows {
    typealias Row = (key: Int64, location: RowLocation)

    private var known: [UInt32: [Row]] = [:]
    /// Enough for predicates that follow no links.
    let context = QueryContext(linkSlotCount: 0, subqueryCount: 0)

    package init() {}

    func locations(of changes: TableChanges, in table: TableView) throws -> [Row] {
        if let rows = known[table.id] { return rows }
        var rows: [Row] = []
        for key in changes.inserted + changes.modified.map(\.key) {
            if let location = try table.locate(key) { rows.append((key, location)) }
        }
        known[table.id] = rows
        return rows
    }
}
