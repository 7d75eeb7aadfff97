package import RealmModel
package import RealmStorage

/// The way from one version to a later one, as observers go it: both, and what changed between them.
///
/// Observers that go the same way share what is found out on it. It belongs to one thread.
package final class ChangeStep {
    package let changes: ChangeSet
    package let old: ModelView
    package let new: ModelView
    private(set) lazy var tracing = ChangeTracing(changes: changes, old: old, new: new)

    package init(_ changes: ChangeSet, from old: ModelView, to new: ModelView) {
        self.changes = changes
        self.old = old
        self.new = new
    }

    /// Whether another process changed the classes on the way, so that what was known of their properties is void.
    package var changesSchema: Bool { old.schema.stamp != new.schema.stamp }

    /// What changed in a table.
    func changes(in table: UInt32) -> TableChanges { changes.tables[table] ?? TableChanges() }
}
