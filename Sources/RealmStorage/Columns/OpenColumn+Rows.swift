/// Changing an expanded column. The owner publishes the descriptor afterwards where addresses may have changed.
extension OpenColumn {
    /// The bytes of a column's values: 16 may be read from any row of a fixed column.
    static func dataByteCount(capacity: Int, width: Int) -> Int {
        capacity * width + (width == 12 ? 4 : 0)
    }

    /// Copies the values of a column to memory of its own.
    mutating func expand(from source: ColumnView, capacity: Int, keepsWidth: Bool, memory: OpenMemory) {
        let isNarrow = keepsWidth && layout.kind == .int && [1, 2, 4].contains(source.width)
        width = isNarrow ? source.width : fullWidth
        minimum = isNarrow ? source.minimum : 0
        let data = memory.allocate(Self.dataByteCount(capacity: capacity, width: width))
        self.data = data
        if layout.isNullable {
            let bytes = ClusterFormat.bitmapByteCount(rows: capacity)
            let nulls = memory.allocate(bytes)
            // Rows to come are null by default.
            nulls.initializeMemory(as: UInt8.self, repeating: 0xFF, count: bytes)
            for word in 0..<source.bitmapWordCount {
                let rows = min(64, source.count - word * 64)
                let beyond: UInt64 = rows == 64 ? 0 : ~0 << UInt64(rows)
                nulls.storeBytes(of: source.nullWord(word) | beyond, toByteOffset: word * 8, as: UInt64.self)
            }
            self.nulls = nulls
        }
        state = .expanded
        guard source.count > 0 else { return }
        if isNarrow {
            data.copyMemory(from: source.data, byteCount: source.count * width)
        } else if !source.isAbsent {
            copyValues(of: source, to: 0, memory: memory)
        }
    }

    /// Copies values and nulls of another column to rows that hold the default.
    mutating func copyRows(of source: ColumnView, to start: Int, memory: OpenMemory) {
        if let nulls {
            for row in 0..<source.count {
                Self.setBit(source.isNull(row), start + row, in: nulls)
            }
        }
        if !source.isAbsent { copyValues(of: source, to: start, memory: memory) }
    }

    private mutating func copyValues(of source: ColumnView, to start: Int, memory: OpenMemory) {
        guard let data else { return }
        switch layout.kind {
        case .int:
            source.expandInts(into: (data + start * 8).assumingMemoryBound(to: Int64.self))
            clearNullSlots(of: source, in: data + start * 8)
        case .double:
            source.expandDoubles(into: (data + start * 8).assumingMemoryBound(to: Double.self))
            clearNullSlots(of: source, in: data + start * 8)
        case .float, .fixed12, .fixed16:
            (data + start * width).copyMemory(from: source.data, byteCount: source.count * width)
        case .bytes:
            if start == 0, heap == nil, source.width < ClusterFormat.pairWidth {
                return copyHeap(of: source, memory: memory)
            }
            var total = 0
            for row in 0..<source.count where !source.isNull(row) { total += source.storedBytes(row).count }
            reserveHeap(total, rows: start, memory: memory)
            for row in 0..<source.count where !source.isNull(row) {
                let value = source.storedBytes(row)
                let flag = source.isOverflow(row) ? ClusterFormat.overflowFlag : 0
                appendToHeap(value, row: start + row, flag: flag)
            }
        }
    }

    /// Takes the heap of a column in its stored form over as a whole.
    private mutating func copyHeap(of source: ColumnView, memory: OpenMemory) {
        guard let data else { return }
        let mask = ~ClusterFormat.overflowFlag
        let uniform = UInt32(truncatingIfNeeded: source.maximum)
        var total: UInt32 = 0
        for row in 0..<source.count {
            var length = uniform
            var flag: UInt32 = 0
            if source.width == 2 {
                let start = source.data.loadUnaligned(fromByteOffset: row &* 2, as: UInt16.self)
                let end = source.data.loadUnaligned(fromByteOffset: row &* 2 &+ 2, as: UInt16.self)
                length = UInt32(end &- start)
            } else if source.width == 4 {
                let start = source.data.loadUnaligned(fromByteOffset: row &* 4, as: UInt32.self)
                let end = source.data.loadUnaligned(fromByteOffset: row &* 4 &+ 4, as: UInt32.self)
                length = (end & mask) &- (start & mask)
                flag = start & ~mask
            }
            data.storeBytes(of: total, toByteOffset: row &* 8, as: UInt32.self)
            data.storeBytes(of: length | flag, toByteOffset: row &* 8 &+ 4, as: UInt32.self)
            total &+= length
        }
        let first =
            switch source.width {
            case 2: Int(source.data.loadUnaligned(as: UInt16.self))
            case 4: Int(source.data.loadUnaligned(as: UInt32.self) & mask)
            default: 0
            }
        heapCount = Int(total)
        liveByteCount = heapCount
        heapCapacity = max(64, heapCount + heapCount / 8)
        let heap = memory.allocateUninitialized(heapCapacity)
        heap.copyMemory(from: source.heap + first, byteCount: heapCount)
        self.heap = heap
    }

    /// Null rows of narrow columns read as the minimum; in memory they are zero.
    private func clearNullSlots(of source: ColumnView, in data: UnsafeMutableRawPointer) {
        guard source.nulls != nil else { return }
        for row in 0..<source.count where source.isNull(row) {
            data.storeBytes(of: 0, toByteOffset: row * 8, as: UInt64.self)
        }
    }

    /// The same for a column that has just been widened.
    func clearNullSlots(in data: UnsafeMutableRawPointer, rows: Int) {
        guard nulls != nil else { return }
        for row in 0..<rows where isNull(row) {
            data.storeBytes(of: 0, toByteOffset: row * 8, as: UInt64.self)
        }
    }

    func isNull(_ row: Int) -> Bool {
        guard let nulls else { return false }
        return nulls.load(fromByteOffset: row >> 3, as: UInt8.self) >> UInt8(row & 7) & 1 != 0
    }

    @inline(__always)
    static func setBit(_ value: Bool, _ row: Int, in bits: UnsafeMutableRawPointer) {
        let byte = bits.load(fromByteOffset: row &>> 3, as: UInt8.self)
        let bit: UInt8 = 1 &<< UInt8(truncatingIfNeeded: row & 7)
        bits.storeBytes(of: value ? byte | bit : byte & ~bit, toByteOffset: row &>> 3, as: UInt8.self)
    }

    /// Moves to memory with room for more rows.
    mutating func grow(from oldCapacity: Int, to capacity: Int, memory: OpenMemory) {
        let new = memory.allocate(Self.dataByteCount(capacity: capacity, width: width))
        if let data { new.copyMemory(from: data, byteCount: oldCapacity * width) }
        memory.free(data, Self.dataByteCount(capacity: oldCapacity, width: width))
        data = new
        if let old = nulls {
            let oldBytes = ClusterFormat.bitmapByteCount(rows: oldCapacity)
            let bytes = ClusterFormat.bitmapByteCount(rows: capacity)
            let new = memory.allocate(bytes)
            new.copyMemory(from: old, byteCount: oldBytes)
            (new + oldBytes).initializeMemory(as: UInt8.self, repeating: 0xFF, count: bytes - oldBytes)
            memory.free(old, oldBytes)
            nulls = new
        }
    }

    // MARK: Bytes

    func pairLength(_ row: Int) -> UInt32 {
        guard let data else { return 0 }
        return data.loadUnaligned(fromByteOffset: row &* 8 &+ 4, as: UInt32.self)
    }

    private func setPair(_ row: Int, offset: Int, length: UInt32) {
        guard let data else { return }
        data.storeBytes(of: UInt32(truncatingIfNeeded: offset), toByteOffset: row &* 8, as: UInt32.self)
        data.storeBytes(of: length, toByteOffset: row &* 8 &+ 4, as: UInt32.self)
    }

    /// Replaces a value; true when the heap has moved.
    ///
    /// The value may lie in this very heap.
    mutating func setBytes(
        _ value: UnsafeRawBufferPointer,
        row: Int,
        flag: UInt32,
        rows: Int,
        memory: OpenMemory
    ) -> Bool {
        let oldLength = Int(pairLength(row) & ~ClusterFormat.overflowFlag)
        if value.count <= oldLength, let data, let heap {
            let offset = Int(data.loadUnaligned(fromByteOffset: row &* 8, as: UInt32.self))
            if let bytes = value.baseAddress { (heap + offset).copyMemory(from: bytes, byteCount: value.count) }
            setPair(row, offset: offset, length: UInt32(value.count) | flag)
            liveByteCount += value.count - oldLength
            return false
        }
        guard heapCount &+ value.count > heapCapacity else {
            liveByteCount -= oldLength
            appendToHeap(value, row: row, flag: flag)
            return false
        }
        let old = heap
        let oldCapacity = heapCapacity
        liveByteCount -= oldLength
        setPair(row, offset: 0, length: 0)
        moveHeap(adding: value.count, rows: rows, memory: memory)
        appendToHeap(value, row: row, flag: flag)
        memory.free(old, oldCapacity)
        return true
    }

    /// Drops a value, for a row that becomes null.
    mutating func clearBytes(row: Int) {
        liveByteCount -= Int(pairLength(row) & ~ClusterFormat.overflowFlag)
        setPair(row, offset: 0, length: 0)
    }

    @inline(__always)
    private mutating func appendToHeap(_ value: UnsafeRawBufferPointer, row: Int, flag: UInt32) {
        if let bytes = value.baseAddress, value.count > 0, let heap {
            (heap + heapCount).copyMemory(from: bytes, byteCount: value.count)
        }
        setPair(row, offset: heapCount, length: UInt32(truncatingIfNeeded: value.count) | flag)
        heapCount &+= value.count
        liveByteCount &+= value.count
    }

    private mutating func reserveHeap(_ count: Int, rows: Int, memory: OpenMemory) {
        guard heapCount + count > heapCapacity else { return }
        let old = heap
        let oldCapacity = heapCapacity
        moveHeap(adding: count, rows: rows, memory: memory)
        memory.free(old, oldCapacity)
    }

    /// Moves the values to a new heap without gaps; the old one stays for the caller to free.
    private mutating func moveHeap(adding count: Int, rows: Int, memory: OpenMemory) {
        let old = heap
        heapCapacity = max(1024, (liveByteCount + count) * 2)
        let new = memory.allocateUninitialized(heapCapacity)
        heap = new
        heapCount = 0
        guard let old, let data else { return }
        for row in 0..<rows {
            let offset = Int(data.loadUnaligned(fromByteOffset: row * 8, as: UInt32.self))
            let length = pairLength(row)
            let byteCount = Int(length & ~ClusterFormat.overflowFlag)
            (new + heapCount).copyMemory(from: old + offset, byteCount: byteCount)
            setPair(row, offset: heapCount, length: length)
            heapCount += byteCount
        }
    }
}
