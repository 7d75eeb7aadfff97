package import RealmModel
import RealmStorage

/// `@min`, `@max`, `@sum` or `@avg` over a collection of one row.
final class PathAggregate {
    let operation: AggregateOperation
    let collection: PathCollection
    /// For objects: the way from each object to its value.
    let tail: PathReader?
    private let kind: PropertyKind

    init(_ operation: AggregateOperation, of collection: PathCollection, tail: PathReader?, kind: PropertyKind) {
        self.kind = kind
        self.operation = operation
        self.collection = collection
        self.tail = tail
    }

    func value(of location: RowLocation, key: Int64, _ context: QueryContext) throws -> StoredValue {
        var accumulator = AggregateAccumulator(kind: kind)
        switch collection {
        case .values(let table, let property):
            _ = try table.forEachElement(property, at: location, key: key) { value in
                accumulator.add(value)
                return true
            }
        case .objects(let hop):
            guard let tail else { return .null }
            for key in try hop.targets(of: location, key: key) {
                guard let target = try context.locate(key, in: hop.target, slot: hop.slot) else { continue }
                try tail.forEach(target, key: key, context) { value in
                    accumulator.add(value)
                    return true
                }
            }
        }
        return accumulator.stored(of: operation)
    }

    /// The type of the result.
    var resultKind: PropertyKind { AggregateAccumulator.resultKind(of: operation, kind) }
}

/// The running sum, bounds and count of numbers.
///
/// Nulls are left out. The sum of ints wraps around at the end of 64 bits, as RealmSwift's does; their average does not.
package struct AggregateAccumulator {
    private(set) var count = 0
    private var intSum: Int64 = 0
    private var doubleSum = 0.0
    private let isInt: Bool
    private let isFloat: Bool
    private let kind: PropertyKind
    /// Of decimals, and of the numbers among values of any kind.
    private var decimals: DecimalTotals?
    private var intMinimum = Int64.max
    private var intMaximum = Int64.min
    private var doubleMinimum = Double.infinity
    private var doubleMaximum = -Double.infinity
    /// Values that have bounds: NaN has none.
    private var orderedCount = 0

    package init(kind: PropertyKind) {
        isInt = kind.columnKind == .int
        isFloat = kind == .float
        self.kind = kind
        decimals = ValueTestFactory.isStored(kind) ? DecimalTotals() : nil
    }

    /// Adds an owned value.
    package mutating func add(_ value: StoredValue) {
        if decimals != nil { decimals?.add(value) } else { value.withBorrowed { add($0) } }
    }

    mutating func add(_ value: BorrowedValue) {
        switch value {
        case .int(let value): add(value)
        case .double(let value): add(value)
        case .float(let value): add(Double(value))
        case .bytes: decimals?.add(StoredValue(value, kind: kind))
        case .null: break
        }
    }

    /// Adds many ints whose sum is known.
    ///
    /// Not for bounds.
    mutating func add(sum: Int64, count: Int) {
        self.count &+= count
        intSum &+= sum
        doubleSum += Double(sum)
    }

    /// Adds the doubles of a column without nulls.
    ///
    /// The sum is rounded as if each were added alone: the answer is the same where the rows are known and where they are
    /// looked for. Not for bounds.
    mutating func addDoubles(of column: ColumnView) {
        var sum = doubleSum
        for row in 0..<column.count { sum += column.double(row) }
        doubleSum = sum
        count &+= column.count
    }

    @inline(__always)
    mutating func add(_ value: Int64) {
        count &+= 1
        intSum &+= value
        doubleSum += Double(value)
        intMinimum = min(intMinimum, value)
        intMaximum = max(intMaximum, value)
        orderedCount &+= 1
    }

    @inline(__always)
    mutating func add(_ value: Double) {
        count &+= 1
        doubleSum += value
        if value == value {
            orderedCount &+= 1
            if value < doubleMinimum { doubleMinimum = value }
            if value > doubleMaximum { doubleMaximum = value }
        }
    }

    /// The type of a result over values of a type.
    static func resultKind(of operation: AggregateOperation, _ kind: PropertyKind) -> PropertyKind {
        switch operation {
        case .average: ValueTestFactory.isStored(kind) ? .decimal128 : .double
        case .sum: ValueTestFactory.isStored(kind) ? .decimal128 : kind == .int ? .int : .double
        case .minimum, .maximum: kind
        }
    }

    /// The result, owned.
    package func stored(of operation: AggregateOperation) -> StoredValue {
        if let decimals { return decimals.result(of: operation) }
        return StoredValue(result(of: operation), kind: Self.resultKind(of: operation, kind))
    }

    /// The result; a sum over nothing is 0, everything else over nothing is null.
    func result(of operation: AggregateOperation) -> BorrowedValue {
        if operation == .sum {
            return isInt ? .int(intSum) : .double(doubleSum)
        }
        guard count > 0 else { return .null }
        switch operation {
        case .average: return .double(doubleSum / Double(count))
        case .minimum: return bound(intMinimum, doubleMinimum)
        case .maximum: return bound(intMaximum, doubleMaximum)
        case .sum: return .null
        }
    }

    private func bound(_ int: Int64, _ double: Double) -> BorrowedValue {
        if isInt { return .int(int) }
        guard orderedCount > 0 else { return isFloat ? .float(.nan) : .double(.nan) }
        return isFloat ? .float(Float(double)) : .double(double)
    }
}
