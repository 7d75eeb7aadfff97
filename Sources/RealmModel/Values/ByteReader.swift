import RealmStorage

/// Reads numbers and names from bytes of a file; nothing in them is trusted.
struct ByteReader {
    private let bytes: UnsafeRawBufferPointer
    private let what: String
    private(set) var offset = 0

    init(_ bytes: UnsafeRawBufferPointer, of what: String) {
        self.bytes = bytes
        self.what = what
    }

    var remaining: Int { bytes.count - offset }

    mutating func take(_ byteCount: Int) throws(StorageError) -> UnsafeRawBufferPointer {
        guard byteCount >= 0, byteCount <= remaining else { throw truncated }
        defer { offset += byteCount }
        return UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + byteCount])
    }

    mutating func integer<T: FixedWidthInteger & BitwiseCopyable>(_ type: T.Type) throws(StorageError) -> T {
        T(littleEndian: try take(MemoryLayout<T>.size).loadUnaligned(as: T.self))
    }

    mutating func name(byteCount: Int) throws(StorageError) -> String {
        let bytes = try take(byteCount)
        // What is no text would have become longer when it is stored again.
        guard UTF8Validation.isValid(bytes) else { throw truncated }
        return String(decoding: bytes, as: UTF8.self)
    }

    var truncated: StorageError { StorageError(.corrupt, "The \(what) in the catalog is damaged.") }
}

/// Collects the bytes of a catalog entry.
struct ByteWriter {
    private(set) var bytes: [UInt8] = []

    mutating func append<T: FixedWidthInteger>(_ value: T) {
        withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
    }

    mutating func append(_ text: String) {
        bytes.append(contentsOf: text.utf8)
    }

    mutating func append(contentsOf other: [UInt8]) {
        bytes.append(contentsOf: other)
    }

    mutating func append(_ reference: PageReference) {
        append(reference.page)
        append(reference.pageCount)
        append(reference.checksum)
    }
}
