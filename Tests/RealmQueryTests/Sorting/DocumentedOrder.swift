import Foundation
import RealmModel

/// The order of values as the section "Order" of `Docs/Queries.md` has it, in plain Swift.
///
/// Which kind comes before which is read from that page, so that it is the page that the library is compared with.
enum DocumentedOrder {
    /// The kinds by their places in the page's list.
    static let kinds: [String] = {
        let page = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Docs/Queries.md")
        let text = (try? String(contentsOf: page, encoding: .utf8)) ?? ""
        let section = text.components(separatedBy: "\n## ").first { $0.hasPrefix("Order\n") } ?? ""
        return section.split(separator: "\n")
            .compactMap { $0.wholeMatch(of: /[0-9]+\. ([^:]+):.*/).map { String($0.1) } }
    }()

    /// Below 0 when the left value comes first, 0 when the two are the same for an order.
    static func compare(_ left: StoredValue, _ right: StoredValue) -> Int {
        let kind = kind(of: left)
        if kind != self.kind(of: right) { return kind < self.kind(of: right) ? -1 : 1 }
        return compareWithinKind(left, right)
    }

    private static func kind(of value: StoredValue) -> Int {
        let name =
            switch value {
            case .null: "nothing"
            case .bool: "booleans"
            case .int, .float, .double, .decimal: "numbers"
            case .string: "strings"
            case .data: "data"
            case .date: "dates"
            case .objectId: "object identifiers"
            case .uuid: "UUIDs"
            case .link, .anyLink: "objects"
            case .list: "lists"
            case .dictionary: "dictionaries"
            }
        guard let place = kinds.firstIndex(of: name) else {
            fatalError("Docs/Queries.md does not say where \(name) stand")
        }
        return place
    }

    private static func compareWithinKind(_ left: StoredValue, _ right: StoredValue) -> Int {
        switch (left, right) {
        case (.bool(let a), .bool(let b)): a == b ? 0 : a ? 1 : -1
        case (.string(let a), .string(let b)): bytes(a.utf8, b.utf8)
        case (.data(let a), .data(let b)): bytes(a, b)
        case (.date(let a), .date(let b)): numbers(a, b)
        case (.objectId, .objectId), (.uuid, .uuid): bytes(written(left), written(right))
        case (.link(let a), .link(let b)): a == b ? 0 : a < b ? -1 : 1
        case (.anyLink(let table, let a), .anyLink(let other, let b)):
            (table, a) == (other, b) ? 0 : (table, a) < (other, b) ? -1 : 1
        // In no particular order: that of the library. That equal ones are together is all that is promised.
        case (.list, .list), (.dictionary, .dictionary): left == right ? 0 : bytes(left.sortKey, right.sortKey)
        default:
            switch (PlainNumber.isNaN(left), PlainNumber.isNaN(right)) {
            case (true, true): 0
            case (true, false): -1
            case (false, true): 1
            case (false, false): PlainNumber.compare(left, right)
            }
        }
    }

    private static func numbers(_ left: Double, _ right: Double) -> Int {
        switch (left.isNaN, right.isNaN) {
        case (true, true): 0
        case (true, false): -1
        case (false, true): 1
        case (false, false): left == right ? 0 : left < right ? -1 : 1
        }
    }

    private static func bytes(_ left: some Sequence<UInt8>, _ right: some Sequence<UInt8>) -> Int {
        for (one, other) in zip(left, right) where one != other { return one < other ? -1 : 1 }
        let (left, right) = (left.reduce(0) { count, _ in count + 1 }, right.reduce(0) { count, _ in count + 1 })
        return left == right ? 0 : left < right ? -1 : 1
    }

    /// The bytes of an identifier, in the order in which it is written down.
    private static func written(_ value: StoredValue) -> [UInt8] {
        func bytes<Value: FixedWidthInteger>(_ value: Value) -> [UInt8] {
            stride(from: Value.bitWidth - 8, through: 0, by: -8).map { UInt8(truncatingIfNeeded: value >> Value($0)) }
        }
        return switch value {
        case .objectId(let value): bytes(value.high) + bytes(value.low)
        case .uuid(let value): bytes(value.high) + bytes(value.low)
        default: []
        }
    }
}
