/// Reads what `ByteWriter` wrote, with every read checked against the end.
struct ByteReader {
    struct Truncated: Error {}

    private var position: UnsafeRawPointer
    private let end: UnsafeRawPointer

    init(_ bytes: UnsafeRawBufferPointer) {
        position = bytes.baseAddress ?? UnsafeRawPointer(bitPattern: 8)!
        end = position + bytes.count
    }

    var isAtEnd: Bool { position >= end }

    mutating func byte() throws(Truncated) -> UInt8 {
        guard position < end else { throw Truncated() }
        defer { position += 1 }
        return position.load(as: UInt8.self)
    }

    mutating func number() throws(Truncated) -> UInt64 {
        var value: UInt64 = 0
        var shift: UInt64 = 0
        while true {
            let byte = try byte()
            guard shift < 64 else { throw Truncated() }
            value |= UInt64(byte & 0x7F) << shift
            if byte & 0x80 == 0 { return value }
            shift += 7
        }
    }

    mutating func number32() throws(Truncated) -> UInt32 {
        guard let value = UInt32(exactly: try number()) else { throw Truncated() }
        return value
    }

    /// A number of elements that follow, each of at least one byte.
    mutating func count() throws(Truncated) -> Int {
        let value = try number()
        guard value <= UInt64(end - position) else { throw Truncated() }
        return Int(value)
    }

    mutating func reference() throws(Truncated) -> PageReference {
        let page = try number32()
        let pageCount = try number32()
        var checksum: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 64, by: 8) { checksum |= UInt64(try byte()) << shift }
        return PageReference(page: page, pageCount: pageCount, checksum: checksum)
    }
}
