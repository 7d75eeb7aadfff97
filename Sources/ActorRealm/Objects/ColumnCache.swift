import RealmModel
import RealmStorage

/// Where the declared properties of a class lie in a leaf, and the columns that were read last.
struct ColumnCache: ~Copyable {
    private let table: TableView
    /// By declared ordinal: where the properties lie.
    private let columns: UnsafeMutablePointer<KnownColumn>
    /// By property key: the columns of properties that are not read inline, as they were read last.
    private let views: UnsafeMutablePointer<KnownView>
    /// Which layout of the table these are of: another process may change the schema.
    private var configuration = -1

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

    init(_ table: TableView, slotCount: Int) {
        self.table = table
        columns = .allocate(capacity: slotCount)
        columns.initialize(repeating: KnownColumn(), count: slotCount)
        views = .allocate(capacity: slotCount)
        views.initialize(repeating: KnownView(), count: slotCount)
    }

    deinit {
        columns.deallocate()
        views.deallocate()
    }

    /// Whether the table has another layout since `read(_:)`.
    @inline(__always)
    var isStale: Bool { configuration != table.configurationCount }

    /// Reads where properties lie, given by their stored ordinals.
    @inline(never)
    mutating func read(_ ordinals: [Int]) {
        configuration = table.configurationCount
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

    /// The column of a property in a leaf.
    @inline(__always)
    func column(_ key: UInt32, in leaf: LeafView) throws(StorageError) -> ColumnView {
        let place = columns[Int(key) &- 1]
        let column = try leaf.column(Int(place.column), isNullable: place.isNullable)
        guard column.isAbsent || column.kind.rawValue == place.kind else {
            throw table.damagedColumn(Int(place.ordinal))
        }
        return column
    }

    /// The column of a property as it was read last, where that was of a leaf and a generation.
    @inline(__always)
    func known(_ key: UInt32, leaf: UnsafeRawPointer?, generation: UInt64) -> ColumnView? {
        let known = views + Int(key)
        guard known.pointee.generation == generation, known.pointee.leaf == leaf else { return nil }
        return known.pointee.view
    }

    /// Keeps a column that was read.
    @inline(__always)
    func keep(_ view: ColumnView, _ key: UInt32, leaf: UnsafeRawPointer?, generation: UInt64) {
        views[Int(key)] = KnownView(leaf: leaf, generation: generation, view: view)
    }
}

#if DEBUG
extension ColumnCache {
    /// Properties lie where the table has them, and columns of the present version are as they would be read again.
    func checkInvariants(_ ordinals: [Int], slotCount: Int) throws(BrokenInvariant) {
        // They are read again before they are used.
        if isStale { return }
        for (declared, ordinal) in ordinals.enumerated() {
            let known = columns[declared]
            let isPlace = known.ordinal == Int32(ordinal) && known.column == Int32(table.column(ordinal))
            let isForm =
                known.kind == table.columnKind(ordinal).rawValue && known.isNullable == table.isNullable(ordinal)
            try Invariant.require(isPlace && isForm, "Property \(declared) is looked for in another column")
        }
        for key in 1..<slotCount {
            guard let view = views[key].view else { continue }
            try check(ColumnSlot(view, leaf: views[key].leaf, generation: views[key].generation), UInt32(key))
        }
    }

    /// A column that was kept is as it would be read again, if it is of the present version.
    func check(_ slot: ColumnSlot, _ key: UInt32) throws(BrokenInvariant) {
        let model = table.model
        guard !isStale, slot.generation == model.generation.pointee, model.transactionFlag.pointee == 0,
            let base = slot.leaf,
            // What cannot be read says nothing of what is kept.
            let found = try? column(key, in: LeafView(base: base, view: model.view))
        else { return }
        let isPlace = found.data == slot.data && found.nulls == slot.nulls
        let isForm = found.minimum == slot.minimum && found.width == slot.width
        try Invariant.require(isPlace && isForm, "The column of property \(key - 1) is remembered as another one")
    }
}
#endif
