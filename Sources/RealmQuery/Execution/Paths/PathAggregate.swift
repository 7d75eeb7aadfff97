import RealmModel
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

    func value(of location: RowLocation, key: Int64, _ context: QueryContext) throws -> BorrowedValue {
        var accumulator = AggregateAccumulator(kind: kind)
        switch collection {
        case .values(let table, let property):
            let list = try table.list(property, at: location, key: key)
            try list.forEach(in: nil, { _, value in accumulator.add(value) })
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
        return accumulator.result(of: operation)
    }
}

/// The running sum, bounds and count of numbers.
///
/// Nulls are left out, ints wrap around.
struct AggregateAccumulator {
    private(set) var count = 0
    private var intSum: Int64 = 0
    private var doubleSum = 0.0
    private let isInt: Bool
    private let isFloat: Bool
    private var intMinimum = Int64.max
    private var intMaximum = Int64.min
    private var doubleMinimum = Double.infinity
    private var doubleMaximum = -Double.infinity
    /// Values that have bounds: NaN has none.
    private var orderedCount = 0

    init(kind: PropertyKind) {
        isInt = kind.columnKind == .int
        isFloat = kind == .float
    }

    mutating func add(_ value: BorrowedValue) {
        switch value {
        case .int(let value): add(value)
        case .double(let value): add(value)
        case .float(let value): add(Double(value))
        case .null, .bytes: break
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

    /// Adds many floating-point numbers whose sum is known.
    ///
    /// Not for bounds.
    mutating func add(sum: Double, count: Int) {
        self.count &+= count
        doubleSum += sum
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
