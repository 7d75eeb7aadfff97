/// The rarer forms of a column: absent, in memory, damaged.
extension LeafView {
    /// 16 zero bytes, then a bitmap of ones.
    // Written here once, and never again.
    private nonisolated(unsafe) static let defaults: UnsafeRawPointer = {
        let bytes = UnsafeMutableRawPointer.allocate(byteCount: 16 + 8 * ClusterFormat.bitmapWordCount, alignment: 16)
        bytes.initializeMemory(as: UInt8.self, repeating: 0, count: 16)
        (bytes + 16).initializeMemory(as: UInt8.self, repeating: 0xFF, count: 8 * ClusterFormat.bitmapWordCount)
        return UnsafeRawPointer(bytes)
    }()

    /// 16 zero bytes.
    @usableFromInline static var zeros: UnsafeRawPointer { defaults }

    /// A column of which nothing is stored.
    ///
    /// Width 0 makes every accessor read the zeros.
    @usableFromInline
    package static func absent(rows: Int, kind: ColumnKind, isNull: Bool, view: PageView) -> ColumnView {
        let zeros = defaults
        return ColumnView(
            kind: kind,
            width: 0,
            count: rows,
            isAbsent: true,
            nulls: isNull ? (zeros + 16).assumingMemoryBound(to: UInt8.self) : nil,
            data: zeros,
            minimum: 0,
            maximum: 0,
            heap: zeros,
            view: view
        )
    }

    /// A column of an open cluster.
    @usableFromInline
    static func memory(_ descriptor: UnsafeRawPointer, rows: Int, view: PageView) -> ColumnView {
        let word = descriptor.loadUnaligned(as: UInt64.self)
        let kind = unsafeBitCast(UInt8(truncatingIfNeeded: word >> 8), to: ColumnKind.self)
        let width = Int(truncatingIfNeeded: word >> 16 & 0xFF)
        func address(_ offset: Int) -> UnsafeRawPointer? {
            UnsafeRawPointer(
                bitPattern: UInt(descriptor.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
            )
        }
        let data = address(ClusterFormat.descriptorPlaceOffset) ?? defaults
        return ColumnView(
            kind: kind,
            width: width,
            count: rows,
            isAbsent: false,
            nulls: address(ClusterFormat.descriptorNullsAddressOffset)?.assumingMemoryBound(to: UInt8.self),
            data: data,
            minimum: descriptor.loadUnaligned(fromByteOffset: ClusterFormat.descriptorMinimumOffset, as: Int64.self),
            maximum: descriptor.loadUnaligned(fromByteOffset: ClusterFormat.descriptorMaximumOffset, as: Int64.self),
            heap: kind == .bytes ? address(ClusterFormat.descriptorMinimumOffset) ?? defaults : data,
            view: view
        )
    }

    @usableFromInline
    static func mismatch(_ reference: PageReference) -> StorageError {
        .corrupt("A column page does not belong to the cluster that refers to it.", page: reference.page)
    }
}
