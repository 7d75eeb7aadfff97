/// Setting values. The row must exist: where that is not certain, ask `leaf(containing:)` first; a missing row is a trap.
extension ClusterWriter {
    /// Sets a value of an int column.
    package func setInt(_ value: Int64, key: Int64, column: Int) throws(StorageError) {
        let (cluster, row) = try prepare(key: key, column: column, keepsWidth: true)
        let target = cluster.columns + column
        precondition(target.pointee.layout.kind == .int, "Column \(column) does not hold integers")
        let width = target.pointee.width
        if width < 8 {
            let difference = UInt64(bitPattern: value &- target.pointee.minimum)
            if value < target.pointee.minimum || difference >> UInt64(width * 8) != 0 {
                try cluster.widen(column)
            } else {
                let data = target.pointee.data.unsafelyUnwrapped + row * width
                switch width {
                case 1: data.storeBytes(of: UInt8(difference), as: UInt8.self)
                case 2: data.storeBytes(of: UInt16(difference), as: UInt16.self)
                default: data.storeBytes(of: UInt32(difference), as: UInt32.self)
                }
                return try finish(target, row)
            }
        }
        target.pointee.data.unsafelyUnwrapped.storeBytes(of: value, toByteOffset: row &* 8, as: Int64.self)
        try finish(target, row)
    }

    /// Sets a value of a double column.
    package func setDouble(_ value: Double, key: Int64, column: Int) throws(StorageError) {
        let (cluster, row) = try prepare(key: key, column: column)
        let target = cluster.columns + column
        precondition(target.pointee.layout.kind == .double, "Column \(column) does not hold doubles")
        target.pointee.data.unsafelyUnwrapped.storeBytes(of: value, toByteOffset: row &* 8, as: Double.self)
        try finish(target, row)
    }

    /// Sets a value of a float column.
    package func setFloat(_ value: Float, key: Int64, column: Int) throws(StorageError) {
        let (cluster, row) = try prepare(key: key, column: column)
        let target = cluster.columns + column
        precondition(target.pointee.layout.kind == .float, "Column \(column) does not hold floats")
        target.pointee.data.unsafelyUnwrapped.storeBytes(of: value, toByteOffset: row &* 4, as: Float.self)
        try finish(target, row)
    }

    /// Sets the 12 or 16 bytes of a value of a fixed column.
    package func setFixed(_ value: UnsafeRawPointer, key: Int64, column: Int) throws(StorageError) {
        let (cluster, row) = try prepare(key: key, column: column)
        let target = cluster.columns + column
        let width = target.pointee.width
        precondition(width >= 12, "Column \(column) does not hold fixed bytes")
        (target.pointee.data.unsafelyUnwrapped + row &* width).copyMemory(from: value, byteCount: width)
        try finish(target, row)
    }

    /// Sets a value of a bytes column; long ones go to pages of their own.
    package func setBytes(_ value: UnsafeRawBufferPointer, key: Int64, column: Int) throws(StorageError) {
        let (cluster, row) = try prepare(key: key, column: column)
        let target = cluster.columns + column
        precondition(target.pointee.layout.kind == .bytes, "Column \(column) does not hold bytes")
        let oldRun = overflow(of: target, row: row, in: cluster)
        if value.count > ClusterFormat.inlineValueLimit {
            let run = try Overflow.write(value, in: transaction)
            withUnsafeTemporaryAllocation(byteCount: PageReference.byteCount, alignment: 8) { buffer in
                guard let bytes = buffer.baseAddress else { return }
                run.store(to: bytes)
                store(UnsafeRawBufferPointer(buffer), flag: ClusterFormat.overflowFlag, row: row, column, in: cluster)
            }
        } else {
            store(value, flag: 0, row: row, column, in: cluster)
        }
        if let oldRun { Overflow.free(oldRun, in: transaction) }
        try finish(target, row)
    }

    /// Sets a value of a nullable column to null.
    package func setNull(key: Int64, column: Int) throws(StorageError) {
        let (cluster, row) = try prepare(key: key, column: column, keepsWidth: true)
        let target = cluster.columns + column
        guard let nulls = target.pointee.nulls, let data = target.pointee.data else {
            preconditionFailure("Column \(column) is not nullable: declare it so to store nulls")
        }
        if target.pointee.layout.kind == .bytes {
            let oldRun = overflow(of: target, row: row, in: cluster)
            let before = target.pointee.liveByteCount
            target.pointee.clearBytes(row: row)
            cluster.heapByteCount += target.pointee.liveByteCount - before
            if let oldRun { Overflow.free(oldRun, in: transaction) }
        } else {
            let width = target.pointee.width
            (data + row * width).initializeMemory(as: UInt8.self, repeating: 0, count: width)
        }
        OpenColumn.setBit(true, row, in: nulls)
        if memory.byteCount > openByteLimit { try encodeOldest() }
    }

    /// The open cluster of a row, with the column in memory.
    @inline(__always)
    private func prepare(
        key: Int64,
        column: Int,
        keepsWidth: Bool = false
    ) throws(StorageError) -> (OpenCluster, Int) {
        precondition(column < columns.count, "The table has no column \(column)")
        if let current, let row = current.leaf.row(of: key) {
            current.isSealed = false
            if _slowPath(current.columns[column].state != .expanded) {
                try current.expand(column, keepsWidth: keepsWidth)
            }
            return (current, row)
        }
        return try prepareSlowly(key: key, column: column, keepsWidth: keepsWidth)
    }

    @inline(never)
    private func prepareSlowly(
        key: Int64,
        column: Int,
        keepsWidth: Bool
    ) throws(StorageError) -> (OpenCluster, Int) {
        guard let cluster = try open(for: key), let row = cluster.leaf.row(of: key) else {
            preconditionFailure("There is no row with key \(key): look it up before writing to it")
        }
        cluster.isSealed = false
        if cluster.columns[column].state != .expanded { try cluster.expand(column, keepsWidth: keepsWidth) }
        return (cluster, row)
    }

    /// Marks the value as not null and keeps memory bounded.
    @inline(__always)
    private func finish(_ target: UnsafeMutablePointer<OpenColumn>, _ row: Int) throws(StorageError) {
        if let nulls = target.pointee.nulls { OpenColumn.setBit(false, row, in: nulls) }
        if _slowPath(memory.byteCount > openByteLimit) { try encodeOldest() }
    }

    private func store(
        _ value: UnsafeRawBufferPointer,
        flag: UInt32,
        row: Int,
        _ column: Int,
        in cluster: OpenCluster
    ) {
        let target = cluster.columns + column
        let before = target.pointee.liveByteCount
        let hasMoved = target.pointee.setBytes(value, row: row, flag: flag, rows: cluster.rowCount, memory: memory)
        cluster.heapByteCount += target.pointee.liveByteCount - before
        if hasMoved { cluster.publish(column) }
    }

    private func overflow(
        of target: UnsafeMutablePointer<OpenColumn>,
        row: Int,
        in cluster: OpenCluster
    ) -> PageReference? {
        guard target.pointee.pairLength(row) & ClusterFormat.overflowFlag != 0,
            let data = target.pointee.data, let heap = target.pointee.heap
        else { return nil }
        return PageReference(load: heap + Int(data.loadUnaligned(fromByteOffset: row * 8, as: UInt32.self)))
    }
}
