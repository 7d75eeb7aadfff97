import RealmModel

/// The running sum, bounds and count of decimals, or of the numbers among values of any kind.
struct DecimalTotals {
    private var count = 0
    private var sum = DecimalNumber.zero
    private var minimum: StoredValue?
    private var maximum: StoredValue?

    mutating func add(_ value: StoredValue) {
        guard let number = value.decimal else { return }
        count += 1
        sum = sum + number
        // A bound only where there is nothing else: every number comes behind it.
        if number.isNaN {
            minimum = minimum ?? value
            maximum = maximum ?? value
            return
        }
        if minimum.map({ $0.isNaN || StoredValue.order(value, $0) < 0 }) ?? true { minimum = value }
        if maximum.map({ StoredValue.order(value, $0) > 0 }) ?? true { maximum = value }
    }

    func result(of operation: AggregateOperation) -> StoredValue {
        switch operation {
        case .sum: .decimal(DecimalBytes(sum))
        case .average: count == 0 ? .null : .decimal(DecimalBytes(sum / DecimalNumber(Int64(count))))
        case .minimum: minimum ?? .null
        case .maximum: maximum ?? .null
        }
    }
}
