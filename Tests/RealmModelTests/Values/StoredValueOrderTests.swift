import RealmTestSupport
import Testing

@testable import RealmModel

/// One order, one equality, one hash and one key for sorting, which all say the same.
@Suite struct StoredValueOrderTests {
    private static func decimal(_ text: String) -> StoredValue {
        .decimal(DecimalBytes(DecimalNumber(parsing: text) ?? .notANumber))
    }

    /// Values in ascending order; those in one group are equal.
    private static let groups: [[StoredValue]] = [
        [.null], [.bool(false)], [.bool(true)],
        [.double(.nan), .float(.nan), .double(-.nan), decimal("NaN"), decimal("-sNaN")],
        [.double(-.infinity), .float(-.infinity), decimal("-Inf")], [decimal("-1E+400")],
        [.double(-.greatestFiniteMagnitude)], [.int(.min), .double(-0x1p63), decimal("-9223372036854775808")],
        [.int(.min + 1)], [.double((-0x1p63).nextUp)], [.int(-1 << 53 - 1)], [.int(-1 << 53), .double(-0x1p53)],
        [decimal("-1.5"), .double(-1.5), .float(-1.5)], [.double(-0.1)], [decimal("-0.1")],
        [.double(-.leastNonzeroMagnitude)], [decimal("-1E-400")],
        [.int(0), .double(0), .double(-0.0), .float(-0.0), decimal("0"), decimal("-0E+9")],
        [decimal("1E-6176")], [.double(.leastNonzeroMagnitude)], [decimal("5E-324")], [decimal("0.1")], [.double(0.1)],
        [decimal("0.1000000000000000055511151231257828")], [.float(0.1)], [.double(0.5), decimal("0.50")],
        [.int(1), .double(1), .float(1), decimal("1.00")], [decimal("9007199254740991.5")],
        [.int(1 << 53), .double(0x1p53), .float(0x1p53), decimal("9007199254740992")],
        [decimal("9007199254740992.5")], [.int(1 << 53 + 1), decimal("9007199254740993.0")],
        [.double(0x1p53 + 2), .int(1 << 53 + 2)], [.double(0x1p63.nextDown)], [.int(.max - 1)], [.int(.max)],
        [decimal("9223372036854775807.5")], [.double(0x1p63), decimal("9223372036854775808"), .float(0x1p63)],
        [decimal("9223372036854776000")], [.double(1e23)], [decimal("1E+23")], [.double(.greatestFiniteMagnitude)],
        [decimal("1E+400")], [.double(.infinity), decimal("Inf")],
        [.string("")], [.string("\0")], [.string("\0a")], [.string("a")], [.string("a\0")], [.string("e\u{301}")],
        [.string("\u{E9}")], [.data([])], [.data([0])], [.data([0, 0])], [.data([0, 1])], [.data([1])],
        [.date(.nan)], [.date(-.infinity)], [.date(-0.0), .date(0)], [.date(1)],
        [.objectId(ObjectIDBytes(high: 1, low: 2))], [.objectId(ObjectIDBytes(high: 2, low: 1))],
        [.uuid(UUIDBytes(high: 1, low: 2))], [.anyLink(table: 1, key: 9)], [.anyLink(table: 2, key: -1)],
        [.anyLink(table: 2, key: 3)],
        [.list([])], [.list([.null])], [.list([.int(1)]), .list([.double(1)])], [.list([.int(1), .null])],
        [.list([.int(1), .string("")])], [.list([.int(1), .string("a")])], [.list([.int(1), .string("a"), .null])],
        [.list([.int(1), .string("a\0")])], [.list([.int(1), .string("ab")])],
        [.list([.double(0x1p53)])], [.list([.int(1 << 53 + 1)])], [.list([.list([])])],
        [.list([.list([.int(2)]), .int(0)])],
        [.dictionary([])], [.dictionary([StoredEntry(key: "a", value: .null)])],
        [
            .dictionary([StoredEntry(key: "a", value: .int(1))]),
            .dictionary([StoredEntry(key: "a", value: .double(1))]),
        ],
        [.dictionary([StoredEntry(key: "e\u{301}", value: .null)])],
        [.dictionary([StoredEntry(key: "\u{E9}", value: .null)])],
    ]

    @Test func `order, equality, hash and sort key agree on every pair of boundary values`() {
        let values = Self.groups.enumerated().flatMap { place, group in group.map { (place, $0) } }
        for (one, left) in values {
            for (other, right) in values {
                let expected = one < other ? -1 : one == other ? 0 : 1
                #expect(StoredValue.order(left, right).signum() == expected, "\(left), \(right)")
                #expect((left == right) == (expected == 0), "\(left), \(right)")
                if expected == 0 { #expect(left.hashValue == right.hashValue, "\(left), \(right)") }
                let keys = (left.sortKey, right.sortKey)
                let byKey = keys.0 == keys.1 ? 0 : keys.0.lexicographicallyPrecedes(keys.1) ? -1 : 1
                #expect(byKey == expected, "\(left), \(right): \(keys)")
            }
        }
        #expect(Set(values.map(\.1)).count == Self.groups.count)
    }
}
