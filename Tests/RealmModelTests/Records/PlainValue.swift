import RealmModel

/// A value of the plain model: equal to those only which have the same bits.
enum PlainValue: Hashable {
    case null
    case int(Int64)
    case bool(Bool)
    case float(UInt32)
    case double(UInt64)
    /// The tests' texts are ASCII, so that equal ones have the same bytes.
    case text(String)
    case data([UInt8])
    case date(UInt64)
    case objectID(UInt64, UInt32)
    case uuid(UInt64, UInt64)
    case decimal(UInt64, UInt64)
    case link(PlainPlace)
    case list([PlainValue])
    case set(Set<PlainValue>)
    case map([String: PlainValue])
}

/// A row of the plain model.
struct PlainPlace: Hashable {
    var className: String
    let key: Int64
}

extension PlainValue {
    /// A value as the database tells it; a typed link leads to the class of its property.
    init(_ value: StoredValue, target: String?, in schema: DatabaseSchema) {
        switch value {
        case .null: self = .null
        case .int(let value): self = .int(value)
        case .bool(let value): self = .bool(value)
        case .float(let value): self = .float(value.bitPattern)
        case .double(let value): self = .double(value.bitPattern)
        case .string(let value): self = .text(value)
        case .data(let value): self = .data(value)
        case .date(let value): self = .date(value.bitPattern)
        case .objectId(let value): self = .objectID(value.high, value.low)
        case .uuid(let value): self = .uuid(value.high, value.low)
        case .decimal(let value): self = .decimal(value.high, value.low)
        case .link(let key): self = .link(PlainPlace(className: target ?? "no class", key: key))
        case .anyLink(let table, let key):
            self = .link(PlainPlace(className: schema.schema(of: table)?.name ?? "table \(table)", key: key))
        case .list(let values): self = .list(values.map { PlainValue($0, target: nil, in: schema) })
        case .dictionary(let entries):
            var map: [String: PlainValue] = [:]
            for entry in entries { map[entry.key] = PlainValue(entry.value, target: nil, in: schema) }
            self = .map(map)
        }
    }

    /// What a set or a unique property takes for the same: zeros of both signs, and decimals that differ in their exponents only.
    var identity: PlainValue {
        switch self {
        case .float(let bits) where Float(bitPattern: bits) == 0: .float(0)
        case .double(let bits) where Double(bitPattern: bits) == 0: .double(0)
        case .date(let bits) where Double(bitPattern: bits) == 0: .date(0)
        case .decimal(let high, let low): Self.shortestDecimal(high, low)
        default: self
        }
    }

    /// A decimal without zeros at its end; the tests' coefficients have 64 bits at most.
    private static func shortestDecimal(_ high: UInt64, _ low: UInt64) -> PlainValue {
        if low == 0 { return .decimal(0, 0) }
        var coefficient = low
        var high = high
        while coefficient % 10 == 0 {
            coefficient /= 10
            // The exponent.
            high += 1 << 49
        }
        return .decimal(high, coefficient)
    }

    /// The rows that a value links to, each as often as it does.
    var links: [PlainPlace] {
        switch self {
        case .link(let place): [place]
        case .list(let values): values.flatMap(\.links)
        case .set(let values): values.flatMap(\.links)
        case .map(let entries): entries.values.flatMap(\.links)
        default: []
        }
    }

    /// The value with null for each link that a function gives nothing for, and with another link where it gives one.
    func mappingLinks(_ change: (PlainPlace) -> PlainPlace?) -> PlainValue {
        switch self {
        case .link(let place): change(place).map { PlainValue.link($0) } ?? .null
        case .list(let values): .list(values.map { $0.mappingLinks(change) })
        case .set(let values): .set(Set(values.map { $0.mappingLinks(change) }))
        case .map(let entries): .map(entries.mapValues { $0.mappingLinks(change) })
        default: self
        }
    }

    /// Puts an element into a set, unless it is there.
    static func insert(_ value: PlainValue, into elements: inout Set<PlainValue>) {
        if !elements.contains(where: { $0.identity == value.identity }) { elements.insert(value) }
    }
}
