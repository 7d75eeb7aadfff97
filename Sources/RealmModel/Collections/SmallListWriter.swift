/// Writes the encoding of a small list into memory of `ListFormat.inlineByteLimit` bytes.
struct SmallListWriter {
    private let out: UnsafeMutableRawPointer
    private let width: Int
    private let count: Int
    private let nullsOffset: Int
    private let fixedOffset: Int
    private let isOptional: Bool
    private var index = 0
    private var heapByteCount = 0

    /// Begins a list; the caller has checked that all of it fits.
    init(_ out: UnsafeMutableRawPointer, slot: PropertySlot, count: Int) {
        self.out = out
        self.count = count
        width = ListFormat.width(of: slot.kind)
        isOptional = slot.isOptional
        out.storeBytes(of: ListFormat.smallForm, as: UInt8.self)
        out.storeBytes(of: ListFormat.kindByte(slot), toByteOffset: 1, as: UInt8.self)
        out.storeBytes(of: UInt16(count).littleEndian, toByteOffset: 2, as: UInt16.self)
        nullsOffset = ListFormat.headerByteCount
        let nullsByteCount = isOptional ? (count + 7) / 8 : 0
        fixedOffset = nullsOffset + nullsByteCount
        (out + nullsOffset).initializeMemory(as: UInt8.self, repeating: 0, count: nullsByteCount)
    }

    mutating func append(_ value: BorrowedValue) {
        if isOptional && value.isNull {
            let byte = nullsOffset + index >> 3
            out.storeBytes(
                of: out.load(fromByteOffset: byte, as: UInt8.self) | 1 << UInt8(index & 7),
                toByteOffset: byte,
                as: UInt8.self
            )
        }
        if width == 0 {
            if case .bytes(let bytes) = value, bytes.count > 0 {
                (out + fixedOffset + 2 * count + heapByteCount)
                    .copyMemory(
                        from: bytes.baseAddress!,
                        byteCount: bytes.count
                    )
                heapByteCount += bytes.count
            }
            out.storeBytes(
                of: UInt16(heapByteCount).littleEndian,
                toByteOffset: fixedOffset + 2 * index,
                as: UInt16.self
            )
        } else {
            ListFormat.store(value, width: width, to: out + fixedOffset + index * width)
        }
        index += 1
    }

    /// The encoding, once all elements were appended.
    var bytes: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(
            start: out,
            count: fixedOffset + count * (width == 0 ? 2 : width) + heapByteCount
        )
    }
}
