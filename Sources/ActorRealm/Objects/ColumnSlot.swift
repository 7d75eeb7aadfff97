/// Where a column of one leaf lies: what the property getters need to read a value without a call.
///
/// A slot holds for the leaf and the generation it was filled under; a getter compares both with those of its object
/// and fills the slot again on a mismatch, so that live objects of one leaf share the work.
@usableFromInline
struct ColumnSlot {
    /// The leaf that the slot describes.
    @usableFromInline var leaf: UnsafeRawPointer?
    /// The model's generation at which the slot was filled.
    @usableFromInline var generation: UInt64
    /// The packed values.
    @usableFromInline var data: UnsafeRawPointer
    /// One bit per row, set where the value is null.
    @usableFromInline var nulls: UnsafePointer<UInt8>?
    /// What packed integers count from.
    @usableFromInline var minimum: Int64
    /// Bytes per value; 0 when every row holds `minimum`, 8 when values are stored as they are.
    @usableFromInline var width: Int

    @inlinable
    init(
        leaf: UnsafeRawPointer?,
        generation: UInt64,
        data: UnsafeRawPointer,
        nulls: UnsafePointer<UInt8>?,
        minimum: Int64,
        width: Int
    ) {
        self.leaf = leaf
        self.generation = generation
        self.data = data
        self.nulls = nulls
        self.minimum = minimum
        self.width = width
    }

    @inlinable @inline(__always)
    func isNull(_ row: Int) -> Bool {
        guard let nulls else { return false }
        return nulls[row &>> 3] & (1 &<< UInt8(truncatingIfNeeded: row & 7)) != 0
    }

    @inlinable @inline(__always)
    func integer(_ row: Int) -> Int64 {
        // Comparisons and no jump through a table, the commonest widths first.
        if width == 1 { return minimum &+ Int64(data.load(fromByteOffset: row, as: UInt8.self)) }
        if width == 8 { return data.loadUnaligned(fromByteOffset: row &* 8, as: Int64.self) }
        if width == 2 { return minimum &+ Int64(data.loadUnaligned(fromByteOffset: row &* 2, as: UInt16.self)) }
        if width == 4 { return minimum &+ Int64(data.loadUnaligned(fromByteOffset: row &* 4, as: UInt32.self)) }
        return minimum
    }

    @inlinable @inline(__always)
    func double(_ row: Int) -> Double {
        if _fastPath(width == 8) { return data.loadUnaligned(fromByteOffset: row &* 8, as: Double.self) }
        return Double(integer(row))
    }

    @inlinable @inline(__always)
    func float(_ row: Int) -> Float {
        data.loadUnaligned(fromByteOffset: row &* width, as: Float.self)
    }
}

/// The part of a table's accessor that getters inlined into other modules read: plain memory at a fixed address.
@usableFromInline
struct TableState {
    /// Changes whenever a leaf pointer read before may be stale.
    @usableFromInline var generation: UnsafeMutablePointer<UInt64>
    /// Where the realm's isolation runs.
    @usableFromInline var place: UnsafeMutablePointer<RealmPlace>
    /// One slot per property; slot 0 is unused because keys start at 1.
    @usableFromInline var slots: UnsafeMutablePointer<ColumnSlot>
    /// The accessor itself, for what is not inlined; nil for objects that are in no table.
    @usableFromInline var accessor: Unmanaged<TableAccessor>?

    @inlinable
    init(
        generation: UnsafeMutablePointer<UInt64>,
        place: UnsafeMutablePointer<RealmPlace>,
        slots: UnsafeMutablePointer<ColumnSlot>,
        accessor: Unmanaged<TableAccessor>? = nil
    ) {
        self.generation = generation
        self.place = place
        self.slots = slots
        self.accessor = accessor
    }
}
