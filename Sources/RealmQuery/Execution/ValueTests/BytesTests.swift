#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif
import RealmModel
import RealmStorage

/// A string or data compared with one constant, byte by byte; folded first when case or accents make no difference.
final class BytesTest: ValueTest {
    private let operation: ComparisonOperator
    private let folding: TextFolding?
    private let pattern: LikePattern?
    /// The constant, folded; memory of its own so that its address is fixed.
    private let needle: UnsafeMutableRawBufferPointer
    private let needleHead: UInt64

    init(_ operation: ComparisonOperator, _ constant: [UInt8], options: StringComparisonOptions) {
        self.operation = operation
        var bytes = constant
        if options.isEmpty {
            folding = nil
        } else {
            let folding = TextFolding(options: options)
            bytes = constant.withUnsafeBytes { text in
                var output: [UInt8] = []
                folding.fold(text, into: &output)
                return output
            }
            self.folding = folding
        }
        pattern = operation == .like ? LikePattern(bytes) : nil
        needle = .allocate(byteCount: max(8, bytes.count), alignment: 8)
        needle.initializeMemory(as: UInt8.self, repeating: 0)
        needle.copyBytes(from: bytes)
        needleHead = needle.loadUnaligned(as: UInt64.self)
        needleCount = bytes.count
        headMask = bytes.count >= 8 ? .max : (1 << UInt64(8 * bytes.count)) - 1
        super.init(nullPasses: operation == .notEqual)
    }

    private let needleCount: Int
    /// The bits of the first eight bytes of a text that the constant decides.
    private let headMask: UInt64

    deinit {
        needle.deallocate()
    }

    override var cost: Double {
        switch operation {
        case .equal, .notEqual, .beginsWith, .endsWith: folding == nil ? 3 : 40
        case .like: 60
        case .contains: folding == nil ? 12 : 50
        default: 6
        }
    }

    override func passes(_ value: BorrowedValue, _ context: QueryContext) throws -> Bool {
        switch value {
        case .bytes(let bytes): passes(bytes, context)
        case .null: nullPasses
        default: false
        }
    }

    private func passes(_ bytes: UnsafeRawBufferPointer, _ context: QueryContext) -> Bool {
        guard let folding else { return passesExactly(bytes) }
        if bytes.count <= QueryContext.foldCapacity,
            let folded = folding.foldASCII(bytes, into: context.foldBuffer)
        {
            return passesExactly(folded)
        }
        context.folded.removeAll(keepingCapacity: true)
        folding.fold(bytes, into: &context.folded)
        return context.folded.withUnsafeBytes { passesExactly($0) }
    }

    private func passesExactly(_ bytes: UnsafeRawBufferPointer) -> Bool {
        switch operation {
        case .equal: bytes.count == needleCount && begins(bytes)
        case .notEqual: !(bytes.count == needleCount && begins(bytes))
        case .beginsWith: bytes.count >= needleCount && begins(bytes)
        case .endsWith: ends(bytes)
        case .contains: contains(bytes)
        case .like: pattern?.matches(bytes) ?? false
        case .less: order(bytes) < 0
        case .lessOrEqual: order(bytes) <= 0
        case .greater: order(bytes) > 0
        case .greaterOrEqual: order(bytes) >= 0
        case .between, .within, .in: false
        }
    }

    /// Whether the bytes, at least as many as the constant's, begin with the constant.
    @inline(__always)
    private func begins(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard let base = bytes.baseAddress else { return needleCount == 0 }
        return begins(base, bytes.count)
    }

    @inline(__always)
    private func begins(_ base: UnsafeRawPointer, _ count: Int) -> Bool {
        if count >= 8 {
            // The constant's bytes lie lowest in the word, as this machine's memory does.
            guard base.loadUnaligned(as: UInt64.self) & headMask == needleHead else { return false }
            if needleCount <= 8 { return true }
        }
        return memcmp(base, needle.baseAddress.unsafelyUnwrapped, needleCount) == 0
    }

    private func ends(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard needleCount > 0 else { return true }
        guard bytes.count >= needleCount, let base = bytes.baseAddress else { return false }
        return memcmp(base + (bytes.count - needleCount), needle.baseAddress!, needleCount) == 0
    }

    @inline(__always)
    private func contains(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard needleCount > 0 else { return true }
        return Self.find(UnsafeRawBufferPointer(start: needle.baseAddress, count: needleCount), in: bytes)
    }

    /// Whether a text contains another.
    static func find(_ part: UnsafeRawBufferPointer, in text: UnsafeRawBufferPointer) -> Bool {
        guard part.count > 0, let needle = part.baseAddress else { return true }
        guard text.count >= part.count, var start = text.baseAddress else { return false }
        let head = Int32(needle.load(as: UInt8.self))
        let last = start + (text.count - part.count)
        while start <= last {
            guard let found = memchr(start, head, last - start + 1) else { return false }
            if memcmp(found, needle, part.count) == 0 { return true }
            start = UnsafeRawPointer(found) + 1
        }
        return false
    }

    private func order(_ bytes: UnsafeRawBufferPointer) -> Int {
        let common = min(bytes.count, needleCount)
        if common > 0, let base = bytes.baseAddress {
            let result = memcmp(base, needle.baseAddress!, common)
            if result != 0 { return Int(result) }
        }
        return bytes.count - needleCount
    }

    override func filter(_ column: ColumnView, _ rows: RowSet, _ context: QueryContext) throws {
        if folding == nil {
            switch operation {
            case .equal:
                return try column.keep(rows) { base, count in count == needleCount && begins(base, count) }
            case .beginsWith:
                return try column.keep(rows) { base, count in count >= needleCount && begins(base, count) }
            case .contains:
                if needleCount > 1, rows.count * 4 > rows.rowCount, let heap = column.contiguousHeap {
                    let found = context.makeSet(rowCount: rows.rowCount)
                    defer { context.release(found) }
                    heap.findRows(
                        containing: UnsafeRawBufferPointer(start: needle.baseAddress, count: needleCount),
                        into: found
                    )
                    rows.intersect(found)
                    return removeNulls(column, from: rows)
                }
                return try column.keep(rows) { base, count in
                    count >= needleCount && contains(UnsafeRawBufferPointer(start: base, count: count))
                }
            default: break
            }
        }
        try rows.keep { row in
            column.isNull(row) ? nullPasses : passes(try column.bytes(row), context)
        }
    }

    override var explanation: String {
        "\(operation.spelling)\(folding?.options.spelling ?? "") \(needleCount) bytes"
    }
}

/// A string or data that is one of a set.
final class BytesSetTest: ValueTest {
    private let storage: UnsafeMutableRawBufferPointer
    /// The constants, ascending by their bytes.
    private let sorted: [UnsafeRawBufferPointer]
    private let folding: TextFolding?

    init(_ constants: [[UInt8]], nullPasses: Bool, options: StringComparisonOptions) {
        folding = options.isEmpty ? nil : TextFolding(options: options)
        let folding = folding
        let values = constants.map { constant in
            guard let folding else { return constant }
            return constant.withUnsafeBytes { text in
                var output: [UInt8] = []
                folding.fold(text, into: &output)
                return output
            }
        }
        storage = .allocate(byteCount: max(1, values.reduce(0) { $0 + $1.count }), alignment: 8)
        var pieces: [UnsafeRawBufferPointer] = []
        var offset = 0
        for value in values {
            let piece = UnsafeMutableRawBufferPointer(rebasing: storage[offset..<offset + value.count])
            piece.copyBytes(from: value)
            pieces.append(UnsafeRawBufferPointer(piece))
            offset += value.count
        }
        sorted = pieces.sorted { BytesSetTest.order($0, $1) < 0 }
        super.init(nullPasses: nullPasses)
    }

    deinit {
        storage.deallocate()
    }

    override var cost: Double { folding == nil ? 30 : 80 }

    @inline(__always)
    static func order(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Int {
        let common = min(left.count, right.count)
        if common > 0, let first = left.baseAddress, let second = right.baseAddress {
            let result = memcmp(first, second, common)
            if result != 0 { return Int(result) }
        }
        return left.count - right.count
    }

    private func contains(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var low = 0
        var high = sorted.count
        while low < high {
            let middle = (low + high) / 2
            let order = Self.order(sorted[middle], bytes)
            if order == 0 { return true }
            if order < 0 {
                low = middle + 1
            } else {
                high = middle
            }
        }
        return false
    }

    private func containsFolded(_ bytes: UnsafeRawBufferPointer, _ context: QueryContext) -> Bool {
        guard let folding else { return contains(bytes) }
        context.folded.removeAll(keepingCapacity: true)
        folding.fold(bytes, into: &context.folded)
        return context.folded.withUnsafeBytes { contains($0) }
    }

    override func passes(_ value: BorrowedValue, _ context: QueryContext) throws -> Bool {
        switch value {
        case .bytes(let bytes): containsFolded(bytes, context)
        case .null: nullPasses
        default: false
        }
    }

    override func filter(_ column: ColumnView, _ rows: RowSet, _ context: QueryContext) throws {
        try rows.keep { column.isNull($0) ? nullPasses : containsFolded(try column.bytes($0), context) }
    }

    override var explanation: String { "in \(sorted.count) values" }
}
