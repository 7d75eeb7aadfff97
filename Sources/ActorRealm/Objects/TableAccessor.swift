import CRealmShims
import RealmModel
import RealmQuery
import RealmStorage

/// One class in one realm: where its rows are read and its accessors are made.
///
/// It is owned by its `RealmCore`; whoever keeps an accessor must keep that core.
@usableFromInline
final class TableAccessor {
    unowned(unsafe) let core: RealmCore
    /// The core's model and what it never changes.
    unowned(unsafe) let model: ModelView
    private let transactionFlag: UnsafeMutablePointer<UInt64>
    let isFrozen: Bool
    private let instanceSize: Int
    private let alignmentMask: Int
    let table: TableView
    let info: ModelClass
    /// The ordinals of the stored class, by declared ordinal.
    @exclusivity(unchecked) private(set) var ordinals: [Int]
    /// The schema of which the ordinals are.
    @exclusivity(unchecked) private(set) var mappedStamp: UInt64
    /// The ordinals in earlier schemas, by stamp: what was made with them finds its properties again.
    private var earlierOrdinals: [UInt64: [Int]] = [:]
    /// The type of the primary key; nil when there is none.
    let primaryKeyKind: PropertyKind?
    /// What inlined getters read.
    let state: UnsafeMutablePointer<TableState>
    /// By declared ordinal: the columns of properties that are not read inline, as they were read last.
    private let views: UnsafeMutablePointer<KnownView>
    /// By declared ordinal: where the properties lie in a leaf.
    private let columns: UnsafeMutablePointer<KnownColumn>
    /// Which configuration of the table these are of: another process may change the schema.
    @exclusivity(unchecked) private var columnsConfiguration = 0
    /// Where pages are read, as of a generation.
    @exclusivity(unchecked) private var pages: PageView
    @exclusivity(unchecked) private var pagesGeneration: UInt64 = 0
    /// The accessors of the classes that properties link to, by declared ordinal.
    private let targets: UnsafeMutablePointer<Unmanaged<TableAccessor>?>
    /// By declared ordinal: the stored ordinals of the properties that linking objects reverse, -1 while not known.
    private let origins: UnsafeMutablePointer<Int32>
    /// The formats of string predicates that ask for the value of an indexed property, with its stored ordinal.
    @exclusivity(unchecked) private var equalities: [String: Int] = [:]
    @exclusivity(unchecked) private var lastEquality: (format: String, property: Int)?
    /// Where rows were found last, by a part of their keys; none for frozen realms, which several threads may read.
    private let leaves: UnsafeMutablePointer<KnownLeaf>?
    /// By the same part: the checksum of the node below which the leaf was found, 0 for none.
    private let parents: UnsafeMutablePointer<UInt64>?
    private let leafMask: Int
    /// The run of int primary keys that was found last, as of a generation.
    @exclusivity(unchecked) private var run = PrimaryKeyRun()
    @exclusivity(unchecked) private var runGeneration: UInt64 = 0
    /// What reads the links to one row after another, and the class that they come from.
    @exclusivity(unchecked) private var backlinks: BacklinkReader?
    @exclusivity(unchecked) private var backlinksGeneration: UInt64 = 0
    /// What looks values up in the index that was asked last.
    @exclusivity(unchecked) private var indexReader: Unmanaged<IndexReader>?
    @exclusivity(unchecked) private var indexGeneration: UInt64 = 0
    /// An accessor that was used by an iteration which has ended; a bare address, which no mirror looks behind.
    @exclusivity(unchecked) private var spare: UnsafeMutableRawPointer?
    /// Whether accessors keep no collections.
    let keepsNoCollections: Bool
    private let slotCount: Int
    private let template: ObjectBase?
    /// The same, where its references are not counted.
    private let templateAddress: UnsafeRawPointer?
    private let wrappersKnowOwner: Bool

    var type: ObjectBase.Type { info.type }

    init(core: RealmCore, table: TableView, info: ModelClass) {
        self.core = core
        model = core.model
        transactionFlag = core.model.transactionFlag
        isFrozen = core.isFrozen
        instanceSize = info.instanceSize
        alignmentMask = info.alignmentMask
        self.table = table
        self.info = info
        ordinals = Self.ordinals(of: info, in: table)
        mappedStamp = core.model.schemaStamp
        keepsNoCollections = info.collections.isEmpty
        primaryKeyKind = info.primaryKeyProperty?.shape.kind
        slotCount = info.properties.count + 1
        let slots = UnsafeMutablePointer<ColumnSlot>.allocate(capacity: slotCount)
        slots.initialize(
            repeating: ColumnSlot(
                leaf: nil,
                generation: 0,
                data: UnsafeRawPointer(slots),
                nulls: nil,
                minimum: 0,
                width: 0
            ),
            count: slotCount
        )
        var leafCount = 16
        while leafCount < 2_048, leafCount &<< KnownLeaf.shift < table.nextKey { leafCount *= 2 }
        leafMask = leafCount - 1
        leaves = core.isFrozen ? nil : .allocate(capacity: leafCount)
        leaves?.initialize(repeating: KnownLeaf(), count: leafCount)
        parents = core.isFrozen ? nil : .allocate(capacity: leafCount)
        parents?.initialize(repeating: 0, count: leafCount)
        views = .allocate(capacity: slotCount)
        views.initialize(repeating: KnownView(), count: slotCount)
        columns = .allocate(capacity: slotCount)
        columns.initialize(repeating: KnownColumn(), count: slotCount)
        pages = core.model.view
        targets = .allocate(capacity: slotCount)
        targets.initialize(repeating: nil, count: slotCount)
        origins = .allocate(capacity: slotCount)
        origins.initialize(repeating: -1, count: slotCount)
        state = .allocate(capacity: 1)
        state.initialize(to: TableState(generation: core.model.generation, place: core.place, slots: slots))
        if info.isClonable {
            let instance = info.type.init()
            for property in info.properties { property.reset(in: instance, key: property.key) }
            instance.tableState = state
            template = instance
        } else {
            template = nil
        }
        wrappersKnowOwner = info.wrappersKnowOwner
        templateAddress = template.map { UnsafeRawPointer(Unmanaged.passUnretained($0).toOpaque()) }
        template?.tableAccessor = self
        state.pointee.accessor = Unmanaged.passUnretained(self)
        readColumns()
    }

    @inline(never)
    private func readColumns() {
        columnsConfiguration = table.configurationCount
        for (declared, ordinal) in ordinals.enumerated() {
            columns[declared] = KnownColumn(
                ordinal: Int32(ordinal),
                column: Int32(table.column(ordinal)),
                kind: table.columnKind(ordinal).rawValue,
                isNullable: table.isNullable(ordinal)
            )
        }
    }

    /// The stored ordinal of a property.
    @inline(__always)
    func storedOrdinal(_ declared: Int) -> Int { Int(columns[declared].ordinal) }

    /// Where a property lies in a leaf.
    private struct KnownColumn {
        var ordinal: Int32 = -1
        var column: Int32 = -1
        var kind: UInt8 = 0
        var isNullable = false
    }

    /// The column of a property in the leaf that was read last.
    private struct KnownView {
        var leaf: UnsafeRawPointer?
        var generation: UInt64 = 0
        var view: ColumnView?
    }

    deinit {
        if let spare { Unmanaged<ObjectBase>.fromOpaque(spare).release() }
        indexReader?.release()
        state.pointee.slots.deallocate()
        state.deallocate()
        views.deallocate()
        columns.deallocate()
        targets.deallocate()
        origins.deallocate()
        leaves?.deallocate()
        parents?.deallocate()
    }

    /// The ordinals of a class's properties in the table as it is now.
    private static func ordinals(of info: ModelClass, in table: TableView) -> [Int] {
        info.properties.map { property in
            guard let ordinal = table.schema.ordinal(of: property.columnName) else {
                misuse(
                    "Property '\(info.name).\(property.name)' is not in the file's schema. Open the realm with a "
                        + "configuration whose schema contains it."
                )
            }
            return ordinal
        }
    }

    /// Follows a change of the table's schema.
    func readOrdinals() {
        // A class that a migration removed, or that is not there before a transaction, has no rows to read.
        if core.model.schema[info.name] != nil {
            earlierOrdinals[mappedStamp] = ordinals
            ordinals = Self.ordinals(of: info, in: table)
        }
        mappedStamp = core.model.schemaStamp
        readColumns()
        origins.update(repeating: -1, count: slotCount)
        equalities = [:]
        lastEquality = nil
    }

    /// The ordinal of a property, given by that in the schema with a stamp.
    func ordinal(of property: Int, mappedAt stamp: UInt64) -> Int {
        guard let declared = earlierOrdinals[stamp]?.firstIndex(of: property) else { return property }
        return ordinals[declared]
    }

    /// The state that unmanaged objects refer to; it is never read, because their keys are not positive.
    // Written here once, and never again.
    nonisolated(unsafe) static let unmanagedState: UnsafeMutablePointer<TableState> = {
        let words = UnsafeMutablePointer<UInt64>.allocate(capacity: 1)
        words.initialize(to: 0)
        let place = UnsafeMutablePointer<RealmPlace>.allocate(capacity: 1)
        place.initialize(to: .nowhere)
        let slots = UnsafeMutablePointer<ColumnSlot>.allocate(capacity: 1)
        slots.initialize(
            to: ColumnSlot(leaf: nil, generation: 1, data: UnsafeRawPointer(words), nulls: nil, minimum: 0, width: 0)
        )
        let state = UnsafeMutablePointer<TableState>.allocate(capacity: 1)
        state.initialize(to: TableState(generation: words, place: place, slots: slots))
        return state
    }()

    /// Makes an accessor for a row.
    ///
    /// Frozen objects look their row up at once, because they may be shared and must not change later.
    ///
    /// - Parameters:
    ///   - key: The row.
    ///   - location: Where it is, when the caller knows.
    /// - Returns: An accessor that nobody else holds.
    func makeObject(key: Int64, at location: RowLocation? = nil) -> ObjectBase {
        let object: ObjectBase
        if let templateAddress {
            let memory = crealm_clone_object(templateAddress, instanceSize, alignmentMask)
            object = Unmanaged<ObjectBase>.fromOpaque(memory.unsafelyUnwrapped).takeRetainedValue()
        } else {
            object = info.type.init()
            for property in info.properties { property.reset(in: object, key: property.key) }
            object.tableState = state
            object.tableAccessor = self
        }
        if wrappersKnowOwner {
            for property in info.properties { property.remember(object) }
        }
        object.core = core
        object.rowKey = key
        if let location {
            object.point(to: location, generation: state.pointee.generation.pointee)
        } else if isFrozen, let location = attempt({ try table.locate(key) }) {
            object.point(to: location, generation: state.pointee.generation.pointee)
        }
        return object
    }

    /// A leaf in which a row was found.
    private struct KnownLeaf {
        /// Rows whose keys differ in lower bits only share a place.
        static let shift = 9
        var generation: UInt64 = 0
        var base: UnsafeRawPointer?
    }

    /// Whether what was looked up outside a transaction may be used, and kept: not while several threads may read.
    @inline(__always)
    private var remembers: Bool { leaves != nil && transactionFlag.pointee == 0 }

    /// The leaf at an address.
    @inline(__always)
    private func leaf(at base: UnsafeRawPointer) -> LeafView {
        let generation = state.pointee.generation.pointee
        if isFrozen { return LeafView(base: base, view: pages) }
        if pagesGeneration != generation {
            pages = model.view
            pagesGeneration = generation
        }
        return LeafView(base: base, view: pages)
    }

    /// The row of a key; nil when there is no such row.
    @inline(__always)
    func locate(_ key: Int64) throws(StorageError) -> RowLocation? {
        guard remembers, let leaves else { return try table.locate(key) }
        let generation = state.pointee.generation.pointee
        let index = Int(truncatingIfNeeded: key) &>> KnownLeaf.shift & leafMask
        if leaves[index].generation == generation, let base = leaves[index].base {
            let leaf = leaf(at: base)
            if let row = leaf.row(of: key) { return RowLocation(leaf: leaf, row: row) }
        }
        return try locateAgain(key, index)
    }

    /// The row of a key, whose leaf may be the one that was found in an earlier version.
    @inline(never)
    private func locateAgain(_ key: Int64, _ index: Int) throws(StorageError) -> RowLocation? {
        guard let leaves, let parents else { return try table.locate(key) }
        let generation = state.pointee.generation.pointee
        var parent = parents[index]
        if let found = try table.leaf(for: key, unlessBelow: &parent) {
            leaves[index] = KnownLeaf(generation: generation, base: found.base)
            parents[index] = found.isInFile ? parent : 0
            return found.row(of: key).map { RowLocation(leaf: found, row: $0) }
        }
        if parent != 0, let base = leaves[index].base {
            let leaf = leaf(at: base)
            if let row = leaf.row(of: key) {
                leaves[index].generation = generation
                return RowLocation(leaf: leaf, row: row)
            }
            // Another leaf below the same node.
            parents[index] = 0
            return try locateAgain(key, index)
        }
        return nil
    }

    // MARK: Columns

    /// Looks the row of an object up again when the version or the leaf changed, and returns its leaf; nil when the realm was
    /// closed.
    @inline(__always)
    private func currentLeaf(of object: ObjectBase) -> LeafView? {
        let generation = state.pointee.generation.pointee
        if object.rowGeneration != generation {
            guard let location = attempt({ try locate(object.rowKey) }) else {
                trapUnlessClosed(missing: object.rowKey)
                return nil
            }
            object.point(to: location, generation: generation)
        }
        return leaf(at: object.rowLeaf.unsafelyUnwrapped)
    }

    /// Traps for a row that is not there; nothing of a closed realm is.
    @inline(never)
    private func trapUnlessClosed(missing key: Int64) {
        if core.isClosed { return }
        if let damage = table.damage(ofMissing: key) { trap(damage) }
        misuse(Self.deletedMessage)
    }

    /// Says that an object does not exist any more.
    static var deletedMessage: String {
        "Object has been deleted or invalidated. Look at isInvalidated, or read it with value(of:), which throws."
    }

    @inline(__always)
    private func column(_ key: UInt32, in leaf: LeafView) -> ColumnView {
        if _slowPath(columnsConfiguration != table.configurationCount) { readColumns() }
        let place = columns[Int(key) &- 1]
        return attempt {
            let column = try leaf.column(Int(place.column), isNullable: place.isNullable)
            guard column.isAbsent || column.kind.rawValue == place.kind else {
                throw table.damagedColumn(ordinals[Int(key) - 1])
            }
            return column
        }
    }

    /// Where the column of a property lies, for an object whose isolation was checked.
    @inline(never)
    func slot(_ key: UInt32, of object: ObjectBase) -> ColumnSlot {
        guard let leaf = currentLeaf(of: object) else {
            return ColumnSlot(table.emptyColumn(ordinals[Int(key) - 1]), leaf: nil, generation: 0)
        }
        let slot = ColumnSlot(column(key, in: leaf), leaf: object.rowLeaf, generation: object.rowGeneration)
        if remembers { state.pointee.slots[Int(key)] = slot }
        return slot
    }

    /// The column of a property, for an object whose isolation was checked.
    @inline(never)
    func view(_ key: UInt32, of object: ObjectBase) -> ColumnView {
        let known = views + Int(key)
        if !isFrozen, known.pointee.generation == state.pointee.generation.pointee,
            known.pointee.generation == object.rowGeneration, known.pointee.leaf == object.rowLeaf, remembers,
            let view = known.pointee.view
        {
            return view
        }
        guard let leaf = currentLeaf(of: object) else { return table.emptyColumn(ordinals[Int(key) - 1]) }
        let view = column(key, in: leaf)
        if remembers {
            known.pointee = KnownView(leaf: object.rowLeaf, generation: object.rowGeneration, view: view)
        }
        return view
    }

    /// The row with an int primary key.
    @inline(__always)
    func find(intPrimaryKey key: Int64) throws(StorageError) -> Int64? {
        if !remembers { return try table.findInt(key) }
        let generation = state.pointee.generation.pointee
        if runGeneration == generation, let row = run.row(of: key) { return row }
        run = try table.run(ofIntPrimaryKey: key)
        runGeneration = generation
        return run.row(of: key)
    }

    /// The first row that an index leads to.
    func firstKey(_ equality: IndexedEquality) throws -> Int64? {
        if !remembers { return try equality.firstKey(in: table) }
        if table.primaryKeyOrdinal == equality.property, case .int(let key) = equality.value {
            return try find(intPrimaryKey: key)
        }
        let generation = state.pointee.generation.pointee
        if let indexReader, indexGeneration == generation {
            let isThis = indexReader._withUnsafeGuaranteedRef { $0.property == equality.property }
            if isThis {
                return try indexReader._withUnsafeGuaranteedRef { try $0.firstKey(equalTo: equality.value) }
            }
        }
        let reader = try IndexReader(equality.property, of: table)
        indexReader?.release()
        indexReader = Unmanaged.passRetained(reader)
        indexGeneration = generation
        return try reader.firstKey(equalTo: equality.value)
    }

    /// Makes an accessor for the row that a property links to.
    func makeTarget(of property: Int, key: Int64) -> ObjectBase {
        func make(_ accessor: TableAccessor) -> ObjectBase {
            // Whoever follows a link reads a property there: the row is looked for where the last ones were.
            accessor.makeObject(key: key, at: attempt { try accessor.locate(key) })
        }
        if let known = targets[property] { return known._withUnsafeGuaranteedRef { make($0) } }
        return make(target(of: property))
    }

    /// Calls a function with the rows of a class that link to a row through one of its properties, as often as they do.
    func forEachBacklink(
        of key: Int64,
        from origin: TableAccessor,
        property: Int,
        _ body: (Int64) -> Void
    ) throws(StorageError) {
        if !remembers {
            for key in try table.backlinkKeys(of: key, from: origin.table, property: property) { body(key) }
            return
        }
        let generation = state.pointee.generation.pointee
        if let backlinks, backlinksGeneration == generation, backlinks.reads(origin.table, property) {
            return try backlinks.forEachKey(of: key, body)
        }
        let reader = try BacklinkReader(of: table, from: origin.table, property: property)
        backlinks = reader
        backlinksGeneration = generation
        try reader.forEachKey(of: key, body)
    }

    // MARK: Accessors that iterations need no more

    /// An accessor that nobody holds, without a realm, to be used again.
    func takeSpare() -> Unmanaged<ObjectBase>? {
        guard let address = spare else { return nil }
        spare = nil
        let object = Unmanaged<ObjectBase>.fromOpaque(address)
        object._withUnsafeGuaranteedRef { $0.core = core }
        return object
    }

    /// Takes an accessor that nobody else holds, for the next iteration.
    func keepSpare(_ object: Unmanaged<ObjectBase>) {
        guard spare == nil, remembers, keepsNoCollections else { return object.release() }
        // The realm is not kept by what it keeps.
        object._withUnsafeGuaranteedRef { $0.core = nil }
        spare = object.toOpaque()
    }

    /// The stored ordinal of the property that linking objects reverse, in the class from which it links.
    func originOrdinal(of property: Int, in origin: TableAccessor) -> Int {
        if origins[property] >= 0 { return Int(origins[property]) }
        let name = info.properties[property].originProperty ?? ""
        guard let declared = origin.info.property(name), declared.targetName == info.name else {
            misuse(
                "Property '\(origin.info.name).\(name)' declared as origin of linking objects property of "
                    + "'\(info.name)' does not link to it."
            )
        }
        let ordinal = origin.ordinals[declared.ordinal]
        if !isFrozen { origins[property] = Int32(ordinal) }
        return ordinal
    }

    /// What a typed query asks of an index alone; nil when that is not so.
    func equality(_ path: Unmanaged<KnownPath>, _ value: PredicateValue) -> IndexedEquality? {
        let (root, declared) = path._withUnsafeGuaranteedRef { ($0.root, $0.declared) }
        guard root == type, declared >= 0 else { return nil }
        return IndexedEquality(storedOrdinal(declared), value, table: table)
    }

    /// The stored ordinal of the indexed property whose value a format asks for, where that is remembered.
    func knownEquality(_ format: String) -> Int? {
        // Several threads may ask a frozen realm.
        if isFrozen { return nil }
        if let lastEquality, lastEquality.format == format { return lastEquality.property }
        guard let known = equalities[format] else { return nil }
        lastEquality = (format, known)
        return known
    }

    /// Remembers a format, whose only argument is the value of an indexed property.
    func rememberEquality(_ format: String, _ property: Int) {
        if !isFrozen, equalities.count < 64 { equalities[format] = property }
    }

    /// The accessor of the class that a property links to.
    func target(of property: Int) -> TableAccessor {
        if let known = targets[property] { return known.takeUnretainedValue() }
        let declared = info.properties[property]
        let found =
            info.isDynamic
            ? core.registry.dynamicAccessor(className: declared.targetName)
            : declared.shape.target.flatMap { core.accessor(for: $0) }
        guard let target = found else { core.unknownClass(declared.targetName) }
        if !core.isFrozen { targets[property] = Unmanaged.passUnretained(target) }
        return target
    }
}

/// Runs an operation of the layers below from API that cannot throw.
///
/// Damage and I/O failures surface here as a trap, because a property getter has no other way to report them.
@inline(__always)
func attempt<Result>(_ body: () throws -> Result) -> Result {
    do {
        return try body()
    } catch {
        trap(error)
    }
}

/// Ends the process with the sentence of an error that cannot be thrown.
@inline(never)
func trap(_ error: any Error) -> Never {
    misuse("\(error)")
}
