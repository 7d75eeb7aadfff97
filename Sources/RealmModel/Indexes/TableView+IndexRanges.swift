import RealmStorage

extension TableView {
    /// The rows in a range of an indexed property, ascending by value, then by key.
    ///
    /// Null comes first and only when `lower` is `.unbounded` or `.including(.null)`; NaN comes last. A bound that is
    /// not of the property's kind is a programmer's error.
    package func rangeKeys(
        property: Int,
        lower: IndexBound,
        upper: IndexBound,
        limit: Int = .max
    ) throws -> [Int64] {
        let tree = try indexTree(property)
        if slots[property].hasKeyRuns {
            return try keyRuns(property).keys(in: KeyRunRange(lower, upper), limit: limit)
        }
        return try withBounds(property, lower, upper) { (lowerBytes, upperBytes) throws(StorageError) -> [Int64] in
            var cursor = tree.cursor(in: view)
            var isOnEntry = try cursor.seek(lowerBytes)
            var range = IndexRun(table: self, property: property)
            let checks = Self.isLong(lower) || Self.isLong(upper)
            while isOnEntry, upperBytes.isEmpty || cursor.isBelow(upperBytes),
                range.keys.count < limit || range.isInTruncatedRun
            {
                let key = IndexKey.rowKey(at: cursor)
                let isMatch = checks ? try row(key, property, isBetween: lower, upper) : true
                try range.append(key, at: &cursor, if: isMatch)
                isOnEntry = try cursor.next()
            }
            return try range.finish(limit: limit)
        }
    }

    /// The number of rows in a range, in the time of two look-ups (an upper bound where a bound is a string beyond 256
    /// bytes); of an int primary key in that of the runs between.
    package func rangeCount(property: Int, lower: IndexBound, upper: IndexBound) throws -> Int {
        let tree = try indexTree(property)
        if slots[property].hasKeyRuns { return try keyRuns(property).count(in: KeyRunRange(lower, upper)) }
        return try withBounds(property, lower, upper) { (lowerBytes, upperBytes) throws(StorageError) -> Int in
            try tree.count(
                from: lowerBytes.isEmpty ? nil : lowerBytes,
                to: upperBytes.isEmpty ? nil : upperBytes,
                in: view
            )
        }
    }

    /// Encodes two bounds: the first key of the range and the first beyond it, empty when unbounded.
    private func withBounds<R>(
        _ property: Int,
        _ lower: IndexBound,
        _ upper: IndexBound,
        _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws(StorageError) -> R
    ) throws(StorageError) -> R {
        try withKeyBuffer { (lowerBuffer) throws(StorageError) -> R in
            try withKeyBuffer { (upperBuffer) throws(StorageError) -> R in
                var lowerCount = 0
                switch lower {
                case .unbounded: break
                case .including(let value): lowerCount = encode(value, property, isAfter: false, to: lowerBuffer)
                case .excluding(let value):
                    lowerCount = encode(value, property, isAfter: !Self.isLong(lower), to: lowerBuffer)
                }
                var upperCount = 0
                switch upper {
                case .unbounded: break
                case .including(let value): upperCount = encode(value, property, isAfter: true, to: upperBuffer)
                case .excluding(let value):
                    upperCount = encode(value, property, isAfter: Self.isLong(upper), to: upperBuffer)
                }
                return try body(
                    UnsafeRawBufferPointer(start: lowerBuffer, count: lowerCount),
                    UnsafeRawBufferPointer(start: upperBuffer, count: upperCount)
                )
            }
        }
    }

    private func encode(
        _ value: StoredValue,
        _ property: Int,
        isAfter: Bool,
        to out: UnsafeMutableRawPointer
    ) -> Int {
        let slot = slots[property]
        precondition(value.isOf(slot.kind), "The bound of an index range is not of the property's type.")
        return value.withBorrowed { IndexKey.encode(bound: $0, slot, isAfter: isAfter, to: out) }
    }

    /// Whether a bound is a string that does not stand whole in its key, so that rows must be asked.
    private static func isLong(_ bound: IndexBound) -> Bool {
        switch bound {
        case .unbounded: false
        case .including(let value), .excluding(let value):
            switch value {
            case .string(let string): string.utf8.count > IndexKey.stringByteLimit
            case .data(let bytes): bytes.count > IndexKey.stringByteLimit
            default: false
            }
        }
    }

    private func row(
        _ key: Int64,
        _ property: Int,
        isBetween lower: IndexBound,
        _ upper: IndexBound
    ) throws(StorageError) -> Bool {
        guard let location = try locate(key) else {
            throw corrupt("the index of '\(schema.properties[property].name)' names a row that does not exist.")
        }
        let column = try column(property, in: location.leaf)
        if column.isNull(location.row) {
            if case .excluding = lower { return false }
            if case .including(let value) = lower { return value == .null }
            return true
        }
        let bytes = try column.bytes(location.row)
        switch lower {
        case .unbounded: break
        case .including(let value): if Self.precedes(bytes, value) { return false }
        case .excluding(let value): if !Self.follows(bytes, value) { return false }
        }
        switch upper {
        case .unbounded: return true
        case .including(let value): return !Self.follows(bytes, value)
        case .excluding(let value): return Self.precedes(bytes, value)
        }
    }

    private static func precedes(_ bytes: UnsafeRawBufferPointer, _ value: StoredValue) -> Bool {
        value.withBorrowed {
            guard case .bytes(let other) = $0 else { return false }
            return bytes.lexicographicallyPrecedes(other)
        }
    }

    private static func follows(_ bytes: UnsafeRawBufferPointer, _ value: StoredValue) -> Bool {
        value.withBorrowed {
            guard case .bytes(let other) = $0 else { return true }
            return other.lexicographicallyPrecedes(bytes)
        }
    }
}
