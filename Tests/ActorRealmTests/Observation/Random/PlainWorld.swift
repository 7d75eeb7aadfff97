import RealmModel
import RealmTestSupport

/// A value of a plain row: numbers, dates and decimals are numbers, links lead to the serial number of a row.
enum PlainValue: Hashable, Sendable {
    case null
    case bool(Bool)
    case number(Double)
    case text(String)
    case link(Int)
}

/// A property of a plain class.
struct PlainProperty: Sendable {
    let name: String
    let kind: PropertyKind
    var isOptional = false
    var isIndexed = false
    var isList = false
    /// The number of the class that it links to, or from which it is linked to.
    var target: Int?
    /// For linking objects, the property that links.
    var origin: String?

    var isLink: Bool { kind == .object }
}

/// A plain class; every object has an `id` that no other one has at the same time.
struct PlainClass: Sendable {
    let name: String
    let hasPrimaryKey: Bool
    var properties: [PlainProperty]

    var scalars: [PlainProperty] { properties.filter { !$0.isList && $0.target == nil } }
    var links: [PlainProperty] { properties.filter { $0.isLink && !$0.isList } }
    var lists: [PlainProperty] { properties.filter { $0.isList } }
    var backlinks: [PlainProperty] { properties.filter { $0.origin != nil } }

    func property(_ name: String) -> PlainProperty { properties.first { $0.name == name }! }
}

/// A row: the serial number tells objects apart that had the same `id` one after another.
struct PlainAddress: Hashable, Sendable {
    let type: Int
    let serial: Int
}

struct PlainRow: Hashable, Sendable {
    let id: Int
    var values: [String: PlainValue] = [:]
    var lists: [String: [PlainValue]] = [:]
}

/// What is done to a file and to a plain world.
enum PlainOperation: Sendable {
    case insert(PlainAddress, PlainRow)
    case set(PlainAddress, String, PlainValue)
    case assign(PlainAddress, String, [PlainValue])
    case insertElement(PlainAddress, String, PlainValue, Int)
    case removeElement(PlainAddress, String, Int)
    case moveElement(PlainAddress, String, Int, Int)
    case delete(PlainAddress)
    case deleteAll
}

/// The properties that were written, by row.
typealias PlainWrites = [PlainAddress: Set<String>]

/// The contents of a file of random classes, as plain values.
struct PlainWorld: Sendable {
    let classes: [PlainClass]
    /// By class and serial number.
    var rows: [[Int: PlainRow]]
    private var lastSerial = 0
    private var lastID = 0
    /// The ids of deleted objects, for new ones.
    private var freeIDs: [[Int]]

    init(classes: [PlainClass]) {
        self.classes = classes
        rows = classes.map { _ in [:] }
        freeIDs = classes.map { _ in [] }
    }

    var count: Int { rows.reduce(0) { $0 + $1.count } }

    func serials(_ type: Int) -> [Int] { rows[type].keys.sorted() }

    func row(_ address: PlainAddress) -> PlainRow? { rows[address.type][address.serial] }

    /// The objects that a property of a row leads to, in order.
    func targets(_ address: PlainAddress, _ name: String) -> [PlainAddress] {
        guard let row = row(address), let target = classes[address.type].property(name).target else { return [] }
        return (row.lists[name] ?? [row.values[name] ?? .null])
            .compactMap { if case .link(let serial) = $0 { PlainAddress(type: target, serial: serial) } else { nil } }
    }

    /// The value at the end of a path of links; null where one leads nowhere.
    func value(_ path: String, _ address: PlainAddress) -> PlainValue {
        var address = address
        let steps = path.split(separator: ".").map(String.init)
        for step in steps.dropLast() {
            guard let target = targets(address, step).first else { return .null }
            address = target
        }
        return row(address)?.values[steps.last!] ?? .null
    }

    // MARK: Operations

    /// Does something, and notes which rows it writes to.
    mutating func apply(_ operation: PlainOperation, _ writes: inout PlainWrites) {
        switch operation {
        case .insert(let address, let row):
            rows[address.type][address.serial] = row
            writes[address, default: []].formUnion(classes[address.type].properties.map(\.name))
        case .set(let address, let name, let value):
            rows[address.type][address.serial]!.values[name] = value
            writes[address, default: []].insert(name)
        case .assign(let address, let name, let values):
            change(address, name, &writes) { $0 = values }
        case .insertElement(let address, let name, let value, let index):
            change(address, name, &writes) { $0.insert(value, at: index) }
        case .removeElement(let address, let name, let index):
            change(address, name, &writes) { $0.remove(at: index) }
        case .moveElement(let address, let name, let from, let to):
            change(address, name, &writes) { $0.insert($0.remove(at: from), at: to) }
        case .delete(let address): delete(address, &writes)
        case .deleteAll:
            for type in classes.indices {
                freeIDs[type] += rows[type].values.map(\.id)
                rows[type] = [:]
            }
            writes = [:]
        }
    }

    private mutating func change(
        _ address: PlainAddress,
        _ name: String,
        _ writes: inout PlainWrites,
        _ body: (inout [PlainValue]) -> Void
    ) {
        body(&rows[address.type][address.serial]!.lists[name]!)
        writes[address, default: []].insert(name)
    }

    private mutating func delete(_ address: PlainAddress, _ writes: inout PlainWrites) {
        freeIDs[address.type].append(rows[address.type].removeValue(forKey: address.serial)!.id)
        writes[address] = nil
        // Links become null, and lists lose it.
        let link = PlainValue.link(address.serial)
        for type in classes.indices {
            for property in classes[type].properties where property.isLink && property.target == address.type {
                for serial in rows[type].keys {
                    let origin = PlainAddress(type: type, serial: serial)
                    if rows[type][serial]!.values[property.name] == link {
                        rows[type][serial]!.values[property.name] = .null
                        writes[origin, default: []].insert(property.name)
                    } else if rows[type][serial]!.lists[property.name]?.contains(link) == true {
                        rows[type][serial]!.lists[property.name]!.removeAll { $0 == link }
                        writes[origin, default: []].insert(property.name)
                    }
                }
            }
        }
    }

    // MARK: What was written

    /// The rows that were written to, or from which at most four links lead to one that was.
    func reaching(_ writes: PlainWrites) -> Set<PlainAddress> {
        var reached = Set(writes.keys.filter { row($0) != nil })
        for _ in 0..<4 {
            var next = reached
            for (type, schema) in classes.enumerated() {
                for property in schema.properties where property.isLink {
                    for serial in rows[type].keys {
                        let origin = PlainAddress(type: type, serial: serial)
                        if targets(origin, property.name).contains(where: reached.contains) { next.insert(origin) }
                    }
                }
            }
            reached = next
        }
        return reached
    }

    /// Whether something on a key path was written.
    func isWritten(_ path: ArraySlice<String>, _ address: PlainAddress, _ writes: PlainWrites) -> Bool {
        guard let step = path.first else { return false }
        if writes[address]?.contains(step) == true { return true }
        if path.count == 1 { return false }
        return targets(address, step).contains { isWritten(path.dropFirst(), $0, writes) }
    }

    // MARK: Random operations

    /// An operation that fits the world; nil where there is nothing for it.
    mutating func randomOperation(_ random: inout SplitMix64) -> PlainOperation? {
        let type = classes.indices.randomElement(using: &random)!
        let kind = Int.random(in: 0..<100, using: &random)
        if kind < 25 { return insertion(type, &random) }
        guard let serial = serials(type).randomElement(using: &random) else { return nil }
        let address = PlainAddress(type: type, serial: serial)
        if kind < 37 { return .delete(address) }
        if kind < 70 || classes[type].lists.isEmpty {
            let property = classes[type].properties.filter { !$0.isList && $0.origin == nil }
                .randomElement(using: &random)!
            // A value that is there already is written, too.
            let value =
                Int.random(in: 0..<5, using: &random) == 0
                ? rows[type][serial]!.values[property.name]! : randomValue(property, &random)
            return .set(address, property.name, value)
        }
        let property = classes[type].lists.randomElement(using: &random)!
        let count = rows[type][serial]!.lists[property.name]!.count
        switch kind {
        case ..<73: return .assign(address, property.name, randomElements(property, &random))
        case ..<88:
            let value = randomValue(property, &random)
            if value == .null, property.isLink { return nil }
            return .insertElement(address, property.name, value, .random(in: 0...count, using: &random))
        case _ where count == 0: return nil
        case ..<94: return .removeElement(address, property.name, .random(in: 0..<count, using: &random))
        default:
            let from = Int.random(in: 0..<count, using: &random)
            return .moveElement(address, property.name, from, .random(in: 0..<count, using: &random))
        }
    }

    /// A new object, one time in two with an id that was there before.
    mutating func insertion(_ type: Int, _ random: inout SplitMix64) -> PlainOperation {
        lastSerial += 1
        var id: Int
        if !freeIDs[type].isEmpty, Bool.random(using: &random) {
            id = freeIDs[type].remove(at: .random(in: freeIDs[type].indices, using: &random))
        } else {
            lastID += 1
            id = lastID
        }
        if rows[type].values.contains(where: { $0.id == id }) {
            lastID += 1
            id = lastID
        }
        var row = PlainRow(id: id)
        row.values["id"] = .number(Double(id))
        for property in classes[type].properties where property.origin == nil {
            if property.isList {
                row.lists[property.name] = randomElements(property, &random)
            } else {
                row.values[property.name] = randomValue(property, &random)
            }
        }
        return .insert(PlainAddress(type: type, serial: lastSerial), row)
    }

    private func randomElements(_ property: PlainProperty, _ random: inout SplitMix64) -> [PlainValue] {
        (0..<Int.random(in: 0...4, using: &random)).map { _ in randomValue(property, &random) }
            .filter { $0 != .null || !property.isLink }
    }

    static let texts = ["", "a", "A", "ab", "abc", "Abc", "b", "bc", "zz"]

    /// A value from a small set, so that comparisons hit.
    func randomValue(_ property: PlainProperty, _ random: inout SplitMix64) -> PlainValue {
        if let target = property.target {
            if Int.random(in: 0..<4, using: &random) == 0 { return .null }
            return serials(target).randomElement(using: &random).map { .link($0) } ?? .null
        }
        if property.isOptional, Int.random(in: 0..<4, using: &random) == 0 { return .null }
        switch property.kind {
        case .bool: return .bool(Bool.random(using: &random))
        case .string: return .text(Self.texts.randomElement(using: &random)!)
        case .int: return .number(Double(Int.random(in: -4...4, using: &random)))
        default: return .number(Double(Int.random(in: -6...6, using: &random)) / 2)
        }
    }
}

extension PlainWorld {
    /// Random classes: scalars of every kind, links, lists and what links back.
    static func randomClasses(_ random: inout SplitMix64) -> [PlainClass] {
        let kinds: [PropertyKind] = [.int, .int, .string, .string, .double, .float, .bool, .date, .decimal128]
        let count = Int.random(in: 1...3, using: &random)
        var classes: [PlainClass] = []
        for number in 0..<count {
            var properties: [PlainProperty] = []
            for index in 0..<Int.random(in: 1...6, using: &random) {
                let kind = kinds.randomElement(using: &random)!
                properties.append(
                    PlainProperty(
                        name: "p\(index)",
                        kind: kind,
                        isOptional: Bool.random(using: &random),
                        isIndexed: [.int, .string, .bool, .date].contains(kind)
                            && Int.random(in: 0..<3, using: &random) == 0
                    )
                )
            }
            for index in 0..<Int.random(in: 0...2, using: &random) {
                properties.append(
                    PlainProperty(name: "link\(index)", kind: .object, target: .random(in: 0..<count, using: &random))
                )
            }
            for index in 0..<Int.random(in: 0...2, using: &random) {
                properties.append(
                    PlainProperty(
                        name: "many\(index)",
                        kind: .object,
                        isList: true,
                        target: .random(in: 0..<count, using: &random)
                    )
                )
            }
            if Bool.random(using: &random) {
                properties.append(
                    PlainProperty(name: "list0", kind: [.int, .string].randomElement(using: &random)!, isList: true)
                )
            }
            classes.append(
                PlainClass(name: "C\(number)", hasPrimaryKey: Bool.random(using: &random), properties: properties)
            )
        }
        for number in classes.indices {
            for property in classes[number].properties where property.isLink {
                classes[property.target!].properties
                    .append(
                        PlainProperty(
                            name: "back\(number)\(property.name)",
                            kind: .linkingObjects,
                            target: number,
                            origin: property.name
                        )
                    )
            }
        }
        return classes
    }
}
