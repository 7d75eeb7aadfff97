package import RealmModel
import RealmStorage

/// How a dictionary differs from what it was: names, ascending.
package struct EntriesDelta: Sendable, Equatable {
    package var deletions: [String] = []
    package var insertions: [String] = []
    package var modifications: [String] = []

    package init(deletions: [String] = [], insertions: [String] = [], modifications: [String] = []) {
        self.deletions = deletions
        self.insertions = insertions
        self.modifications = modifications
    }

    package var isEmpty: Bool { deletions.isEmpty && insertions.isEmpty && modifications.isEmpty }
}

/// The entries of an observed dictionary at one version, and how to get to a later one.
package struct ObservedEntries: Sendable {
    /// Reads the entries of a row's property; nil when the row, or what holds them, does not exist.
    package typealias Reading = @Sendable (TableView, Int, Int64) throws -> [StoredEntry]?

    private let ownerClass: String
    private let ownerKey: Int64
    private let property: String
    private let read: Reading
    private let className: String?
    private let keyPaths: [String]?
    /// The writes to linked objects that count; nil for a dictionary of values.
    private var paths: ChangePaths?
    /// The rows that values of any kind link to, where what is written to them counts.
    private var linked = LinkedRows()
    private var current: [StoredEntry]
    /// Whether the owner has been deleted: nothing will change any more.
    package private(set) var isSourceGone: Bool

    /// Reads the dictionary.
    ///
    /// - Throws: a `QueryError` when a key path does not fit the class of the values.
    package init(
        ownerClass: String,
        ownerKey: Int64,
        property: String,
        className: String?,
        keyPaths: [String]?,
        read: @escaping Reading,
        in model: ModelView
    ) throws {
        self.ownerClass = ownerClass
        self.ownerKey = ownerKey
        self.property = property
        self.read = read
        self.className = className
        self.keyPaths = keyPaths
        paths = try Self.paths(className, keyPaths, in: model)
        let entries = try Self.entries(ownerClass, ownerKey, property, in: model, read)
        current = entries ?? []
        isSourceGone = entries == nil
        findLinks(in: model)
    }

    /// Finds out what the values link to, if they are of any kind; key paths name properties of one class.
    private mutating func findLinks(in model: ModelView) {
        guard keyPaths == nil, model.schema[ownerClass]?[property]?.kind == .any else { return }
        linked = LinkedRows(of: current.lazy.map(\.value), schema: model.schema)
    }

    private static func paths(_ className: String?, _ keyPaths: [String]?, in model: ModelView) throws -> ChangePaths? {
        guard let className, let table = model.schema[className]?.tableID else { return nil }
        guard let keyPaths else { return ChangePaths(everythingIn: table, schema: model.schema) }
        return try ChangePaths(keyPaths.map { PropertyPath($0) }, in: className, schema: model.schema)
    }

    /// The tables of which a change can concern the dictionary.
    package func tables(in model: ModelView) -> Set<UInt32> {
        (paths?.tables ?? linked.tables).union(model.schema[ownerClass].map { [$0.tableID] } ?? [])
    }

    private static func entries(
        _ ownerClass: String,
        _ ownerKey: Int64,
        _ property: String,
        in model: ModelView,
        _ read: Reading
    ) throws -> [StoredEntry]? {
        guard let owner = try model.table(named: ownerClass), let ordinal = owner.schema.ordinal(of: property)
        else { return nil }
        return try read(owner, ordinal, ownerKey)
    }

    /// Moves to a later version.
    package mutating func advance(by step: ChangeStep) throws -> EntriesDelta {
        guard !isSourceGone, let owner = step.new.schema[ownerClass], let ordinal = owner.ordinal(of: property) else {
            return EntriesDelta()
        }
        if step.changesSchema { paths = try Self.paths(className, keyPaths, in: step.new) }
        let modified = Set(try paths?.changedKeys(in: step) ?? [])
        let isWritten =
            step.changesSchema || ObservedKeys.wasWritten(ownerKey, ordinal, in: step.changes.tables[owner.tableID])
        let changed = try linked.changed(in: step)
        guard isWritten || !modified.isEmpty || !changed.isEmpty else { return EntriesDelta() }
        let next = isWritten ? try Self.entries(ownerClass, ownerKey, property, in: step.new, read) : current
        let delta = Self.delta(from: current, to: next ?? [], modified: modified, changed)
        current = next ?? []
        isSourceGone = next == nil
        if isWritten { findLinks(in: step.new) }
        return delta
    }

    private static func delta(
        from old: [StoredEntry],
        to new: [StoredEntry],
        modified: Set<Int64>,
        _ changed: LinkedRows.Rows
    ) -> EntriesDelta {
        var delta = EntriesDelta()
        var before = old[...]
        var after = new[...]
        while let one = before.first, let other = after.first {
            if TextBytes.areEqual(one.key, other.key) {
                var isModified = !one.value.isIdentical(to: other.value)
                if case .link(let key) = other.value, modified.contains(key) { isModified = true }
                if !changed.isEmpty, other.value.leads(to: changed) { isModified = true }
                if isModified { delta.modifications.append(one.key) }
                before = before.dropFirst()
                after = after.dropFirst()
            } else if one.key.utf8.lexicographicallyPrecedes(other.key.utf8) {
                delta.deletions.append(one.key)
                before = before.dropFirst()
            } else {
                delta.insertions.append(other.key)
                after = after.dropFirst()
            }
        }
        delta.deletions += before.map(\.key)
        delta.insertions += after.map(\.key)
        return delta
    }
}
