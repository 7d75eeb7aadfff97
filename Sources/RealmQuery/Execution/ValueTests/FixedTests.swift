import RealmModel
import RealmStorage

/// The 12 or 16 bytes of an ObjectId or UUID as two words that compare as the bytes do.
struct FixedWords: Hashable, Comparable, Sendable {
    var high: UInt64
    var low: UInt64

    @inline(__always)
    init(load bytes: UnsafeRawPointer, byteCount: Int) {
        high = UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self))
        low =
            byteCount == 16
            ? UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
            : UInt64(UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt32.self)))
    }

    init(_ value: ObjectIDBytes) {
        high = value.high
        low = UInt64(value.low)
    }

    init(_ value: UUIDBytes) {
        high = value.high
        low = value.low
    }

    @inline(__always)
    static func < (left: FixedWords, right: FixedWords) -> Bool {
        left.high < right.high || (left.high == right.high && left.low < right.low)
    }
}

/// An ObjectId or UUID compared with one constant.
final class FixedTest: ValueTest {
    private let operation: ComparisonOperator
    private let constant: FixedWords
    private let byteCount: Int

    init(_ operation: ComparisonOperator, _ constant: FixedWords, byteCount: Int) {
        self.operation = operation
        self.constant = constant
        self.byteCount = byteCount
        super.init(nullPasses: operation == .notEqual)
    }

    override var cost: Double { 2 }

    @inline(__always)
    private func passes(_ bytes: UnsafeRawPointer) -> Bool {
        let value = FixedWords(load: bytes, byteCount: byteCount)
        return switch operation {
        case .equal: value == constant
        case .notEqual: value != constant
        case .less: value < constant
        case .lessOrEqual: value <= constant
        case .greater: value > constant
        case .greaterOrEqual: value >= constant
        default: false
        }
    }

    override func passes(_ value: BorrowedValue, _ context: QueryContext) throws -> Bool {
        switch value {
        case .bytes(let bytes):
            guard let base = bytes.baseAddress, bytes.count >= byteCount else { return false }
            return passes(base)
        case .null: return nullPasses
        default: return false
        }
    }

    override func filter(_ column: ColumnView, _ rows: RowSet, _ context: QueryContext) throws {
        rows.keep { column.isNull($0) ? nullPasses : passes(column.fixed($0)) }
    }

    override var explanation: String { "\(operation.spelling) a constant" }
}

/// An ObjectId or UUID that is one of a set.
final class FixedSetTest: ValueTest {
    private let values: Set<FixedWords>
    private let byteCount: Int

    init(_ values: [FixedWords], byteCount: Int, nullPasses: Bool) {
        self.values = Set(values)
        self.byteCount = byteCount
        super.init(nullPasses: nullPasses)
    }

    override var cost: Double { 15 }

    override func passes(_ value: BorrowedValue, _ context: QueryContext) throws -> Bool {
        switch value {
        case .bytes(let bytes):
            guard let base = bytes.baseAddress, bytes.count >= byteCount else { return false }
            return values.contains(FixedWords(load: base, byteCount: byteCount))
        case .null: return nullPasses
        default: return false
        }
    }

    override func filter(_ column: ColumnView, _ rows: RowSet, _ context: QueryContext) throws {
        rows.keep {
            column.isNull($0)
                ? nullPasses : values.contains(FixedWords(load: column.fixed($0), byteCount: byteCount))
        }
    }

    override var explanation: String { "in \(values.count) values" }
}
