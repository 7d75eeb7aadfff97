/// One leaf of a table, a cluster of up to `ClusterFormat.rowLimit` rows: borrowed pointers.
///
/// A view read from a snapshot is valid as long as the snapshot; one read through a `ClusterWriter` until the writer's
/// `generation` changes.
@frozen
@usableFromInline
package struct LeafView {
    /// The cluster node: a page run, or the descriptor block of an open cluster.
    @usableFromInline package let base: UnsafeRawPointer
    /// Where external columns and overflow values are read.
    @usableFromInline package let view: PageView

    @inlinable
    @inline(__always)
    package init(base: UnsafeRawPointer, view: PageView) {
        self.base = base
        self.view = view
    }

    /// Whether the leaf is read from the file and not from a writer's memory, so that it stays where it is as long as its
    /// version is in use.
    package var isInFile: Bool { view.isInFile(base) }

    /// The number of rows.
    @inlinable package var rowCount: Int {
        @inline(__always) get {
            Int(base.loadUnaligned(fromByteOffset: ClusterFormat.rowCountOffset, as: UInt32.self))
        }
    }

    /// The number of property columns that the leaf knows of; younger columns of the table read as defaults.
    @inlinable package var columnCount: Int {
        @inline(__always) get {
            Int(base.loadUnaligned(fromByteOffset: ClusterFormat.columnCountOffset, as: UInt32.self)) &- 1
        }
    }

    /// The key of row 0.
    @inlinable package var firstKey: Int64 {
        @inline(__always) get { base.loadUnaligned(fromByteOffset: ClusterFormat.firstKeyOffset, as: Int64.self) }
    }

    /// The key of the last row.
    @inlinable package var lastKey: Int64 {
        @inline(__always) get { base.loadUnaligned(fromByteOffset: ClusterFormat.lastKeyOffset, as: Int64.self) }
    }

    /// The width of the row-key column.
    @inlinable var keyWidth: Int {
        @inline(__always) get { Int(base.load(fromByteOffset: ClusterFormat.descriptorsOffset + 2, as: UInt8.self)) }
    }

    /// The row-key column's data when the keys are not consecutive.
    @inlinable var keyData: UnsafeRawPointer {
        @inline(__always) get {
            let descriptor = base + ClusterFormat.descriptorsOffset
            let place = descriptor.loadUnaligned(fromByteOffset: ClusterFormat.descriptorPlaceOffset, as: UInt64.self)
            if UInt64(descriptor.load(as: UInt8.self)) == ClusterFormat.locationInline {
                return base + Int(truncatingIfNeeded: place & 0xFFFF_FFFF)
            }
            return UnsafeRawPointer(bitPattern: UInt(truncatingIfNeeded: place)).unsafelyUnwrapped
        }
    }

    /// The key of a row in `0..<rowCount`.
    @inlinable
    @inline(__always)
    package func key(at row: Int) -> Int64 {
        switch keyWidth {
        case 0: firstKey &+ Int64(row)
        case 1: firstKey &+ Int64(keyData.load(fromByteOffset: row, as: UInt8.self))
        case 2: firstKey &+ Int64(keyData.loadUnaligned(fromByteOffset: row &<< 1, as: UInt16.self))
        case 4: firstKey &+ Int64(keyData.loadUnaligned(fromByteOffset: row &<< 2, as: UInt32.self))
        default: keyData.loadUnaligned(fromByteOffset: row &<< 3, as: Int64.self)
        }
    }

    /// The row of a key, nil when the leaf does not have it.
    @inlinable
    @inline(__always)
    package func row(of key: Int64) -> Int? {
        if _fastPath(keyWidth == 0) {
            let row = UInt64(bitPattern: key &- firstKey)
            return row < UInt64(rowCount) ? Int(truncatingIfNeeded: row) : nil
        }
        return sparseRow(of: key)
    }

    /// As ``row(of:)``, where keys are missing between the first and the last one.
    @usableFromInline
    func sparseRow(of key: Int64) -> Int? {
        let count = rowCount
        // A first row that was deleted has the least of all numbers, which is no row's.
        guard count > 0, key > .min else { return nil }
        // While a transaction deletes rows they keep their places, and so do those behind them: with no other gap the place is
        // known. A deleted row has the key of the one before it, which is the one to be found.
        let guess = Int(truncatingIfNeeded: min(UInt64(bitPattern: key &- firstKey), UInt64(count &- 1)))
        if self.key(at: guess) == key, guess == 0 || self.key(at: guess &- 1) < key { return guess }
        let row = sparseLowerBound(of: key)
        return row < count && self.key(at: row) == key ? row : nil
    }

    /// The first row whose key is at least `key`; `rowCount` when there is none.
    @inlinable
    package func lowerBound(of key: Int64) -> Int {
        if keyWidth == 0 {
            if key <= firstKey { return 0 }
            return Int(truncatingIfNeeded: min(UInt64(bitPattern: key &- firstKey), UInt64(rowCount)))
        }
        return sparseLowerBound(of: key)
    }

    @usableFromInline
    func sparseLowerBound(of key: Int64) -> Int {
        var low = 0
        var count = rowCount
        while count > 0 {
            let half = count &>> 1
            if self.key(at: low &+ half) < key {
                low &+= half &+ 1
                count &-= half &+ 1
            } else {
                count = half
            }
        }
        return low
    }

    /// A property column.
    ///
    /// - Parameters:
    ///   - column: The ordinal of the column in the table.
    ///   - isNullable: What the schema says. It only matters for a column that was added to the table after the leaf was
    ///     written: then every value is null (and reads as zero or empty for callers who know it cannot be), or, with
    ///     `false`, the default without a null bitmap.
    /// - Returns: the view, valid as long as this one and until the next write to the table.
    /// - Throws: `StorageError` with code `corrupt` when the column's pages are damaged.
    @inlinable
    @inline(__always)
    package func column(_ column: Int, isNullable: Bool = true) throws(StorageError) -> ColumnView {
        let rows = rowCount
        guard column < columnCount else { return Self.absent(rows: rows, kind: .int, isNull: isNullable, view: view) }
        let descriptor = base + (ClusterFormat.descriptorsOffset &+ (column &+ 1) &* ClusterFormat.descriptorByteCount)
        let word = descriptor.loadUnaligned(as: UInt64.self)
        let kind = unsafeBitCast(UInt8(truncatingIfNeeded: word &>> 8), to: ColumnKind.self)
        let width = Int(truncatingIfNeeded: word &>> 16 & 0xFF)
        let minimum = descriptor.loadUnaligned(fromByteOffset: ClusterFormat.descriptorMinimumOffset, as: Int64.self)
        var maximum = descriptor.loadUnaligned(fromByteOffset: ClusterFormat.descriptorMaximumOffset, as: Int64.self)
        var data: UnsafeRawPointer
        switch word & 0xFF {
        case ClusterFormat.locationInline:
            data =
                base
                + Int(descriptor.loadUnaligned(fromByteOffset: ClusterFormat.descriptorPlaceOffset, as: UInt32.self))
        case ClusterFormat.locationExternal:
            let reference = PageReference(load: descriptor + ClusterFormat.descriptorPlaceOffset)
            let run = try view.pointer(to: reference)
            // The run was validated against its own header; the header must be the one that this descriptor describes.
            guard
                run.load(fromByteOffset: PageHeader.kindOffset, as: UInt8.self) == PageKind.column.rawValue,
                run.loadUnaligned(fromByteOffset: ClusterFormat.runWordOffset, as: UInt64.self) == word,
                run.loadUnaligned(fromByteOffset: ClusterFormat.runRowCountOffset, as: UInt32.self)
                    == UInt32(truncatingIfNeeded: rows)
            else { throw Self.mismatch(reference) }
            maximum = run.loadUnaligned(fromByteOffset: ClusterFormat.runMaximumOffset, as: Int64.self)
            data = run + ClusterFormat.runDataOffset
        case ClusterFormat.locationMemory:
            return Self.memory(descriptor, rows: rows, view: view)
        default:
            return Self.absent(rows: rows, kind: kind, isNull: word & ClusterFormat.nullsFlag != 0, view: view)
        }
        var nulls: UnsafePointer<UInt8>?
        if word & ClusterFormat.nullsFlag != 0 {
            nulls = data.assumingMemoryBound(to: UInt8.self)
            data += ClusterFormat.bitmapByteCount(rows: rows)
        }
        let heap = data + (width == 0 ? 0 : (rows &+ 1) &* width)
        return ColumnView(
            kind: kind,
            width: width,
            count: rows,
            isAbsent: false,
            nulls: nulls,
            data: data,
            minimum: minimum,
            maximum: maximum,
            heap: heap,
            view: view
        )
    }

    /// The bounds of an int column's non-null values, without touching its data; nil when there are none (every value
    /// default or null, another kind, or an open cluster).
    @inlinable
    package func intBounds(_ column: Int) -> (minimum: Int64, maximum: Int64)? {
        guard let descriptor = sealedDescriptor(column, kind: .int) else { return nil }
        return (
            descriptor.loadUnaligned(fromByteOffset: ClusterFormat.descriptorMinimumOffset, as: Int64.self),
            descriptor.loadUnaligned(fromByteOffset: ClusterFormat.descriptorMaximumOffset, as: Int64.self)
        )
    }

    /// The bounds of a double column's non-null values, without touching its data; nil as for `intBounds`.
    @inlinable
    package func doubleBounds(_ column: Int) -> (minimum: Double, maximum: Double)? {
        guard let descriptor = sealedDescriptor(column, kind: .double) else { return nil }
        let minimum = descriptor.loadUnaligned(fromByteOffset: ClusterFormat.descriptorMinimumOffset, as: Int64.self)
        let maximum = descriptor.loadUnaligned(fromByteOffset: ClusterFormat.descriptorMaximumOffset, as: Int64.self)
        if descriptor.load(fromByteOffset: 2, as: UInt8.self) < 8 { return (Double(minimum), Double(maximum)) }
        return (
            Double(bitPattern: UInt64(bitPattern: minimum)), Double(bitPattern: UInt64(bitPattern: maximum))
        )
    }

    @inlinable
    func sealedDescriptor(_ column: Int, kind: ColumnKind) -> UnsafeRawPointer? {
        guard column < columnCount else { return nil }
        let descriptor = base + (ClusterFormat.descriptorsOffset &+ (column &+ 1) &* ClusterFormat.descriptorByteCount)
        let location = UInt64(descriptor.load(as: UInt8.self))
        guard location == ClusterFormat.locationInline || location == ClusterFormat.locationExternal,
            descriptor.load(fromByteOffset: 1, as: UInt8.self) == kind.rawValue
        else { return nil }
        return descriptor
    }
}
