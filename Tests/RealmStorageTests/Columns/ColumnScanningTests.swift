import RealmStorage
import RealmTestSupport
import Testing

@Suite struct ColumnScanningTests {
    /// Columns of every width, with and without nulls, of awkward lengths, open and sealed.
    private func forEachColumn(
        kind: ColumnKind,
        _ value: (Int, inout SplitMix64) -> Cell,
        _ body: (ColumnView, String) throws -> Void
    ) throws {
        for (index, rows) in [1, 64, 130, 1000].enumerated() {
            for isNullable in [false, true] {
                let layout = ColumnLayout(kind: kind, isNullable: isNullable)
                let fixture = try TableFixture(columns: [layout])
                var random = SplitMix64(seed: UInt64(index))
                let comment = "\(kind), \(rows) rows, nullable \(isNullable)"
                let snapshot = try fixture.write { writer in
                    for row in 0..<rows {
                        let key = try writer.append()
                        if isNullable, random.next() % 4 == 0 { continue }
                        try writer.set(value(row, &random), key: key, column: 0)
                    }
                    try body(try #require(try writer.position(at: 0)).leaf.column(0), comment + ", open")
                }
                try body(
                    try #require(try fixture.tree.position(at: 0, in: snapshot.view)).leaf.column(0),
                    comment + ", sealed"
                )
            }
        }
    }

    private func rows(of bitmap: [UInt64]) -> [Int] {
        (0..<bitmap.count * 64).filter { bitmap[$0 / 64] >> UInt64($0 % 64) & 1 != 0 }
    }

    @Test(arguments: [0, 7, 8, 15, 16, 31, 32, 62, 63])
    func `int scans agree with reading row by row`(bits: Int) throws {
        func value(_ row: Int, _ random: inout SplitMix64) -> Cell {
            // 63: the whole range of Int64.
            if bits == 63 { return .int(Int64(bitPattern: random.next())) }
            return .int(Int64(random.next() & (1 << UInt64(bits) - 1)) - 17)
        }
        try forEachColumn(kind: .int, value) { column, comment in
            let values = (0..<column.count).filter { !column.isNull($0) }.map { column.int($0) }
            #expect(column.countNulls() == column.count - values.count)
            #expect(column.sumInts() == values.reduce(0, &+), "\(comment)")
            #expect(values.allSatisfy { $0 >= column.minimum && $0 <= column.maximum } || column.isAbsent)
            let expanded = column.withInts { ints in
                (0..<column.count).filter { !column.isNull($0) }.map { ints[$0] }
            }
            #expect(expanded == values, "\(comment)")
            let some = [Int64.min, -17, 100, .max] + values.prefix(1)
            for lower in some {
                for upper in some {
                    var bitmap = [UInt64](repeating: .max, count: column.bitmapWordCount)
                    column.filterInts(from: lower, through: upper, into: &bitmap)
                    let expected = (0..<column.count)
                        .filter {
                            !column.isNull($0) && column.int($0) >= lower && column.int($0) <= upper
                        }
                    #expect(rows(of: bitmap) == expected, "\(comment), \(lower)...\(upper)")
                    #expect(column.countInts(from: lower, through: upper) == expected.count)
                }
            }
        }
    }

    @Test(arguments: [true, false])
    func `double scans agree with reading row by row`(areWhole: Bool) throws {
        func value(_ row: Int, _ random: inout SplitMix64) -> Cell {
            let whole = Double(Int64(random.next() % 50_000) - 20)
            if areWhole { return .double(whole.bitPattern) }
            return .double([whole, whole / 7, .nan, -.infinity, -0.0][Int(random.next() % 5)].bitPattern)
        }
        try forEachColumn(kind: .double, value) { column, comment in
            let some: [Double] = [-.infinity, -20.5, 0, 3000, 1e30, .nan]
            for lower in some {
                for upper in some {
                    var bitmap = [UInt64](repeating: .max, count: column.bitmapWordCount)
                    column.filterDoubles(from: lower, through: upper, into: &bitmap)
                    let expected = (0..<column.count)
                        .filter {
                            !column.isNull($0) && column.double($0) >= lower && column.double($0) <= upper
                        }
                    #expect(rows(of: bitmap) == expected, "\(comment), \(lower)...\(upper)")
                }
            }
            var doubles = [Double](repeating: 0, count: column.count)
            column.expandDoubles(into: &doubles)
            for row in 0..<column.count where !column.isNull(row) {
                #expect(doubles[row].bitPattern == column.double(row).bitPattern)
            }
        }
    }

    @Test func `bounds are known without touching the column's pages`() throws {
        let fixture = try TableFixture(columns: [
            ColumnLayout(kind: .int), ColumnLayout(kind: .double), ColumnLayout(kind: .double),
        ])
        let snapshot = try fixture.write { writer in
            for row in 0..<1000 {
                let key = try writer.append()
                try writer.setInt(Int64(row * 1_000_003), key: key, column: 0)
                try writer.setDouble(Double(row) - 0.5, key: key, column: 1)
                try writer.setDouble(Double(row * 3), key: key, column: 2)
            }
        }
        let leaf = try #require(try fixture.tree.position(at: 0, in: snapshot.view)).leaf
        #expect(leaf.intBounds(0)?.minimum == 0 && leaf.intBounds(0)?.maximum == 999 * 1_000_003)
        #expect(leaf.doubleBounds(1)?.minimum == -0.5 && leaf.doubleBounds(1)?.maximum == 998.5)
        #expect(leaf.doubleBounds(2)?.minimum == 0 && leaf.doubleBounds(2)?.maximum == 2997)
        #expect(leaf.intBounds(1) == nil && leaf.doubleBounds(0) == nil && leaf.intBounds(3) == nil)
    }
}
