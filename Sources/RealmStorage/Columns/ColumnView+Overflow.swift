/// The rarer ways to read a bytes column.
extension ColumnView {
    /// The value that lives in an overflow run.
    @usableFromInline
    @inline(never)
    func overflowBytes(_ row: Int) throws(StorageError) -> UnsafeRawBufferPointer {
        try Overflow.read(overflowReference(row), in: view)
    }

    /// Reading a column as bytes that is not: right for a column that the leaf does not have, damage otherwise.
    @usableFromInline
    @inline(never)
    func defaultBytes() throws(StorageError) -> UnsafeRawBufferPointer {
        guard isAbsent else {
            throw StorageError(.corrupt, "A column of \(kind) values stands where the schema has bytes.")
        }
        return UnsafeRawBufferPointer(start: data, count: 0)
    }

    /// Whether the value of a bytes column lives in an overflow run.
    package func isOverflow(_ row: Int) -> Bool {
        switch width {
        case 4:
            data.loadUnaligned(fromByteOffset: row << 2, as: UInt32.self) & ClusterFormat.overflowFlag != 0
        case ClusterFormat.pairWidth:
            data.loadUnaligned(fromByteOffset: row << 3 + 4, as: UInt32.self) & ClusterFormat.overflowFlag != 0
        default: false
        }
    }

    /// What is stored for a value of a bytes column: the value itself, or the 16 bytes of its overflow reference.
    func storedBytes(_ row: Int) -> UnsafeRawBufferPointer {
        switch width {
        case 4:
            let mask = ~ClusterFormat.overflowFlag
            let start = data.loadUnaligned(fromByteOffset: row << 2, as: UInt32.self) & mask
            let end = data.loadUnaligned(fromByteOffset: row << 2 + 4, as: UInt32.self) & mask
            return UnsafeRawBufferPointer(start: heap + Int(start), count: Int(end &- start))
        case ClusterFormat.pairWidth:
            let offset = data.loadUnaligned(fromByteOffset: row << 3, as: UInt32.self)
            let length = data.loadUnaligned(fromByteOffset: row << 3 + 4, as: UInt32.self)
            return UnsafeRawBufferPointer(start: heap + Int(offset), count: Int(length & ~ClusterFormat.overflowFlag))
        case 2:
            let start = Int(data.loadUnaligned(fromByteOffset: row << 1, as: UInt16.self))
            let end = Int(data.loadUnaligned(fromByteOffset: row << 1 + 2, as: UInt16.self))
            return UnsafeRawBufferPointer(start: heap + start, count: end &- start)
        default:
            let length = Int(truncatingIfNeeded: maximum)
            return UnsafeRawBufferPointer(start: heap + row &* length, count: length)
        }
    }

    /// The reference of a value for which `isOverflow` holds.
    package func overflowReference(_ row: Int) -> PageReference {
        PageReference(load: storedBytes(row).baseAddress.unsafelyUnwrapped)
    }

    /// Visits the references of all overflow values.
    func forEachOverflow(_ body: (PageReference) throws(StorageError) -> Void) throws(StorageError) {
        guard kind == .bytes, width >= 4 else { return }
        for row in 0..<count where isOverflow(row) {
            try body(overflowReference(row))
        }
    }
}
