import RealmModel
import RealmStorage

/// The collection property of a row, where a managed list, set or dictionary reads and writes.
class ListPlace {
    /// Keeps the accessor alive.
    final let core: RealmCore
    final unowned(unsafe) let accessor: TableAccessor
    final let key: Int64
    final let declared: Int
    /// The stored ordinal.
    final var property: Int { accessor.storedOrdinal(declared) }
    /// What it is called in messages.
    final let name: String
    final private(set) lazy var backing = makeBacking()
    /// Whether the collection is to be empty when its owner is gone, as the last one is that an observer gets.
    final private(set) var outlivesOwner = false {
        didSet { backing.outlivesOwner = outlivesOwner }
    }

    init(accessor: TableAccessor, key: Int64, declared: Int, named name: String = "List") {
        core = accessor.core
        self.accessor = accessor
        self.key = key
        self.declared = declared
        self.name = name
        if core.isFrozen { _ = backing }
    }

    /// The place that a description names.
    ///
    /// Nil when its owner, or what it lies in, does not exist, unless it outlives that, and when the realm's class has no collection of
    /// the given shape there.
    static func find(
        _ descriptor: CollectionDescriptor,
        of shape: _PropertyShape,
        in core: RealmCore,
        named name: String
    ) -> ListPlace? {
        func owner(_ className: String) -> TableAccessor? {
            core.accessor(className: className, isDynamic: descriptor.isDynamic)
        }
        switch descriptor.source {
        case .list(let ownerClass, let key, let property):
            guard let accessor = owner(ownerClass), let declared = accessor.info.property(columnNamed: property),
                declared.shape.collection == shape.collection, declared.shape.hasElements(like: shape),
                descriptor.outlivesOwner || accessor.mayHave(key)
            else { return nil }
            let place = ListPlace(accessor: accessor, key: key, declared: declared.ordinal, named: name)
            if descriptor.outlivesOwner { place.outlivesOwner = true }
            return place
        case .nested(let ownerClass, let key, let property, let path, _):
            guard let accessor = owner(ownerClass), let declared = accessor.info.property(columnNamed: property),
                declared.shape.hasElements(like: shape), descriptor.outlivesOwner || accessor.mayHave(key)
            else { return nil }
            let place = NestedPlace(
                accessor: accessor,
                key: key,
                declared: declared.ordinal,
                path: path,
                named: name
            )
            if descriptor.outlivesOwner { place.outlivesOwner = true }
            return descriptor.outlivesOwner || place.isThere ? place : nil
        case .table, .backlinks: return nil
        }
    }

    /// The contents, for queries and iteration.
    func makeBacking() -> _CollectionBacking {
        _CollectionBacking(list: accessor, key: key, declared: declared)
    }

    /// The contents, where a class of elements that cannot be read is an error.
    final func readableBacking() throws -> _CollectionBacking {
        try core.requireReading()
        do throws(StorageError) {
            if !core.isClosed { try accessor.readableTarget(of: accessor.info.properties[declared]) }
        } catch {
            throw Realm.Error(storage: error, path: core.coordinator.path)
        }
        return backing
    }

    /// The steps into a value of any kind; none for a collection property.
    var path: [NestedStep] { [] }

    /// Whether the owner exists, and what the collection lies in.
    ///
    /// Where damage keeps that from being known it may be there, and whoever reads it meets the damage.
    var isThere: Bool { accessor.mayHave(key) }

    /// Whether the realm was invalidated or closed, or the collection is gone with its owner.
    final var isInvalidated: Bool {
        if core.isInvalidated { return true }
        core.checkAccess()
        return !isThere
    }

    final func isSame(as other: ListPlace) -> Bool {
        core === other.core && accessor === other.accessor && key == other.key && declared == other.declared
            && path == other.path
    }

    /// Traps when the owner is gone, unless that is so because the realm was closed.
    ///
    /// - Returns: whether it is there.
    @discardableResult
    final func checkOwner() -> Bool {
        core.checkAccess()
        if isThere { return true }
        if !core.isClosed { invalidated() }
        return false
    }

    /// Traps when nothing was found here because the owner is gone: whoever copies that would lose what there was in the other place.
    final func checkContents() {
        if !outlivesOwner { checkOwner() }
    }

    /// The damage that it is that the owner is not there, where something names it all the same.
    private final var damage: StorageError? {
        accessor.mayHave(key) ? nil : accessor.table.damage(ofMissing: key)
    }

    /// Traps because the owner is gone; inside a migration that is kept.
    final func invalidated() {
        if let damage { return core.keep(damage) }
        mistake("\(name) is no longer valid: its object has been deleted or invalidated.")
    }

    /// The elements, to be read before the next write.
    final func list() -> ListView {
        core.checkAccess()
        guard let location = core.attempt(or: nil, { try accessor.table.locate(key) }) else {
            if !core.isClosed, !outlivesOwner { invalidated() }
            return accessor.table.emptyList(property)
        }
        return core.attempt(or: accessor.table.emptyList(property)) {
            try accessor.table.list(property, at: location, key: key)
        }
    }

    /// The entries of a dictionary property, to be read before the next write; nil where the owner is gone.
    private func map() throws -> MapView? {
        core.checkAccess()
        guard let location = try accessor.table.locate(key) else { return nil }
        return try accessor.table.map(property, at: location, key: key)
    }

    /// Where a write goes, after the checks that every write makes; nil when the realm was closed.
    final func writer(context: AddContext? = nil) -> _RowWriter? {
        if core.dropsWritesOfInvalidated { return nil }
        core.checkAccess()
        if core.dropsWrites { return nil }
        if core.isFrozen {
            mistake(
                core.migration == nil
                    ? "Attempting to modify a frozen \(name) - call `thaw()` on it first."
                    : "Attempting to modify an old object: its \(name) can be written in the new one."
            )
            return nil
        }
        if core.migration?.hasFailed ?? false { return nil }
        if !core.isInWriteTransaction {
            misuse(
                "Cannot modify managed \(name) outside of a write transaction: make the change inside "
                    + "`try realm.write { }`."
            )
        }
        if !isThere, let damage {
            core.writeFailed(damage)
            return nil
        }
        guard checkOwner() || core.migration == nil else { return nil }
        core.migration?.wrote(accessor.info.properties[declared], ofRow: key, accessor)
        return _RowWriter(accessor: accessor, rowKey: key, declared: declared, context: context)
    }

    // MARK: Lists

    /// The number of elements; 0 when the owner is gone.
    var count: Int {
        core.checkAccess()
        return core.attempt(or: nil) {
            try accessor.table.locate(key).map { try accessor.table.list(property, at: $0, key: key).count }
        }
            ?? 0
    }

    /// The element at a position; traps out of bounds.
    func stored(at position: Int) -> _Stored {
        let list = list()
        guard position >= 0, position < list.count else {
            refuseIndex(position, count: list.count, in: self)
            return backing.noElement
        }
        return _Stored(core.attempt(or: backing.noElement.value) { try list.value(at: position) })
    }

    func append(_ value: StoredValue) {
        core.attemptWrite { try accessor.table.listAppend(property, key: key, value) }
    }

    /// Appends several values.
    func append(_ values: [StoredValue]) {
        for value in values { append(value) }
    }

    func insert(_ value: StoredValue, at index: Int) {
        core.attemptWrite { try accessor.table.listInsert(property, key: key, at: index, value) }
    }

    /// Inserts several values, one behind the other.
    func insert(_ values: [StoredValue], at index: Int) {
        for (offset, value) in values.enumerated() { insert(value, at: index + offset) }
    }

    func remove(in range: Range<Int>) {
        core.attemptWrite { try accessor.table.listRemove(property, key: key, in: range) }
    }

    func removeAll() {
        core.attemptWrite { try accessor.table.listRemoveAll(property, key: key) }
    }

    func replace(at index: Int, with value: StoredValue) {
        core.attemptWrite { try accessor.table.listReplace(property, key: key, at: index, with: value) }
    }

    func move(from source: Int, to destination: Int) {
        core.attemptWrite { try accessor.table.listMove(property, key: key, from: source, to: destination) }
    }

    func swap(_ first: Int, _ second: Int) {
        core.attemptWrite { try accessor.table.listSwap(property, key: key, first, second) }
    }

    func assign(_ values: [StoredValue]) {
        core.attemptWrite { try accessor.table.listAssign(property, key: key, values) }
    }

    // MARK: Dictionaries

    /// Whether there is no entry without an object: earlier releases left null where one was deleted.
    private var leavesNullOut: Bool {
        let shape = accessor.info.properties[declared].shape
        return shape.kind == .object && !shape.isOptional
    }

    final var mapCount: Int { leavesNullOut ? entries().count : count }

    func value(forName name: String) -> StoredValue? {
        let value = core.attempt(or: nil) { try map()?.value(for: name) }
        return value == .null && leavesNullOut ? nil : value
    }

    func entries() -> [StoredEntry] {
        core.checkAccess()
        let entries = core.attempt(or: []) { try map()?.entries() ?? [] }
        return leavesNullOut ? entries.filter { $0.value != .null } : entries
    }

    func set(_ value: StoredValue, forName name: String) {
        core.attemptWrite { try accessor.table.mapSet(property, key: key, name, to: value) }
    }

    func remove(name: String) {
        core.attemptWrite { try accessor.table.mapRemove(property, key: key, name) }
    }

    func assign(_ entries: [StoredEntry]) {
        core.attemptWrite { try accessor.table.mapAssign(property, key: key, entries) }
    }
}

/// One step into a list or dictionary in a value of any kind.
enum NestedStep: Sendable {
    case index(Int)
    case name(String)
}

/// Names are told apart by their bytes, as dictionaries do.
extension NestedStep: Hashable {
    static func == (left: NestedStep, right: NestedStep) -> Bool {
        switch (left, right) {
        case (.index(let one), .index(let other)): one == other
        case (.name(let one), .name(let other)): TextBytes.areEqual(one, other)
        default: false
        }
    }

    func hash(into hasher: inout Hasher) {
        switch self {
        case .index(let index): hasher.combine(index)
        case .name(let name): TextBytes.hash(name, into: &hasher)
        }
    }
}

/// A step into a collection, on its way through the element types.
public struct _NestedStep {
    let step: NestedStep
    init(_ step: NestedStep) { self.step = step }
}
