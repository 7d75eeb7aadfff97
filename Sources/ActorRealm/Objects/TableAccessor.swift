import RealmModel
import RealmQuery
import RealmStorage

/// One class in one realm: where its rows are read and its accessors are made.
///
/// It is owned by its `RealmCore`; whoever keeps an accessor must keep that core.
@usableFromInline
final class TableAccessor {
    unowned(unsafe) let core: RealmCore
    let isFrozen: Bool
    let table: TableView
    let info: ModelClass
    /// The type of the primary key; nil when there is none.
    let primaryKeyKind: PropertyKind?
    /// What inlined getters read.
    let state: UnsafeMutablePointer<TableState>
    @exclusivity(unchecked) var properties: PropertyMap
    @exclusivity(unchecked) private var rows: RowLocator
    @exclusivity(unchecked) private var columns: ColumnCache
    @exclusivity(unchecked) private var recent: RecentColumns
    @exclusivity(unchecked) private var lookups: LookupCache
    @exclusivity(unchecked) private var factory: AccessorFactory
    /// The accessors of the classes that properties link to, by declared ordinal.
    let targets: UnsafeMutablePointer<Unmanaged<TableAccessor>?>
    /// By declared ordinal: the stored ordinals of the properties that linking objects reverse, -1 while not known.
    private let origins: UnsafeMutablePointer<Int32>
    private let slotCount: Int
    /// What new rows get in the properties that the class does not declare, by stored ordinal.
    @exclusivity(unchecked) private var undeclared: [(ordinal: Int, value: StoredValue)] = []
    /// Whether the classes that links lead to from here were found readable, all of them.
    @exclusivity(unchecked) var hasReadableTargets = false
    /// Whether an object of the class can lead to values of any kind.
    private(set) lazy var leadsToValues = info.leadsToValues

    var type: ObjectBase.Type { info.type }

    /// Makes the accessor of a class, whose properties are where the schema has them that is the realm's at a stamp.
    init(core: RealmCore, table: TableView, info: ModelClass, stamp: UInt64) {
        self.core = core
        isFrozen = core.isFrozen
        self.table = table
        self.info = info
        properties = PropertyMap(info, in: table, stamp: stamp)
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
        rows = RowLocator(table, isFrozen: core.isFrozen)
        columns = ColumnCache(table, slotCount: slotCount)
        recent = RecentColumns(slotCount: slotCount)
        lookups = LookupCache(table)
        targets = .allocate(capacity: slotCount)
        targets.initialize(repeating: nil, count: slotCount)
        origins = .allocate(capacity: slotCount)
        origins.initialize(repeating: -1, count: slotCount)
        state = .allocate(capacity: 1)
        state.initialize(to: TableState(generation: core.model.generation, place: core.place, slots: slots))
        factory = AccessorFactory(info, state: state)
        state.pointee.accessor = Unmanaged.passUnretained(self)
        factory.attach(to: self)
        columns.read(properties.ordinals)
        undeclared = properties.undeclaredDefaults(of: info, in: table)
    }

    deinit {
        factory.releaseSpare()
        state.pointee.slots.deallocate()
        state.deallocate()
        targets.deallocate()
        origins.deallocate()
    }

    // MARK: Where properties are stored

    /// The ordinals of the stored class, by declared ordinal.
    var ordinals: [Int] { properties.ordinals }

    /// The schema of which the ordinals are.
    var mappedStamp: UInt64 { properties.stamp }

    /// The stored ordinal of a property.
    @inline(__always)
    func storedOrdinal(_ declared: Int) -> Int { columns.storedOrdinal(declared) }

    /// The ordinal of a property, given by that in the schema with a stamp.
    func ordinal(of property: Int, mappedAt stamp: UInt64) -> Int { properties.ordinal(of: property, mappedAt: stamp) }

    /// Follows a change of the table's schema.
    func readOrdinals(stamp: UInt64) {
        properties.follow(info, in: table, stamp: stamp)
        columns.read(properties.ordinals)
        undeclared = properties.undeclaredDefaults(of: info, in: table)
        lookups.forgetEqualities()
        origins.update(repeating: -1, count: slotCount)
        #if DEBUG
        checkIfAsked { () throws(BrokenInvariant) in try checkInvariants() }
        #endif
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
        let object = factory.make(for: self)
        object.core = core
        object.rowKey = key
        if let location {
            object.point(to: location, generation: state.pointee.generation.pointee)
        } else if isFrozen, let location = readableLocation(of: key) {
            object.point(to: location, generation: state.pointee.generation.pointee)
        }
        return object
    }

    /// Whether accessors keep no collections.
    var keepsNoCollections: Bool { factory.keepsNoCollections }

    /// Whether what was looked up outside a transaction may be used, and kept: not while several threads may read.
    @inline(__always)
    private var remembers: Bool { rows.remembers }

    /// The row of a key, for calls that cannot throw and need not know: nil also where damage keeps it from being found, which
    /// whoever reads the row meets.
    func readableLocation(of key: Int64) -> RowLocation? {
        do { return try table.locate(key) } catch { return nil }
    }

    /// Whether there is a row, for calls that cannot throw: where damage keeps that from being known there may be one, and
    /// whoever reads it meets the damage.
    func mayHave(_ key: Int64) -> Bool {
        do { return try table.contains(key: key) } catch { return true }
    }

    /// A leaf that was found before, and where the row of a key would be; nil where that has to be looked for.
    @inline(__always)
    func knownLeaf(of key: Int64) -> LeafView? { isFrozen ? nil : rows.knownLeaf(of: key) }

    /// The row of a key; nil when there is no such row.
    @inline(__always)
    func locate(_ key: Int64) throws(StorageError) -> RowLocation? {
        isFrozen ? try table.locate(key) : try rows.locate(key)
    }

    /// Gives a new row what another release declares for properties that this class does not have.
    @inline(__always)
    func fillUndeclared(_ key: Int64) throws {
        for (ordinal, value) in undeclared { try table.set(ordinal, key: key, to: value) }
    }

    // MARK: Columns

    /// Looks the row of an object up again when the version or the leaf changed, and returns its leaf; nil when the realm was
    /// closed.
    @inline(__always)
    private func currentLeaf(of object: ObjectBase) -> LeafView? {
        if _slowPath(object.rowGeneration != state.pointee.generation.pointee), !isFoundAgain(object) { return nil }
        let base = object.rowLeaf.unsafelyUnwrapped
        return isFrozen ? rows.frozenLeaf(at: base) : rows.leaf(at: base)
    }

    /// Looks for the row of an object in the version that the realm stands on; whether it is there.
    @inline(never)
    private func isFoundAgain(_ object: ObjectBase) -> Bool {
        do {
            if let location = try locate(object.rowKey) {
                object.point(to: location, generation: state.pointee.generation.pointee)
                return true
            }
        } catch {
            keep(error)
        }
        refuse(missing: object.rowKey)
        return false
    }

    /// Traps for a row that is not there, or keeps that in a migration; nothing of a closed realm is.
    @inline(never)
    private func refuse(missing key: Int64) {
        if core.isClosed { return }
        if let damage = table.damage(ofMissing: key) { return core.keep(damage) }
        core.mistake(Self.deletedMessage, info.name)
    }

    /// Says that an object does not exist any more.
    static var deletedMessage: String {
        "Object has been deleted or invalidated. Look at `object.isInvalidated`, or read it with "
            + "`try object.value(of: \\.name)`, which throws."
    }

    @inline(__always)
    private func column(_ key: UInt32, in leaf: LeafView) -> ColumnView {
        if _slowPath(columns.isStale) { columns.read(properties.ordinals) }
        do { return try columns.column(key, in: leaf) } catch { return column(key, insteadOf: error) }
    }

    // Apart from what meets them, because asking for the core counts it.

    /// Ends the process for a failure, or keeps that of a migration.
    @inline(never)
    private func keep(_ error: any Error) { core.keep(error) }

    /// What is read of a damaged column where that does not end the process.
    @inline(never)
    private func column(_ key: UInt32, insteadOf error: any Error) -> ColumnView {
        core.keep(error)
        return table.emptyColumn(ordinals[Int(key) - 1])
    }

    /// Where the column of a property lies, for an object whose isolation was checked.
    @inline(never)
    func slot(_ key: UInt32, of object: ObjectBase) -> ColumnSlot {
        let generation = object.rowGeneration
        if generation == state.pointee.generation.pointee, remembers,
            let known = recent.known(key, leaf: object.rowLeaf, generation: generation)
        {
            #if DEBUG
            checkIfAsked { () throws(BrokenInvariant) in try columns.check(known.pointee, key) }
            #endif
            state.pointee.slots[Int(key)] = known.pointee
            return known.pointee
        }
        guard let leaf = currentLeaf(of: object) else {
            return ColumnSlot(table.emptyColumn(ordinals[Int(key) - 1]), leaf: nil, generation: 0)
        }
        let slot = ColumnSlot(column(key, in: leaf), leaf: object.rowLeaf, generation: object.rowGeneration)
        if remembers {
            let last = state.pointee.slots + Int(key)
            recent.keep(slot, key, after: last.pointee)
            last.pointee = slot
        }
        return slot
    }

    /// The column of a property, for an object whose isolation was checked.
    @inline(never)
    func view(_ key: UInt32, of object: ObjectBase) -> ColumnView {
        if !isFrozen, object.rowGeneration == state.pointee.generation.pointee, remembers,
            let view = columns.known(key, leaf: object.rowLeaf, generation: object.rowGeneration)
        {
            #if DEBUG
            let slot = ColumnSlot(view, leaf: object.rowLeaf, generation: object.rowGeneration)
            checkIfAsked { () throws(BrokenInvariant) in try columns.check(slot, key) }
            #endif
            return view
        }
        guard let leaf = currentLeaf(of: object) else { return table.emptyColumn(ordinals[Int(key) - 1]) }
        let view = column(key, in: leaf)
        if remembers { columns.keep(view, key, leaf: object.rowLeaf, generation: object.rowGeneration) }
        return view
    }

    // MARK: Look-ups

    /// The row with an int primary key.
    @inline(__always)
    func find(intPrimaryKey key: Int64) throws(StorageError) -> Int64? {
        remembers ? try lookups.find(intPrimaryKey: key) : try table.findInt(key)
    }

    /// The first row that an index leads to.
    func firstKey(_ equality: IndexedEquality) throws -> Int64? {
        remembers ? try lookups.firstKey(equality) : try equality.firstKey(in: table)
    }

    /// Calls a function with the rows of a class that link to a row through one of its properties, as often as they do.
    func forEachBacklink(
        of key: Int64,
        from origin: TableAccessor,
        property: Int,
        _ body: (Int64) -> Void
    ) throws(StorageError) {
        if remembers {
            try lookups.backlinkReader(from: origin.table, property: property).forEachKey(of: key, body)
        } else {
            for key in try table.backlinkKeys(of: key, from: origin.table, property: property) { body(key) }
        }
    }

    // Several threads may ask a frozen realm: it remembers no formats.

    /// The stored ordinal of the indexed property whose value a format asks for, where that is remembered.
    func knownEquality(_ format: String) -> Int? { isFrozen ? nil : lookups.knownEquality(format) }

    /// Remembers a format, whose only argument is the value of an indexed property.
    func rememberEquality(_ format: String, _ property: Int) {
        if !isFrozen { lookups.rememberEquality(format, property) }
    }

    // MARK: Links

    /// As ``readableLocation(of:)``, where the last ones were found.
    @inline(__always)
    private func locateIfReadable(_ key: Int64) -> RowLocation? {
        do { return try locate(key) } catch { return nil }
    }

    /// Makes an accessor for the row that a property links to.
    func makeTarget(of property: Int, key: Int64) -> ObjectBase {
        func make(_ accessor: TableAccessor) -> ObjectBase {
            // Whoever follows a link reads a property there: the row is looked for where the last ones were.
            accessor.makeObject(key: key, at: accessor.locateIfReadable(key))
        }
        if let known = targets[property] { return known._withUnsafeGuaranteedRef { make($0) } }
        return make(target(of: property))
    }

    // MARK: Accessors that iterations need no more

    /// An accessor that nobody holds, of no row, to be used again.
    func takeSpare() -> Unmanaged<ObjectBase>? {
        // A frozen realm keeps none, and several threads may ask.
        guard !isFrozen, let object = factory.takeSpare() else { return nil }
        object._withUnsafeGuaranteedRef { $0.core = core }
        return object
    }

    /// Takes an accessor that nobody else holds, for the next iteration.
    func keepSpare(_ object: Unmanaged<ObjectBase>) {
        if remembers { factory.keepSpare(object) } else { object.release() }
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

    /// The accessor of the class that a property links to, where it does.
    ///
    /// - Throws: `StorageError` where that class cannot be read.
    @discardableResult
    func readableTarget(of property: ModelProperty) throws(StorageError) -> TableAccessor? {
        guard property.shape.kind == .object else { return nil }
        if let known = targets[property.ordinal] { return known.takeUnretainedValue() }
        if info.isDynamic { return try core.registry.readableDynamicAccessor(className: property.targetName) }
        guard let target = property.shape.target else { return nil }
        return try core.registry.readableAccessor(for: target)
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

#if DEBUG
extension TableAccessor {
    /// Properties are where the class has them, and what was kept of the present version is as it would be read again.
    func checkInvariants() throws(BrokenInvariant) {
        let name = info.name
        let count = info.properties.count
        try Invariant.require(
            ordinals.count == count,
            "'\(name)' has \(count) properties, of which \(ordinals.count) were found"
        )
        if table.model.schema[name] != nil {
            let stored = table.schema.properties
            for (property, ordinal) in zip(info.properties, ordinals) {
                let isThere = stored.indices.contains(ordinal) && stored[ordinal].name == property.columnName
                try Invariant.require(isThere, "'\(name).\(property.name)' is looked for in another property")
            }
        }
        let words = state.pointee
        let isOwn = words.accessor?.toOpaque() == Unmanaged.passUnretained(self).toOpaque()
        try Invariant.require(isOwn, "The objects of '\(name)' belong to another accessor")
        let isOfRealm = words.generation == core.model.generation && words.place == core.place
        try Invariant.require(isOfRealm, "The objects of '\(name)' look at another realm")
        for key in 1..<slotCount { try columns.check(words.slots[key], UInt32(key)) }
        try recent.checkInvariants { (key, slot) throws(BrokenInvariant) in try columns.check(slot, key) }
        try columns.checkInvariants(ordinals, slotCount: slotCount)
        try rows.checkInvariants()
        try lookups.checkInvariants()
        for ordinal in 0..<count {
            guard let target = targets[ordinal]?.takeUnretainedValue() else { continue }
            let isTarget = info.isDynamic || target.info.name == info.properties[ordinal].targetName
            try Invariant.require(
                isTarget && target.core === core,
                "'\(name).\(info.properties[ordinal].name)' leads to objects of another class, or of another realm"
            )
        }
    }

    /// Checks what is kept, in a file that was opened for that.
    private func checkIfAsked(_ check: () throws(BrokenInvariant) -> Void) {
        let file = core.coordinator.file
        // Where steps are made to fail, reading pages here would be one of them.
        if file.options.failures == nil { file.assertInvariants(check) }
    }
}
#endif

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
