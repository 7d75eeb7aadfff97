import RealmModel
import RealmStorage

/// Brings a graph of unmanaged objects into a realm.
///
/// Objects are given their rows when they are first met and filled from a work list, so that neither long chains nor
/// cycles of links recurse.
class AddContext {
    // The operation that the context is for keeps the core.
    final unowned(unsafe) let core: RealmCore
    final let policy: Realm.UpdatePolicy
    /// Whether a failure leaves everything as it was; objects then become managed together, at the end.
    final let undoes: Bool
    /// Why the graph cannot be added; the first failure ends the work.
    @exclusivity(unchecked) final var failure: (any Error)?
    @exclusivity(unchecked) private final var pending: [Pending] = []
    /// What was read, before the first row was written, of the realm's own values that unmanaged objects have.
    @exclusivity(unchecked) final var readValues: [ObjectIdentifier: LiveValues.Read] = [:]
    /// The embedded row that the next element of a collection is to be written into.
    @exclusivity(unchecked) final var reusedElement: Int64?
    /// Rows that were made from dynamically typed values.
    private final var made: [(accessor: TableAccessor, key: Int64)] = []

    /// The number of objects for which a context that is used again keeps its memory.
    private static let keptCapacity = 256

    private struct Pending {
        let object: ObjectBase
        let accessor: TableAccessor
        let key: Int64
        let isNew: Bool
    }

    init(core: RealmCore, policy: Realm.UpdatePolicy, undoes: Bool = false) {
        self.core = core
        self.policy = policy
        self.undoes = undoes
    }

    /// Adds an object and all unmanaged objects it links to.
    final func add(_ object: ObjectBase, _ accessor: TableAccessor) throws {
        // Nothing that is there is written over where there is no update.
        if policy != .error, accessor.leadsToValues { readValues = LiveValues(core: core).values(ledToBy: [object]) }
        register(object, accessor)
        try drain()
    }

    /// Does something that makes rows, and takes them back when it fails for what they hold.
    ///
    /// The objects that were to be added are unmanaged again, whatever it fails for.
    ///
    /// A failure of the storage, which may have left half of a row behind, is thrown by the commit as well.
    final func undoing<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch {
            defer { for item in pending { item.object.detach() } }
            do {
                if let error = error as? StorageError, error.code != .limit { throw error }
                try undo()
            } catch {
                core.refuseCommit(because: error)
            }
            throw error
        }
    }

    /// Ends the work because of a value that cannot be stored: by an error where the operation throws, else the process.
    final func refuse(_ message: @autoclosure () -> String) {
        guard undoes || core.migration != nil else { misuse(message()) }
        fail(core.error(.invalidInput, message()))
    }

    /// Ends the work; the first failure is the one that is thrown.
    final func fail(_ error: any Error) {
        if failure == nil { failure = error }
    }

    /// The row that a link to the object must hold; the object is added when it is unmanaged.
    ///
    /// - Returns: nil after a failure.
    final func linkKey(to object: ObjectBase, writer: _RowWriter) -> Int64? {
        guard let other = object.core else {
            guard let accessor = core.accessor(for: type(of: object)) else {
                refuse(core.unknownClassMessage(type(of: object).className()))
                return nil
            }
            let key = register(object, accessor, reusing: embeddedKey(writer))
            return failure == nil ? key : nil
        }
        if other !== core {
            refuse("Object is already managed by another Realm. Use create instead to copy it into this Realm.")
            return nil
        }
        let accessor = object.tableAccessor.unsafelyUnwrapped
        // A value of any kind links to objects of every class.
        if writer.linksToOneClass, accessor.info.isDynamic || writer.accessor.info.isDynamic {
            let expected = writer.accessor.target(of: writer.declared)
            if accessor.table !== expected.table {
                refuse(
                    "Object of type '\(accessor.info.name)' does not match the type '\(expected.info.name)' of property "
                        + "'\(writer.accessor.info.name).\(writer.accessor.info.properties[writer.declared].name)'."
                )
                return nil
            }
        }
        if accessor.info.isEmbedded {
            if writer.linksToOneClass, writer.isLinked(to: object.rowKey) { return object.rowKey }
            refuse("Can't set link to existing managed embedded object: it has an owner already. Assign a copy of it.")
            return nil
        }
        if object.isInvalidated {
            if object.wasNeverThere, let damage = accessor.table.damage(ofMissing: object.rowKey) {
                fail(damage)
                return nil
            }
            refuse("Object has been deleted or invalidated: it cannot be linked to.")
            return nil
        }
        return object.rowKey
    }

    /// The embedded row that a link or an element of a collection holds already: an update writes into it, so that references
    /// to it stay good.
    final func embeddedKey(_ writer: _RowWriter) -> Int64? {
        guard policy != .error, !writer.isNewRow, writer.holdsEmbeddedObjects else { return nil }
        guard writer.accessor.info.properties[writer.declared].shape.collection == .none else {
            defer { reusedElement = nil }
            return reusedElement
        }
        return writer.linkedRow
    }

    /// Gives the object a row and queues it to be filled.
    ///
    /// - Parameters:
    ///   - object: An unmanaged object.
    ///   - accessor: The accessor of its class.
    ///   - existing: The row that it takes over; nil for one of its own.
    /// - Returns: the row's key; -1 after a failure.
    @discardableResult
    private final func register(
        _ object: ObjectBase,
        _ accessor: TableAccessor,
        reusing existing: Int64? = nil
    ) -> Int64 {
        guard failure == nil else { return -1 }
        do {
            if let existing { try accessor.table.requireLinked(existing) }
            let (key, isNew) = try existing.map { ($0, false) } ?? row(for: object, accessor)
            object.core = core
            object.tableAccessor = accessor
            object.tableState = accessor.state
            object.rowKey = key
            object.rowGeneration = 0
            pending.append(Pending(object: object, accessor: accessor, key: key, isNew: isNew))
            return key
        } catch {
            failure = error
            return -1
        }
    }

    private final func row(for object: ObjectBase, _ accessor: TableAccessor) throws -> (key: Int64, isNew: Bool) {
        guard let property = accessor.info.primaryKeyProperty else {
            return (try accessor.table.insert(), true)
        }
        let value = property.storedValue(in: object).value
        if policy != .error, let existing = try accessor.table.existingRow(withPrimaryKey: value) {
            return (existing, false)
        }
        if case .int(let integer) = value { return (try accessor.table.insert(intPrimaryKey: integer), true) }
        if value.isNull, !property.shape.isOptional {
            refuse(property.missingValueMessage(className: accessor.info.name))
            if let failure { throw failure }
        }
        return (try accessor.table.insert(primaryKey: value), true)
    }

    /// Fills the rows of all objects met so far.
    final func drain() throws {
        var next = 0
        while next < pending.count, failure == nil {
            let item = pending[next]
            next += 1
            fill(item)
            if failure != nil { break }
            do {
                if item.isNew { try item.accessor.fillUndeclared(item.key) }
                try item.accessor.table.requireUnique(key: item.key)
            } catch {
                failure = error
                break
            }
            if !undoes { Self.manage(item) }
        }
        core.noteWrite()
        guard let failure else {
            if undoes { for item in pending { Self.manage(item) } }
            pending.removeAll(keepingCapacity: pending.count < Self.keptCapacity)
            return
        }
        // Where rows are taken back, their objects are detached with them.
        if !undoes { for item in pending[max(0, next - 1)...] { item.object.detach() } }
        throw failure
    }

    /// Notes a row that was made from a dynamically typed value.
    final func didMake(_ key: Int64, _ accessor: TableAccessor) {
        if undoes { made.append((accessor, key)) }
    }

    /// Writes all properties but the primary key.
    private final func fill(_ item: Pending) {
        let accessor = item.accessor
        let skipsEqual = !item.isNew && policy == .modified
        for property in accessor.info.written {
            // The class keeps its properties: a retain and a release for each would cost more than the loop.
            property._withUnsafeGuaranteedRef { property in
                let writer = _RowWriter(
                    accessor: accessor,
                    rowKey: item.key,
                    declared: property.ordinal,
                    context: self,
                    skipsEqual: skipsEqual,
                    isNewRow: item.isNew
                )
                property.store(from: item.object, to: writer)
            }
        }
    }

    private static func manage(_ item: Pending) {
        for property in item.accessor.info.all { property._withUnsafeGuaranteedRef { $0.manage(in: item.object) } }
    }

    /// Takes back the rows that were made.
    final func undo() throws {
        defer { core.noteWrite() }
        for item in made.reversed() { try item.accessor.table.discard(key: item.key) }
        for item in pending.reversed() where item.isNew { try item.accessor.table.discard(key: item.key) }
    }
}

nonisolated extension ObjectBase {
    /// Makes the object unmanaged again; its wrappers must not have been managed yet.
    final func detach() {
        core = nil
        tableAccessor = nil
        tableState = TableAccessor.unmanagedState
        rowKey = -1
        rowGeneration = 0
    }
}
