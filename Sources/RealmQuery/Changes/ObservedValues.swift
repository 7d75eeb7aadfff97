package import RealmModel
package import RealmStorage

/// The contents of an observed list of values at one version, and how to get to a later one.
package struct ObservedValues: Sendable {
    package let ownerClass: String
    package let ownerKey: Int64
    package let property: String
    /// Orders the values, or leaves some out; nil to take them as they are.
    private let transform: (@Sendable ([StoredValue]) -> [StoredValue])?
    /// Reads the values of a row's property; nil when the row, or what holds them, does not exist.
    package typealias Reading = @Sendable (TableView, Int, Int64) throws -> [StoredValue]?
    private let read: Reading
    private let countsLinks: Bool
    private let asksForLinks: Bool
    /// The rows that values of any kind link to, where what is written to them counts.
    private var linked = LinkedRows()
    /// As they are stored: a value that became an equal one of another type was replaced.
    private var current: [StoredForm]
    /// Whether the owner has been deleted: nothing will change any more.
    package private(set) var isSourceGone: Bool

    /// Reads the list.
    ///
    /// With `countsLinks` what is written to rows that values of any kind link to is a modification of the values;
    /// without `asksForLinks` nothing of that is told: such modifications are `unasked`.
    package init(
        ownerClass: String,
        ownerKey: Int64,
        property: String,
        transform: (@Sendable ([StoredValue]) -> [StoredValue])? = nil,
        countsLinks: Bool = true,
        asksForLinks: Bool = true,
        read: @escaping Reading = { table, property, key in
            try table.contains(key: key) ? try table.list(property, key: key).values() : nil
        },
        in model: ModelView
    ) throws {
        self.transform = transform
        self.ownerClass = ownerClass
        self.ownerKey = ownerKey
        self.property = property
        self.read = read
        self.countsLinks = countsLinks
        self.asksForLinks = asksForLinks
        let values = try ObservedValues.read(ownerClass, ownerKey, property, in: model, read)
        current = (transform?(values ?? []) ?? values ?? []).map(StoredForm.init)
        isSourceGone = values == nil
        findLinks(in: model)
    }

    /// Finds out what the values link to, if they are of any kind.
    private mutating func findLinks(in model: ModelView) {
        guard countsLinks, model.schema[ownerClass]?[property]?.kind == .any else { return }
        linked = LinkedRows(of: current.lazy.map(\.value), schema: model.schema)
    }

    /// Moves to a later version; the difference is exact, a value replaced by another one is a modification.
    package mutating func advance(by step: ChangeStep) throws -> CollectionDelta {
        guard !isSourceGone, let owner = step.new.schema[ownerClass], let ordinal = owner.ordinal(of: property) else {
            return CollectionDelta()
        }
        let before = current
        let changed = try linked.changed(in: step)
        var delta = CollectionDelta()
        if step.changesSchema || ObservedKeys.wasWritten(ownerKey, ordinal, in: step.changes.tables[owner.tableID]) {
            delta = try readAnew(owner.properties[ordinal], in: step.new)
        }
        if changed.isEmpty { return delta }
        let replaced = Set(delta.modifications)
        delta.addModifications(of: before) { $0.value.leads(to: changed) }
        if !asksForLinks { delta.unasked = delta.modifications.filter { !replaced.contains($0) } }
        return delta
    }

    /// Whether a step may change the values, or something in what they link to: it costs what the step wrote.
    package func mayBeConcerned(by step: ChangeStep) throws -> Bool {
        guard !step.changesSchema, let owner = step.new.schema[ownerClass], let ordinal = owner.ordinal(of: property)
        else { return true }
        if ObservedKeys.wasWritten(ownerKey, ordinal, in: step.changes.tables[owner.tableID]) { return true }
        return try !linked.changed(in: step).isEmpty
    }

    /// Takes the values of a version, and returns how they differ.
    private mutating func readAnew(_ declared: PropertySchema, in model: ModelView) throws -> CollectionDelta {
        let next = try ObservedValues.read(ownerClass, ownerKey, property, in: model, read)
        let values = (transform?(next ?? []) ?? next ?? []).map(StoredForm.init)
        // The elements of a set have no places to be replaced in.
        let isPlainList = transform == nil && next != nil && declared.collection != .set
        let delta = SequenceDiff.delta(from: current, to: values, pairsReplacements: isPlainList)
        current = values
        isSourceGone = next == nil
        findLinks(in: model)
        return delta
    }

    /// Moves to a later version.
    package mutating func advance(
        by changes: ChangeSet,
        from old: ModelView,
        to new: ModelView
    ) throws -> CollectionDelta {
        try advance(by: ChangeStep(changes, from: old, to: new))
    }

    /// The tables of which a change can concern the values.
    package func tables(in model: ModelView) -> Set<UInt32> {
        model.schema[ownerClass].map { linked.tables.union([$0.tableID]) } ?? linked.tables
    }

    private static func read(
        _ ownerClass: String,
        _ ownerKey: Int64,
        _ property: String,
        in model: ModelView,
        _ read: Reading
    ) throws -> [StoredValue]? {
        guard let owner = try model.table(named: ownerClass), let ordinal = owner.schema.ordinal(of: property)
        else { return nil }
        return try read(owner, ordinal, ownerKey)
    }
}
