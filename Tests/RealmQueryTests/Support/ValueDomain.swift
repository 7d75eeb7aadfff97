import RealmModel
import RealmTestSupport

/// Where random values come from: small sets, so that comparisons hit.
enum ValueDomain {
    /// Small numbers and short texts, with a few that are not.
    case plain
    /// What lies at the edges: the ends of each type's range, neighbours beyond 2^53, NaN and both zeros, strings that
    /// differ in their spelling alone, behind a zero byte, or behind the bytes that an index holds.
    case edges

    static let edgeInts: [Int64] = [
        .min, .min + 1, .max, .max - 1, 0x7FFF_FFFF_FFFF_FC00, 1 << 53 - 1, 1 << 53, 1 << 53 + 1, 1 << 53 + 2,
        -(1 << 53), -(1 << 53) - 1, 1 << 24, 1 << 24 + 1, 0, 1, -1, 2, 255, 256, 65_536,
    ]

    static let edgeDoubles: [Double] = [
        .nan, 0.0, -0.0, .infinity, -.infinity, 0x1p53, 0x1p53 + 2, -0x1p53, 0x1p63, -0x1p63, 0x1p63.nextDown, 0x1p24,
        .leastNonzeroMagnitude, -.leastNonzeroMagnitude, .greatestFiniteMagnitude, 0.1, 0.5, 1, -1, 1.5, 1e23, 2, 255,
        Double(Float(0.1)),
    ]

    static let edgeDecimals: [String] = [
        "NaN", "Inf", "-Inf", "0", "-0", "0E+9", "1", "1.00", "-1", "0.1", "0.5", "1.5", "2", "9007199254740992",
        "9007199254740992.5", "9007199254740993", "9223372036854775807", "9223372036854775808", "9223372036854775807.5",
        "9223372036854776000", "-9223372036854775808", "1E+23", "1E+400", "-1E+400", "1E-400", "5E-324", "255",
        "0.1000000000000000055511151231257827", "0.1000000000000000055511151231257828", "9.999999999999999E+22",
    ]

    static let edgeStrings: [String] = {
        let long = String(repeating: "x", count: 256)
        return [
            "", "\0", "a\0", "a\0b", "\0a", "a", "A", "ab", "\u{E9}", "e\u{301}", "\u{C9}", "E\u{301}", "e", "a\u{E9}",
            "ae\u{301}", long, long + "\0", long + "\u{E9}", long + "e\u{301}", String(long.dropLast()),
            String(long.dropLast()) + "\u{E9}", String(long.dropLast()) + "\0", String(repeating: "\0", count: 257),
        ]
    }()

    /// Names in dictionaries: no path could spell others.
    static let edgeNames = ["a", "b", "\u{E9}", "e\u{301}", "a b", "a\0"]
}
