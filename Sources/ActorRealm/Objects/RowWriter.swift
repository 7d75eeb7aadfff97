import RealmModel

/// A property of a row that is being written.
public struct _RowWriter {
    unowned(unsafe) let accessor: TableAccessor
    let rowKey: Int64
    /// The declared ordinal of the property.
    let declared: Int
    /// The stored ordinal of the property.
    let property: Int
    /// The operation that the write is part of, which outlives the writer; nil for the assignment of one property.
    unowned(unsafe) var context: AddContext?
    /// Whether equal values are left alone, so that observers do not see them as modified.
    let skipsEqual: Bool
    /// Whether the row was just made, so that its values are defaults.
    let isNewRow: Bool

    init(
        accessor: TableAccessor,
        rowKey: Int64,
        declared: Int,
        context: AddContext?,
        skipsEqual: Bool = false,
        isNewRow: Bool = false
    ) {
        self.accessor = accessor
        self.rowKey = rowKey
        self.declared = declared
        property = accessor.ordinals[declared]
        self.context = context
        self.skipsEqual = skipsEqual
        self.isNewRow = isNewRow
    }

    var table: TableView { accessor.table }
    var isOptional: Bool { accessor.info.properties[declared].shape.isOptional }
    /// Whether the property is a set.
    var isOfSet: Bool { accessor.info.properties[declared].shape.collection == .set }
    /// Whether the property, or the collection that it is, links to objects of a class, and is no value of any kind.
    var linksToOneClass: Bool { accessor.info.properties[declared].shape.kind == .object }
    /// The property with its class, for messages.
    var propertyDescription: String { "\(accessor.info.name).\(accessor.info.properties[declared].name)" }

    /// Whether the property, or the collection that it is, holds embedded objects.
    var holdsEmbeddedObjects: Bool {
        accessor.info.properties[declared].shape.kind == .object && accessor.target(of: declared).info.isEmbedded
    }

    /// The rows of a list's embedded objects, which an update writes its elements into; none where it does not.
    func reusedRows() -> [Int64?] {
        guard updatesElements else { return [] }
        return attemptRead(or: []) { try table.list(property, key: rowKey).values() }.map(\.linkKey)
    }

    /// The rows of a map's embedded objects by their names, which an update writes its values into; none where it does not.
    func reusedEntries() -> [TextKey: Int64] {
        guard updatesElements else { return [:] }
        var rows: [TextKey: Int64] = [:]
        for entry in attemptRead(or: [], { try table.map(property, key: rowKey).entries() }) {
            rows[TextKey(entry.key)] = entry.value.linkKey
        }
        return rows
    }

    /// Has the next element of a collection written into a row that is there, unless it is null.
    ///
    /// After the last element that is taken back: what a null has left may be a row of another collection.
    func reuse(_ row: Int64?) { context?.reusedElement = row }

    /// Whether the embedded objects of a collection are updated, and not replaced.
    private var updatesElements: Bool {
        guard let context else { return false }
        return context.policy != .error && !isNewRow && holdsEmbeddedObjects
    }

    /// Whether that very value is stored: one of the same place in the order, such as 1 for 1.0, is another one.
    private func isStored(_ value: @autoclosure () -> StoredValue) -> Bool {
        guard skipsEqual, let stored = attemptRead(or: nil, { try table.value(property, key: rowKey) }) else {
            return false
        }
        return stored.isIdentical(to: value())
    }

    /// Writes to the model like `RealmCore.attemptWrite`, but touches the core, which costs a slow retain, on failure only.
    @inline(__always)
    private func attemptWrite(_ body: () throws -> Void) {
        do {
            try body()
        } catch {
            failed(error)
        }
    }

    /// Reads what a write compares or goes on from; a failure is that of the write.
    @inline(__always)
    private func attemptRead<Result>(or other: @autoclosure () -> Result, _ body: () throws -> Result) -> Result {
        do {
            return try body()
        } catch {
            failed(error)
            return other()
        }
    }

    @inline(never)
    private func failed(_ error: any Error) {
        if let context, context.undoes { context.fail(error) } else { accessor.core.writeFailed(named(error)) }
    }

    /// A failure inside a migration, which opening the realm throws, with the property that it is about.
    private func named(_ error: any Error) -> any Error {
        let info = accessor.info
        return accessor.core.migration?.publicError(error, info.name, info.properties[declared].name) ?? error
    }

    /// Adds what a link or an element needs, with the operation that the write is part of, or with one of its own, which it
    /// brings to its end.
    ///
    /// - Returns: nil after a failure.
    func adding<Result>(_ body: (AddContext) -> Result?) -> Result? {
        if let context { return body(context) }
        let context = AddContext(core: accessor.core, policy: .error)
        var result = body(context)
        accessor.core.attemptWrite {
            do {
                if let failure = context.failure { throw failure }
                try context.drain()
            } catch {
                result = nil
                throw named(error)
            }
        }
        return result
    }

    func setInt(_ value: Int64) {
        if isStored(.int(value)) { return }
        attemptWrite { try table.setInt(property, key: rowKey, to: value) }
    }

    func setBool(_ value: Bool) {
        if isStored(.bool(value)) { return }
        attemptWrite { try table.setBool(property, key: rowKey, to: value) }
    }

    func setFloat(_ value: Float) {
        if isStored(.float(value)) { return }
        attemptWrite { try table.setFloat(property, key: rowKey, to: value) }
    }

    func setDouble(_ value: Double) {
        if isStored(.double(value)) { return }
        attemptWrite { try table.setDouble(property, key: rowKey, to: value) }
    }

    func setDate(_ value: Double) {
        if isStored(.date(value)) { return }
        attemptWrite { try table.setDate(property, key: rowKey, to: value) }
    }

    func setString(_ value: String) {
        if isStored(.string(value)) { return }
        attemptWrite {
            let isContiguous: Void? = try value.utf8.withContiguousStorageIfAvailable {
                try table.setString(property, key: rowKey, to: UnsafeRawBufferPointer($0))
            }
            if isContiguous != nil { return }
            var value = value
            try value.withUTF8 { try table.setString(property, key: rowKey, to: UnsafeRawBufferPointer($0)) }
        }
    }

    func setBytes(_ value: UnsafeRawBufferPointer) {
        if isStored(.data(Array(value))) { return }
        attemptWrite { try table.setData(property, key: rowKey, to: value) }
    }

    func setObjectId(_ value: ObjectId) {
        if isStored(.objectId(value.bytes)) { return }
        attemptWrite { try table.setObjectID(property, key: rowKey, to: value.bytes) }
    }

    func setUUID(_ value: UUIDBytes) {
        if isStored(.uuid(value)) { return }
        attemptWrite { try table.setUUID(property, key: rowKey, to: value) }
    }

    func setDecimal(_ value: DecimalBytes) {
        if isStored(.decimal(value)) { return }
        attemptWrite { try table.setDecimal(property, key: rowKey, to: value) }
    }

    /// Sets a value of any kind.
    func setStored(_ value: StoredValue) {
        if isStored(value) { return }
        attemptWrite { try table.set(property, key: rowKey, to: value) }
    }

    func setNull() {
        if isStored(.null) { return }
        attemptWrite { try table.setNull(property, key: rowKey) }
    }

    func setLink(_ target: Int64?) {
        if isStored(target.map { .link($0) } ?? .null) { return }
        attemptWrite { try table.setLink(property, key: rowKey, to: target) }
    }

    /// Whether the to-one link holds that row already.
    func isLinked(to target: Int64) -> Bool {
        guard accessor.info.properties[declared].shape.collection == .none else { return false }
        return linkedRow == target
    }

    /// The row that the to-one link holds.
    var linkedRow: Int64? { attemptRead(or: nil) { try table.link(property, key: rowKey) } }

    /// What a list or set holds; nil after a failure.
    private var storedElements: [StoredValue]? {
        attemptRead(or: nil) { try table.list(property, key: rowKey).values() }
    }

    /// Makes a list hold these elements.
    func setList(_ elements: [StoredValue]) {
        if skipsEqual, storedElements?.areIdentical(to: elements) ?? false { return }
        attemptWrite { try table.listAssign(property, key: rowKey, elements) }
    }

    /// Makes a set hold these elements.
    func setSet(_ elements: [StoredValue]) {
        if skipsEqual, storedElements?.areIdentical(to: elements.sortedAndUnique()) ?? false { return }
        attemptWrite { try table.setAssign(property, key: rowKey, elements) }
    }

    /// Makes a dictionary hold these entries.
    func setMap(_ entries: [StoredEntry]) {
        if skipsEqual, let stored = attemptRead(or: nil, { try table.map(property, key: rowKey).entries() }),
            stored.areIdentical(to: entries.sortedAndUnique())
        {
            return
        }
        attemptWrite { try table.mapAssign(property, key: rowKey, entries) }
    }

    /// Ends the assignment of one property: collections see that something changed.
    func finish() { accessor.core.noteWrite() }
}

extension StoredValue {
    /// The row of a link; nil for every other value.
    fileprivate var linkKey: Int64? { if case .link(let key) = self { key } else { nil } }
}
