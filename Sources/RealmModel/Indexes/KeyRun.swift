import RealmStorage

/// Int primary keys that go up by one together with their rows: `value`, `value + 1`, … are those of `row`, `row + 1`, ….
struct KeyRun: Equatable {
    /// The first primary key; nil for null, which makes a run of its own.
    var value: Int64?
    /// The row of the first primary key.
    var row: Int64
    /// The number of rows.
    var count: Int64 = 1

    init(value: Int64?, row: Int64, count: Int64 = 1) {
        self.value = value
        self.row = row
        self.count = count
    }

    /// The run of one row.
    init(_ value: BorrowedValue, row: Int64) {
        if case .int(let value) = value { self.init(value: value, row: row) } else { self.init(value: nil, row: row) }
    }

    /// The last primary key.
    var last: Int64? { value.map { $0 + (count - 1) } }

    /// Whether another run goes on where this one ends.
    @inline(__always)
    func isContinued(by other: KeyRun) -> Bool {
        guard let value, let next = other.value else { return false }
        // Behind the greatest key nothing goes on: the sum must not come round to the least.
        let (end, isBeyond) = value.addingReportingOverflow(count)
        return !isBeyond && next == end && other.row - row == count
    }

    /// The part of the run from an offset on.
    func dropFirst(_ offset: Int64) -> KeyRun {
        KeyRun(value: value.map { $0 + offset }, row: row + offset, count: count - offset)
    }

    // MARK: Bytes

    /// The longest key and the longest entry: two numbers of up to 10 bytes.
    static let keyByteCount = 9
    static let entryByteCount = 20

    /// Writes the tree's key of a primary key; returns its length.
    @inline(__always)
    static func encode(_ value: Int64?, to out: UnsafeMutableRawPointer) -> Int {
        if let value { return IndexKey.encode(value, to: out) }
        out.storeBytes(of: 0, as: UInt8.self)
        return 1
    }

    /// Writes row and count; returns the length.
    func encodeEntry(to out: UnsafeMutableRawPointer) -> Int {
        let length = Self.encode(number: UInt64(bitPattern: row), to: out, at: 0)
        return count == 1 ? length : Self.encode(number: UInt64(bitPattern: count), to: out, at: length)
    }

    private static func encode(number: UInt64, to out: UnsafeMutableRawPointer, at offset: Int) -> Int {
        var rest = number
        var offset = offset
        while rest >= 0x80 {
            out.storeBytes(of: UInt8(truncatingIfNeeded: rest) | 0x80, toByteOffset: offset, as: UInt8.self)
            rest >>= 7
            offset += 1
        }
        out.storeBytes(of: UInt8(rest), toByteOffset: offset, as: UInt8.self)
        return offset + 1
    }

    /// Reads an entry of the tree; nil when it is malformed or its numbers leave the range of 64 bits.
    @inline(__always)
    init?(key: UnsafeRawBufferPointer, entry: UnsafeRawBufferPointer) {
        var offset = 0
        guard let row = Self.number(in: entry, at: &offset), let signedRow = Int64(exactly: row) else { return nil }
        self.row = signedRow
        if offset < entry.count {
            guard let count = Self.number(in: entry, at: &offset), offset == entry.count, count >= 2,
                let signedCount = Int64(exactly: count)
            else { return nil }
            self.count = signedCount
        }
        if let value = IndexKey.int(of: key) {
            guard !value.addingReportingOverflow(count - 1).overflow else { return nil }
            self.value = value
        } else {
            guard key.count == 1, key[0] == 0, count == 1 else { return nil }
        }
        // No row has the greatest number: there is one behind each.
        guard !signedRow.addingReportingOverflow(count).overflow else { return nil }
    }

    @inline(__always)
    private static func number(in bytes: UnsafeRawBufferPointer, at offset: inout Int) -> UInt64? {
        var number: UInt64 = 0
        var shift: UInt64 = 0
        while offset < bytes.count, shift < 63 {
            let byte = bytes[offset]
            offset &+= 1
            number |= UInt64(byte & 0x7F) &<< shift
            if byte & 0x80 == 0 { return number }
            shift &+= 7
        }
        return nil
    }
}

/// A range of int primary keys.
struct KeyRunRange {
    var includesNull = false
    /// Nil when no int lies in the range.
    var ints: ClosedRange<Int64>?

    /// The range between two bounds of the int's kind; null is below every int.
    init(_ lower: IndexBound, _ upper: IndexBound) {
        var low: Int64? = .min
        var high: Int64? = .max
        includesNull = true
        switch lower {
        case .including(.int(let value)):
            includesNull = false
            low = value
        case .excluding(.int(let value)):
            includesNull = false
            low = value == .max ? nil : value + 1
        case .excluding: includesNull = false
        default: break
        }
        switch upper {
        case .including(.int(let value)): high = value
        case .excluding(.int(let value)): high = value == .min ? nil : value - 1
        case .including: high = nil
        case .excluding:
            high = nil
            includesNull = false
        case .unbounded: break
        }
        if let low, let high, low <= high { ints = low...high }
    }
}

/// The int primary keys of some rows, as far as one look-up tells: `value`, `value + 1`, … are those of `row`, `row + 1`, ….
@frozen
@usableFromInline
package struct PrimaryKeyRun: Sendable, BitwiseCopyable {
    @usableFromInline var value: Int64 = 0
    @usableFromInline var row: Int64 = 0
    @usableFromInline var count: Int64 = 0

    /// No rows.
    @inlinable
    package init() {}

    init(_ run: KeyRun?) {
        guard let run, let value = run.value else { return }
        self.value = value
        row = run.row
        count = run.count
    }

    /// The row of a primary key; nil when it is not in the run.
    @inlinable
    @inline(__always)
    package func row(of key: Int64) -> Int64? {
        let offset = UInt64(bitPattern: key &- value)
        return offset < UInt64(bitPattern: count) ? row &+ Int64(bitPattern: offset) : nil
    }
}
