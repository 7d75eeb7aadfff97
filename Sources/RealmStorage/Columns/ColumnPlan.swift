/// How the values of a column will be stored.
struct ColumnPlan {
    /// Whether nothing is stored: every value is null, or every value is zero or empty.
    var isAbsent = false
    var kind: ColumnKind
    var width = 0
    /// Whether a null bitmap precedes the data; of an absent column: whether every value is null.
    var hasNulls = false
    /// The bytes of the data, null bitmap included.
    var byteLength = 0
    var minimum: Int64 = 0
    var maximum: Int64 = 0

    /// The first eight bytes of the descriptor.
    func word(location: UInt64) -> UInt64 {
        location | UInt64(kind.rawValue) << 8 | UInt64(width) << 16 | (hasNulls ? ClusterFormat.nullsFlag : 0)
            | UInt64(byteLength) << 32
    }

    /// Chooses the narrowest representation for the values of a column.
    init(_ column: ColumnView) {
        kind = column.kind
        let nullCount = column.countNulls()
        hasNulls = nullCount > 0
        if nullCount == column.count {
            isAbsent = true
            return
        }
        let nullBytes = hasNulls ? ClusterFormat.bitmapByteCount(rows: column.count) : 0
        switch kind {
        case .int: planInts(column)
        case .float: planFloats(column)
        case .double: planDoubles(column)
        case .fixed12, .fixed16: planFixed(column)
        case .bytes: planBytes(column)
        }
        if !isAbsent { byteLength += nullBytes }
    }

    private mutating func planInts(_ column: ColumnView) {
        (minimum, maximum) = Self.bounds(of: column) { column.int($0) }
        frame(rows: column.count)
    }

    /// The width that holds every difference to the minimum.
    private mutating func frame(rows: Int) {
        switch UInt64(bitPattern: maximum &- minimum) {
        case 0: width = 0
        case ...0xFF: width = 1
        case ...0xFFFF: width = 2
        case ...0xFFFF_FFFF: width = 4
        default: width = 8
        }
        byteLength = rows * width
        isAbsent = minimum == 0 && maximum == 0 && !hasNulls
    }

    private mutating func planDoubles(_ column: ColumnView) {
        if Self.areWhole(column) {
            (minimum, maximum) = Self.bounds(of: column) { Int64(column.double($0)) }
            frame(rows: column.count)
            if width <= 4 { return }
        }
        width = 8
        byteLength = column.count * 8
        setBounds(of: column) { column.double($0) }
    }

    private mutating func planFloats(_ column: ColumnView) {
        width = 4
        byteLength = column.count * 4
        setBounds(of: column) { Double(column.float($0)) }
        if !hasNulls, (0..<column.count).allSatisfy({ column.float($0).bitPattern == 0 }) { becomeAbsent() }
    }

    private mutating func planFixed(_ column: ColumnView) {
        let size = kind == .fixed12 ? 12 : 16
        width = size
        byteLength = size * column.count + (kind == .fixed12 ? 4 : 0)
        guard !hasNulls else { return }
        for row in 0..<column.count {
            let value = UnsafeRawBufferPointer(start: column.fixed(row), count: size)
            if value.contains(where: { $0 != 0 }) { return }
        }
        becomeAbsent()
    }

    private mutating func planBytes(_ column: ColumnView) {
        var total = 0
        var hasOverflow = false
        let first = column.storedBytes(0).count
        var isUniform = !hasNulls
        if column.width == ClusterFormat.pairWidth, !hasNulls {
            // As it stands in an open cluster: the lengths are there.
            var flags: UInt32 = 0
            var differences: UInt32 = 0
            for row in 0..<column.count {
                let word = column.data.loadUnaligned(fromByteOffset: row &<< 3 &+ 4, as: UInt32.self)
                total &+= Int(word & ~ClusterFormat.overflowFlag)
                flags |= word
                differences |= (word & ~ClusterFormat.overflowFlag) ^ UInt32(truncatingIfNeeded: first)
            }
            isUniform = differences == 0
            hasOverflow = flags & ClusterFormat.overflowFlag != 0
        } else {
            for row in 0..<column.count where !column.isNull(row) {
                let length = column.storedBytes(row).count
                total += length
                if length != first { isUniform = false }
                if column.isOverflow(row) { hasOverflow = true }
            }
        }
        if hasOverflow {
            width = 4
        } else if isUniform {
            width = 0
            maximum = Int64(first)
            isAbsent = first == 0
        } else {
            width = total <= 0xFFFF ? 2 : 4
        }
        byteLength = total + (width == 0 ? 0 : (column.count + 1) * width)
    }

    private mutating func becomeAbsent() {
        isAbsent = true
        width = 0
        byteLength = 0
        minimum = 0
        maximum = 0
    }

    /// Stores bounds as double bits; infinite ones when there is a NaN, which is in no order.
    @inline(__always)
    private mutating func setBounds(of column: ColumnView, _ value: (Int) -> Double) {
        var low = Double.infinity
        var high = -Double.infinity
        var hasNaN = false
        for row in 0..<column.count where !column.isNull(row) {
            let value = value(row)
            if value < low { low = value }
            if value > high { high = value }
            if value != value { hasNaN = true }
        }
        minimum = Int64(bitPattern: (hasNaN ? -Double.infinity : low).bitPattern)
        maximum = Int64(bitPattern: (hasNaN ? Double.infinity : high).bitPattern)
    }

    @inline(__always)
    private static func bounds(of column: ColumnView, _ value: (Int) -> Int64) -> (Int64, Int64) {
        var low = Int64.max
        var high = Int64.min
        if column.nulls == nil {
            for row in 0..<column.count {
                let value = value(row)
                if value < low { low = value }
                if value > high { high = value }
            }
        } else {
            for row in 0..<column.count where !column.isNull(row) {
                let value = value(row)
                if value < low { low = value }
                if value > high { high = value }
            }
        }
        return (low, high)
    }

    /// Whether every value is a whole number that an integer restores bit by bit (which -0.0 is not).
    private static func areWhole(_ column: ColumnView) -> Bool {
        guard column.width == 8 else { return true }
        for row in 0..<column.count where !column.isNull(row) {
            let value = column.double(row)
            guard abs(value) < 0x1p53 else { return false }
            let whole = Int64(value)
            if Double(whole).bitPattern != value.bitPattern { return false }
        }
        return true
    }
}
