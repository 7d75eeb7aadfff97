import RealmModel

/// Compares two values read from rows.
///
/// Null equals null and nothing else; no other operator holds for it. Ints and floating-point numbers compare by value.
struct ValueComparison {
    let operation: ComparisonOperator
    let folding: TextFolding?
    /// The types when the values must be looked at as a whole.
    private let kinds: (left: PropertyKind, right: PropertyKind)?
    /// The table of the links of one side: those in values of any kind name theirs.
    private let linkTable: UInt32?

    init(
        _ operation: ComparisonOperator,
        options: StringComparisonOptions,
        left: PropertyKind = .int,
        right: PropertyKind = .int,
        linkTable: UInt32? = nil
    ) {
        self.operation = operation
        self.linkTable = linkTable
        kinds = ValueTestFactory.isStored(left) || ValueTestFactory.isStored(right) ? (left, right) : nil
        folding = options.isEmpty ? nil : TextFolding(options: options)
    }

    func holds(_ left: BorrowedValue, _ right: BorrowedValue) -> Bool {
        switch (left, right) {
        case (.null, .null): return operation == .equal
        case (.null, _), (_, .null): return operation == .notEqual
        default: break
        }
        if let kinds {
            let left = stored(left, kinds.left)
            let right = stored(right, kinds.right)
            let isPlain =
                switch (left, right) {
                case (.string, .string): true
                // Options are for strings.
                case (.data, .data): folding == nil
                default: false
                }
            if isPlain { return left.withBorrowed { left in right.withBorrowed { holdsPlainly(left, $0) } } }
            return StoredComparisonTest.holds(operation, left, right)
        }
        return holdsPlainly(left, right)
    }

    /// The value as a whole, where a link names its table.
    private func stored(_ value: BorrowedValue, _ kind: PropertyKind) -> StoredValue {
        let value = StoredValue(value, kind: kind)
        guard let linkTable, case .link(let key) = value else { return value }
        return .anyLink(table: linkTable, key: key)
    }

    private func holdsPlainly(_ left: BorrowedValue, _ right: BorrowedValue) -> Bool {
        switch (left, right) {
        case (.int(let first), .int(let second)): return holds(first < second, first == second, first > second)
        case (.bytes(let first), .bytes(let second)):
            guard let folding else { return holds(first, second) }
            var foldedFirst: [UInt8] = []
            var foldedSecond: [UInt8] = []
            folding.fold(first, into: &foldedFirst)
            folding.fold(second, into: &foldedSecond)
            return foldedFirst.withUnsafeBytes { one in foldedSecond.withUnsafeBytes { holds(one, $0) } }
        case (.int(let first), _):
            guard let second = double(right) else { return operation == .notEqual }
            let order = Self.order(first, second)
            return holds(order == -1, order == 0, order == 1)
        case (_, .int(let second)):
            guard let first = double(left) else { return operation == .notEqual }
            let order = Self.order(second, first)
            return holds(order == 1, order == 0, order == -1)
        default:
            guard let first = double(left), let second = double(right) else { return operation == .notEqual }
            return holds(first < second, first == second, first > second)
        }
    }

    /// How an int compares with a double, exactly; nil for NaN.
    static func order(_ int: Int64, _ double: Double) -> Int? {
        if double.isNaN { return nil }
        if double >= 0x1p63 { return -1 }
        if double < -0x1p63 { return 1 }
        let whole = double.rounded(.down)
        let floor = Int64(whole)
        if int != floor { return int < floor ? -1 : 1 }
        return whole == double ? 0 : -1
    }

    private func double(_ value: BorrowedValue) -> Double? {
        switch value {
        case .double(let value): value
        case .float(let value): Double(value)
        default: nil
        }
    }

    private func holds(_ isLess: Bool, _ isEqual: Bool, _ isGreater: Bool) -> Bool {
        switch operation {
        case .equal: isEqual
        case .notEqual: !isEqual
        case .less: isLess
        case .lessOrEqual: isLess || isEqual
        case .greater: isGreater
        case .greaterOrEqual: isGreater || isEqual
        default: false
        }
    }

    private func holds(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
        switch operation {
        case .beginsWith:
            return left.count >= right.count
                && BytesSetTest.order(UnsafeRawBufferPointer(rebasing: left[..<right.count]), right) == 0
        case .endsWith:
            return left.count >= right.count
                && BytesSetTest.order(
                    UnsafeRawBufferPointer(rebasing: left[(left.count - right.count)...]),
                    right
                ) == 0
        case .contains:
            return BytesTest.find(right, in: left)
        case .like:
            return LikePattern(Array(right)).matches(left)
        default:
            let order = BytesSetTest.order(left, right)
            return holds(order < 0, order == 0, order > 0)
        }
    }
}
