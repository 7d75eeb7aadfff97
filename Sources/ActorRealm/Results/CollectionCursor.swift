import CRealmShims
import RealmModel
import RealmStorage

/// One iteration over a managed collection.
///
/// It goes over the elements that the collection had at its start, in spite of writes made meanwhile. An accessor that
/// nobody kept is pointed at the next row instead of making another.
public final class _CollectionCursor {
    private let heldBacking: Unmanaged<_CollectionBacking>
    /// Whether the backing is held: over links only until the end is met, since the cursor is kept by it from then on.
    @exclusivity(unchecked) private var holdsBacking = true
    /// The collection, while it is held.
    @usableFromInline var backing: _CollectionBacking { heldBacking.takeUnretainedValue() }
    /// The class of the objects, which lives as long as the backing: not counted, since that costs more than a step.
    private let accessor: Unmanaged<TableAccessor>?
    /// The accessor handed out last, if it may be used again.
    @exclusivity(unchecked) private var current: Unmanaged<ObjectBase>?
    private let reuses: Bool
    /// Whether accessors keep collections, which have to be dropped with their rows.
    private let hasCollections: Bool

    private let generationWord: UnsafeMutablePointer<UInt64>
    @exclusivity(unchecked) private var place: UnsafeMutablePointer<RealmPlace>

    // Over keys or values: the first keys lie here, if they were not read before.
    @exclusivity(unchecked) private var firstKeys = InlineArray<8, Int64>(repeating: 0)
    @exclusivity(unchecked) private var keys: [Int64] = []
    /// Whether the keys lie in the array.
    @exclusivity(unchecked) private var usesArray = false
    @exclusivity(unchecked) private var keyCount = 0
    private var values: [StoredValue] = []
    @exclusivity(unchecked) private var position = 0

    // Over the leaves, of a whole table or to find the rows of ascending keys.
    private let isScan: Bool
    /// Whether the backing keeps the cursor after the end.
    private let isKept: Bool
    @exclusivity(unchecked) private var leaves: LeafCursor?
    @exclusivity(unchecked) private var leaf: LeafView?
    @exclusivity(unchecked) private var rowCount = 0
    @exclusivity(unchecked) private var row = -1
    @exclusivity(unchecked) private var lastKey = Int64.min
    @exclusivity(unchecked) private var endKey = Int64.max
    @exclusivity(unchecked) private var generation: UInt64 = 0
    /// In a leaf with consecutive keys: the key of row 0, and the rows that can be delivered without a further look.
    @exclusivity(unchecked) private var firstKey: Int64 = 0
    @exclusivity(unchecked) private var plainRowCount = 0

    /// A cursor over a collection; nil over one that was emptied.
    @usableFromInline
    static func over(_ backing: _CollectionBacking) -> _CollectionCursor? {
        if backing.isEmptied { return nil }
        if let spare = backing.takeSpareCursor() {
            spare.begin(backing)
            return spare
        }
        return _CollectionCursor(backing)
    }

    init(_ backing: _CollectionBacking) {
        heldBacking = Unmanaged.passRetained(backing)
        let elements = backing.elements
        accessor = elements.map { Unmanaged.passUnretained($0) }
        backing.core.checkAccess()
        isScan = backing.isWholeTable
        isKept = backing.isLinks && !backing.core.isFrozen
        reuses = elements?.info.isClonable ?? false
        hasCollections = !(elements?.keepsNoCollections ?? true)
        generationWord = backing.core.model.generation
        place = backing.core.place
        generation = generationWord.pointee
        if let elements {
            if isScan {
                let count = elements.table.count
                let last = count == 0 ? nil : backing.core.attempt(or: nil) { try elements.table.key(at: count - 1) }
                endKey = last ?? .min
                leaves = elements.table.leaves()
            } else if backing.isLinks, backing.delivered == nil || !backing.core.isFrozen {
                // Frozen where the last change was delivered, they are what that says, which may be nothing.
                // Nobody else asks for links that are only gone through.
                backing.forEachLink { appendKey($0) }
            } else {
                keys = backing.keys()
                keyCount = keys.count
                usesArray = true
            }
        } else {
            values = backing.values()
        }
    }

    deinit {
        returnCurrent()
        if holdsBacking { heldBacking.release() }
    }

    /// Begins another iteration over links, whose backing kept the cursor.
    private func begin(_ backing: _CollectionBacking) {
        backing.core.checkAccess()
        _ = heldBacking.retain()
        holdsBacking = true
        place = backing.core.place
        generation = generationWord.pointee
        leaf = nil
        position = 0
        keyCount = 0
        if usesArray {
            keys = []
            usesArray = false
        }
        backing.forEachLink { appendKey($0) }
    }

    /// At the end of an iteration over links: the backing keeps the cursor, and not the other way round.
    @inline(never)
    private func finish() {
        guard isKept, holdsBacking else { return }
        returnCurrent()
        current = nil
        holdsBacking = false
        // Whoever asks once more gets nothing, even when the realm is gone by then.
        place = Self.anyPlace
        heldBacking._withUnsafeGuaranteedRef { $0.keepSpare(self) }
        heldBacking.release()
    }

    /// What lets every caller pass.
    // Written here once, and never again.
    nonisolated(unsafe) private static let anyPlace: UnsafeMutablePointer<RealmPlace> = {
        let place = UnsafeMutablePointer<RealmPlace>.allocate(capacity: 1)
        place.initialize(to: .everywhere)
        return place
    }()

    /// Gives the accessor that was handed out last back to its class, if nobody else holds it.
    private func returnCurrent() {
        guard let current else { return }
        // The last reference may go away anywhere; what the realm keeps is touched only where it is read.
        if place.pointee.isCaller, let accessor, crealm_is_sole_reference(current.toOpaque()) != 0 {
            accessor._withUnsafeGuaranteedRef { $0.keepSpare(current) }
        } else {
            current.release()
        }
    }

    // MARK: Keys

    @inline(__always)
    private func appendKey(_ key: Int64) {
        if keyCount < firstKeys.count {
            firstKeys[keyCount] = key
        } else {
            if !usesArray {
                usesArray = true
                for index in 0..<keyCount { keys.append(firstKeys[index]) }
            }
            keys.append(key)
        }
        keyCount &+= 1
    }

    @inline(__always)
    private func key(at position: Int) -> Int64 {
        usesArray ? keys[position] : firstKeys[position]
    }

    /// The next value of a collection of values.
    public func nextValue() -> _Stored? {
        if accessor != nil { return nextObject().map { _Stored(.link($0.rowKey)) } }
        guard position < values.count else { return nil }
        defer { position += 1 }
        return _Stored(values[position])
    }

    /// The position of the value handed out last.
    var valuePosition: Int { position - 1 }

    // MARK: Objects

    /// The next object.
    public func nextObject() -> ObjectBase? {
        checkAccess()
        let next = row &+ 1
        if _fastPath(next < plainRowCount), generationWord.pointee == generation, let current,
            crealm_is_sole_reference(current.toOpaque()) != 0
        {
            row = next
            let key = firstKey &+ Int64(next)
            lastKey = key
            return current._withUnsafeGuaranteedRef { object in
                object.rowKey = key
                object.rowIndex = next
                return object
            }
        }
        return nextObjectSlowly()
    }

    /// Traps unless the caller runs in the realm's isolation.
    @inline(__always)
    private func checkAccess() {
        if _slowPath(!place.pointee.isCaller) { backing.core.checkAccessSlowly() }
    }

    @inline(never)
    private func nextObjectSlowly() -> ObjectBase? {
        if isScan { return nextInTable() }
        guard position < keyCount, let accessor else {
            finish()
            return nil
        }
        let key = key(at: position)
        position &+= 1
        if generationWord.pointee != generation {
            generation = generationWord.pointee
            leaf = nil
        }
        if let leaf, let row = leaf.row(of: key) {
            return object(key: key, RowLocation(leaf: leaf, row: row))
        }
        return accessor._withUnsafeGuaranteedRef { object(of: key, $0) }
    }

    /// The object of a key in another leaf than the one before, which was often found before.
    @inline(never)
    private func object(of key: Int64, _ accessor: TableAccessor) -> ObjectBase? {
        if let known = accessor.knownLeaf(of: key), let row = known.row(of: key) {
            leaf = known
            return object(key: key, RowLocation(leaf: known, row: row))
        }
        return lookedUp(key, accessor)
    }

    /// The object of a key whose leaf was not found before.
    @inline(never)
    private func lookedUp(_ key: Int64, _ accessor: TableAccessor) -> ObjectBase? {
        let found: RowLocation?
        do {
            found = try accessor.locate(key)
        } catch {
            backing.core.keep(error)
            return end()
        }
        guard let location = found else {
            // The object was deleted during the iteration; it is delivered invalidated. Nothing of a closed realm is.
            if backing.core.isClosed { return nil }
            return accessor.makeObject(key: key)
        }
        leaf = location.leaf
        return object(key: key, location)
    }

    @inline(__always)
    private func nextInTable() -> ObjectBase? {
        if generationWord.pointee != generation { reposition() }
        row &+= 1
        if row >= rowCount {
            guard advanceToNextLeaf() else { return nil }
        }
        let leaf = leaf.unsafelyUnwrapped
        let key = leaf.key(at: row)
        if key > endKey {
            row &-= 1
            return nil
        }
        lastKey = key
        return object(key: key, RowLocation(leaf: leaf, row: row))
    }

    /// The next leaf; none behind damage that a migration meets.
    private func nextLeaf() -> LeafView? {
        do {
            return try leaves?.next()
        } catch {
            backing.core.keep(error)
            leaves = nil
            return nil
        }
    }

    /// Ends an iteration over keys behind damage that a migration meets.
    private func end() -> ObjectBase? {
        position = keyCount
        return nextObjectSlowly()
    }

    private func advanceToNextLeaf() -> Bool {
        while let next = nextLeaf() {
            let first = lastKey == .min ? 0 : next.lowerBound(of: lastKey + 1)
            guard first < next.rowCount else { continue }
            leaf = next
            rowCount = next.rowCount
            row = first
            allowPlainRows(of: next)
            return true
        }
        rowCount = 0
        row = 0
        plainRowCount = 0
        return false
    }

    /// Finds the place after the last row again when rows may have moved.
    private func reposition() {
        generation = generationWord.pointee
        leaves = backing.elements?.table.leaves(from: lastKey == .min ? .min : lastKey + 1)
        leaf = nil
        rowCount = 0
        row = -1
        plainRowCount = 0
    }

    /// Finds out how many rows of a leaf have consecutive keys and can be delivered by moving the accessor on.
    private func allowPlainRows(of leaf: LeafView) {
        let isDense = leaf.lastKey &- leaf.firstKey == Int64(leaf.rowCount - 1)
        guard reuses, !hasCollections, isDense else {
            plainRowCount = 0
            return
        }
        firstKey = leaf.firstKey
        // An iteration over no rows ends before all keys.
        plainRowCount = endKey >= leaf.lastKey ? leaf.rowCount : endKey < firstKey ? 0 : Int(endKey - firstKey) + 1
    }

    @inline(__always)
    private func object(key: Int64, _ location: RowLocation) -> ObjectBase {
        if current == nil, reuses, let accessor { current = accessor._withUnsafeGuaranteedRef { $0.takeSpare() } }
        if let current, crealm_is_sole_reference(current.toOpaque()) != 0 {
            return current._withUnsafeGuaranteedRef { object in
                object.rowKey = key
                object.rowLeaf = location.leaf.base
                object.rowIndex = location.row
                object.rowGeneration = generation
                if hasCollections { dropCollections(of: object) }
                return object
            }
        }
        return makeObject(key: key, location)
    }

    @inline(never)
    private func makeObject(key: Int64, _ location: RowLocation) -> ObjectBase {
        let object = accessor.unsafelyUnwrapped._withUnsafeGuaranteedRef { $0.makeObject(key: key, at: location) }
        if reuses {
            current?.release()
            current = Unmanaged.passRetained(object)
        }
        return object
    }

    private func dropCollections(of object: ObjectBase) {
        accessor?._withUnsafeGuaranteedRef { $0.info.dropCollections(of: object) }
    }
}
