/// What is wrong with the structure of cluster pages: checked once, when a process first touches a page, so that reading
/// rows afterwards needs no bounds checks even if the page was made by a stranger.
enum ClusterValidation {
    /// What is wrong with a `clusterNode` run, nil when nothing is.
    static func validateNode(_ run: UnsafeRawBufferPointer) -> String? {
        guard let base = run.baseAddress, run.count >= pageByteCount else { return "a cluster is too short" }
        guard run[PageHeader.levelOffset] == 0 else { return "a cluster is not at level 0" }
        let rows = Int(run.loadUnaligned(fromByteOffset: ClusterFormat.rowCountOffset, as: UInt32.self))
        let columns = Int(run.loadUnaligned(fromByteOffset: ClusterFormat.columnCountOffset, as: UInt32.self))
        guard rows >= 1, rows <= ClusterFormat.rowLimit else { return "a cluster has \(rows) rows" }
        guard run.loadUnaligned(fromByteOffset: ClusterFormat.reservedDeletedRowsOffset, as: UInt64.self) == 0 else {
            return "a cluster has a bitmap of deleted rows, which this version of the library does not know"
        }
        let dataOffset = ClusterFormat.descriptorsOffset + columns * ClusterFormat.descriptorByteCount
        guard columns >= 1, dataOffset <= run.count else { return "a cluster has \(columns) columns" }
        // Columns that share bytes would be written apart, and take many times the room of what they come from.
        var end = dataOffset
        for index in 0..<columns {
            let descriptor = base + ClusterFormat.descriptorsOffset + index * ClusterFormat.descriptorByteCount
            let shape = ColumnShape(descriptor: descriptor)
            if index == 0 {
                guard shape.kind == .int, !shape.hasNulls, shape.location == ClusterFormat.locationInline else {
                    return "a cluster's key column is malformed"
                }
            }
            switch shape.location {
            case ClusterFormat.locationAbsent:
                guard shape.kind != nil, shape.hasKnownFlags else { return "column \(index - 1) is malformed" }
            case ClusterFormat.locationInline:
                let offset = Int(
                    descriptor.loadUnaligned(fromByteOffset: ClusterFormat.descriptorPlaceOffset, as: UInt32.self)
                )
                guard offset >= dataOffset, offset + shape.byteLength <= run.count else {
                    return "column \(index - 1) lies outside of its cluster"
                }
                guard offset >= end else { return "column \(index - 1) overlaps the one before" }
                end = offset + shape.byteLength
                if let problem = shape.problem(data: base + offset, rows: rows) {
                    return "column \(index - 1) \(problem)"
                }
            case ClusterFormat.locationExternal:
                guard shape.kind != nil else { return "column \(index - 1) is malformed" }
                let reference = PageReference(load: descriptor + ClusterFormat.descriptorPlaceOffset)
                if let problem = PageBytes.problem(with: reference, allowsDirty: false) {
                    return "column \(index - 1) \(problem)"
                }
            default:
                return "column \(index - 1) is at an unknown place"
            }
        }
        return keysProblem(base, rows: rows)
    }

    /// What is wrong with the row keys of a node whose key column lies inside of it: they ascend from the first to the last one.
    private static func keysProblem(_ base: UnsafeRawPointer, rows: Int) -> String? {
        let descriptor = base + ClusterFormat.descriptorsOffset
        let first = base.loadUnaligned(fromByteOffset: ClusterFormat.firstKeyOffset, as: Int64.self)
        let last = base.loadUnaligned(fromByteOffset: ClusterFormat.lastKeyOffset, as: Int64.self)
        let data =
            base + Int(descriptor.loadUnaligned(fromByteOffset: ClusterFormat.descriptorPlaceOffset, as: UInt32.self))
        guard first >= 0, first <= last, last < .max else { return "a cluster's first or last key is wrong" }
        var previous = first
        func ascends(_ key: (Int) -> Int64) -> Bool {
            guard key(0) == first, key(rows - 1) == last else { return false }
            for row in 1..<max(rows, 1) {
                let key = key(row)
                if key <= previous { return false }
                previous = key
            }
            return true
        }
        let isRight =
            switch descriptor.load(fromByteOffset: 2, as: UInt8.self) {
            case 0: last &- first == Int64(rows - 1)
            case 1: ascends { first &+ Int64(data.load(fromByteOffset: $0, as: UInt8.self)) }
            case 2: ascends { first &+ Int64(data.loadUnaligned(fromByteOffset: 2 * $0, as: UInt16.self)) }
            case 4: ascends { first &+ Int64(data.loadUnaligned(fromByteOffset: 4 * $0, as: UInt32.self)) }
            default: ascends { data.loadUnaligned(fromByteOffset: 8 * $0, as: Int64.self) }
            }
        return isRight ? nil : "a cluster's row keys do not ascend from its first to its last key"
    }

    /// What is wrong with a `column` run, nil when nothing is.
    static func validateColumn(_ run: UnsafeRawBufferPointer) -> String? {
        guard let base = run.baseAddress, run.count >= pageByteCount else { return "a column run is too short" }
        let rows = Int(run.loadUnaligned(fromByteOffset: ClusterFormat.runRowCountOffset, as: UInt32.self))
        guard rows >= 1, rows <= ClusterFormat.rowLimit else { return "a column run has \(rows) rows" }
        let shape = ColumnShape(run: base)
        guard shape.location == ClusterFormat.locationExternal,
            ClusterFormat.runDataOffset + shape.byteLength <= run.count
        else { return "a column run is malformed" }
        return shape.problem(data: base + ClusterFormat.runDataOffset, rows: rows).map { "a column run \($0)" }
    }
}

/// The fields that a column descriptor and the header of a column run have in common.
struct ColumnShape {
    var location: UInt64
    var kind: ColumnKind?
    var width: Int
    var flags: UInt8
    var byteLength: Int
    var maximum: Int64

    init(descriptor: UnsafeRawPointer) {
        self.init(
            word: descriptor.loadUnaligned(as: UInt64.self),
            maximum: descriptor.loadUnaligned(fromByteOffset: ClusterFormat.descriptorMaximumOffset, as: Int64.self)
        )
    }

    init(run: UnsafeRawPointer) {
        self.init(
            word: run.loadUnaligned(fromByteOffset: ClusterFormat.runWordOffset, as: UInt64.self),
            maximum: run.loadUnaligned(fromByteOffset: ClusterFormat.runMaximumOffset, as: Int64.self)
        )
    }

    private init(word: UInt64, maximum: Int64) {
        location = word & 0xFF
        kind = ColumnKind(rawValue: UInt8(truncatingIfNeeded: word >> 8))
        width = Int(word >> 16 & 0xFF)
        flags = UInt8(truncatingIfNeeded: word >> 24)
        byteLength = Int(word >> 32)
        self.maximum = maximum
    }

    var hasNulls: Bool { flags & 1 != 0 }
    var hasKnownFlags: Bool { flags & ~1 == 0 }

    /// What is wrong with data of `byteLength` readable bytes, as the end of a sentence.
    func problem(data: UnsafeRawPointer, rows: Int) -> String? {
        if flags >> 4 != 0 { return "has the encoding \(flags >> 4), which this version of the library does not know" }
        guard let kind, hasKnownFlags else { return "is malformed" }
        let nullBytes = hasNulls ? ClusterFormat.bitmapByteCount(rows: rows) : 0
        let available = byteLength - nullBytes
        guard available >= 0 else { return "has no room for its nulls" }
        let needed: Int? =
            switch (kind, width) {
            case (.int, 0), (.int, 1), (.int, 2), (.int, 4), (.int, 8): width * rows
            case (.double, 0), (.double, 1), (.double, 2), (.double, 4), (.double, 8): width * rows
            case (.float, 4): 4 * rows
            case (.fixed12, 12): 12 * rows + 4
            case (.fixed16, 16): 16 * rows
            case (.bytes, 0): maximum >= 0 && maximum <= ClusterFormat.inlineValueLimit ? Int(maximum) * rows : nil
            case (.bytes, 2), (.bytes, 4): width * (rows + 1)
            default: nil
            }
        guard let needed else { return "has an impossible width" }
        guard needed <= available else { return "is too short" }
        guard kind == .bytes, width > 0 else { return nil }
        return offsetsProblem(
            starts: data + nullBytes,
            rows: rows,
            nulls: hasNulls ? data : nil,
            heap: UnsafeRawBufferPointer(start: data + nullBytes + needed, count: available - needed)
        )
    }

    private func offsetsProblem(
        starts: UnsafeRawPointer,
        rows: Int,
        nulls: UnsafeRawPointer?,
        heap: UnsafeRawBufferPointer
    ) -> String? {
        var previous = 0
        var wasOverflow = false
        for row in 0...rows {
            var start: Int
            var isOverflow = false
            if width == 2 {
                start = Int(starts.loadUnaligned(fromByteOffset: row * 2, as: UInt16.self))
            } else {
                let word = starts.loadUnaligned(fromByteOffset: row * 4, as: UInt32.self)
                start = Int(word & ~ClusterFormat.overflowFlag)
                isOverflow = word & ClusterFormat.overflowFlag != 0
            }
            if isOverflow, row < rows, let nulls,
                nulls.load(fromByteOffset: row >> 3, as: UInt8.self) >> UInt8(row & 7) & 1 != 0
            {
                // It would be written as a mark without a reference.
                return "has a null that leads to a run"
            }
            guard start >= previous else { return "has values that overlap" }
            guard start <= heap.count else { return "has values outside of it" }
            if !wasOverflow, row > 0, start - previous > ClusterFormat.inlineValueLimit {
                return "has a value of \(start - previous) bytes among the short ones"
            }
            if wasOverflow {
                guard start - previous == PageReference.byteCount, let base = heap.baseAddress else {
                    return "has a malformed overflow value"
                }
                let reference = PageReference(load: base + previous)
                if let problem = PageBytes.problem(with: reference, allowsDirty: false) { return problem }
            }
            previous = start
            wasOverflow = isOverflow
        }
        return wasOverflow ? "has values outside of it" : nil
    }
}
