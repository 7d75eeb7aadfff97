import RealmModel
import RealmTestSupport

/// A value of a plain row: links lead to the serial number of a row.
///
/// Those of the same type and the same bits are equal.
enum PlainValue: Hashable, Sendable, CustomStringConvertible {
    case null
    case value(SpecimenValue)
    case link(Int)

    var description: String {
        switch self {
        case .null: "null"
        case .value(let value): "\(value)"
        case .link(let serial): "link \(serial)"
        }
    }

    /// The value for comparisons; a link is none.
    var specimen: SpecimenValue { if case .value(let value) = self { value } else { .null } }
}

/// A property of a plain class.
struct PlainProperty: Sendable {
    let name: String
    let kind: PropertyKind
    var isOptional = false
    var isIndexed = false
    var collection = CollectionKind.none
    /// The number of the class that it links to, or from which it is linked to.
    var target: Int?
    /// For linking objects, the property that links.
    var origin: String?

    var isLink: Bool { kind == .object }
    var isSingle: Bool { collection == .none }
}

/// A plain class; every object has an `id` that no other one has at the same time.
struct PlainClass: Sendable {
    let name: String
    let hasPrimaryKey: Bool
    var isEmbedded = false
    var properties: [PlainProperty]

    var scalars: [PlainProperty] { properties.filter { $0.isSingle && $0.target == nil } }
    var links: [PlainProperty] { properties.filter { $0.isLink && $0.isSingle } }
    var collections: [PlainProperty] { properties.filter { !$0.isSingle } }
    /// Lists and sets.
    var sequences: [PlainProperty] { collections.filter { $0.collection != .map } }
    var maps: [PlainProperty] { collections.filter { $0.collection == .map } }
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
    /// Lists, and sets in their order.
    var lists: [String: [PlainValue]] = [:]
    var maps: [String: [PlainText: PlainValue]] = [:]
}

/// A row that comes into being.
struct PlainBirth: Sendable {
    let address: PlainAddress
    let row: PlainRow
}

/// Where an embedded object comes into being.
enum PlainPlace: Sendable {
    case single
    case before(Int)
    case at(Int)
    case name(PlainText)
}

/// What is done to a file and to a plain world.
enum PlainOperation: Sendable {
    case insert(PlainBirth)
    case set(PlainAddress, String, PlainValue)
    case assign(PlainAddress, String, [PlainValue])
    case insertElement(PlainAddress, String, PlainValue, Int)
    case replaceElement(PlainAddress, String, PlainValue, Int)
    case removeElement(PlainAddress, String, Int)
    case moveElement(PlainAddress, String, Int, Int)
    case insertMember(PlainAddress, String, PlainValue)
    case removeMember(PlainAddress, String, PlainValue)
    case assignEntries(PlainAddress, String, [PlainText: PlainValue])
    case setEntry(PlainAddress, String, PlainText, PlainValue)
    case removeEntry(PlainAddress, String, PlainText)
    case removeAll(PlainAddress, String)
    /// New embedded objects in the place of what a list or a map of them held.
    case assignEmbedded(PlainAddress, String, [(name: PlainText, PlainBirth)])
    case embed(PlainAddress, String, PlainPlace, PlainBirth)
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
    var lastSerial = 0
    var lastID = 0
    /// Rows to which something happens more often: those that are observed.
    var favourites: [PlainAddress] = []
    /// The ids of deleted objects, for new ones.
    var freeIDs: [[Int]]

    init(classes: [PlainClass]) {
        self.classes = classes
        rows = classes.map { _ in [:] }
        freeIDs = classes.map { _ in [] }
    }

    var count: Int { rows.reduce(0) { $0 + $1.count } }

    func serials(_ type: Int) -> [Int] { rows[type].keys.sorted() }

    func row(_ address: PlainAddress) -> PlainRow? { rows[address.type][address.serial] }

    func isEmbedded(_ property: PlainProperty) -> Bool {
        property.isLink && property.target.map { classes[$0].isEmbedded } == true
    }

    /// What a property of a row holds, in order.
    func elements(_ row: PlainRow, _ property: PlainProperty) -> [PlainValue] {
        switch property.collection {
        case .none: [row.values[property.name] ?? .null]
        case .list, .set: row.lists[property.name] ?? []
        case .map: (row.maps[property.name] ?? [:]).sorted { $0.key < $1.key }.map(\.value)
        }
    }

    /// The objects that a property of a row leads to, in order.
    func targets(_ address: PlainAddress, _ name: String) -> [PlainAddress] {
        let property = classes[address.type].property(name)
        guard let row = row(address), let target = property.target else { return [] }
        return elements(row, property)
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
        case .insert(let birth): bear(birth, &writes)
        case .set(let address, let name, let value):
            change(address, name, &writes) { $0.values[name] = value }
        case .assign(let address, let name, let values):
            let isSet = classes[address.type].property(name).collection == .set
            change(address, name, &writes) { $0.lists[name] = isSet ? Self.members(values) : values }
        case .insertElement(let address, let name, let value, let index):
            change(address, name, &writes) { $0.lists[name]!.insert(value, at: index) }
        case .replaceElement(let address, let name, let value, let index):
            change(address, name, &writes) { $0.lists[name]![index] = value }
        case .removeElement(let address, let name, let index):
            change(address, name, &writes) { $0.lists[name]!.remove(at: index) }
        case .moveElement(let address, let name, let from, let to):
            change(address, name, &writes) { $0.lists[name]!.insert($0.lists[name]!.remove(at: from), at: to) }
        case .insertMember(let address, let name, let value):
            change(address, name, &writes) { $0.lists[name] = Self.members($0.lists[name]! + [value]) }
        case .removeMember(let address, let name, let value):
            change(address, name, &writes) { $0.lists[name]!.removeAll { $0.hasPlace(of: value) } }
        case .assignEntries(let address, let name, let entries):
            change(address, name, &writes) { $0.maps[name] = entries }
        case .setEntry(let address, let name, let key, let value):
            change(address, name, &writes) { $0.maps[name]![key] = value }
        case .removeEntry(let address, let name, let key):
            change(address, name, &writes) { $0.maps[name]![key] = nil }
        case .removeAll(let address, let name):
            change(address, name, &writes) {
                if $0.maps[name] != nil { $0.maps[name] = [:] } else { $0.lists[name] = [] }
            }
        case .assignEmbedded(let address, let name, let births):
            for (_, birth) in births { bear(birth, &writes) }
            let links = births.map { ($0.name, PlainValue.link($0.1.address.serial)) }
            change(address, name, &writes) {
                if $0.maps[name] != nil {
                    $0.maps[name] = Dictionary(uniqueKeysWithValues: links)
                } else {
                    $0.lists[name] = links.map(\.1)
                }
            }
        case .embed(let address, let name, let place, let birth):
            bear(birth, &writes)
            let link = PlainValue.link(birth.address.serial)
            change(address, name, &writes) {
                switch place {
                case .single: $0.values[name] = link
                case .before(let index): $0.lists[name]!.insert(link, at: index)
                case .at(let index): $0.lists[name]![index] = link
                case .name(let key): $0.maps[name]![key] = link
                }
            }
        case .delete(let address): delete(address, &writes)
        case .deleteAll:
            for type in classes.indices {
                freeIDs[type] += rows[type].values.map(\.id)
                rows[type] = [:]
            }
            writes = [:]
        }
    }

    private mutating func bear(_ birth: PlainBirth, _ writes: inout PlainWrites) {
        rows[birth.address.type][birth.address.serial] = birth.row
        writes[birth.address, default: []].formUnion(classes[birth.address.type].properties.map(\.name))
    }

    /// Writes a property of a row; embedded objects that it holds no longer are gone.
    private mutating func change(
        _ address: PlainAddress,
        _ name: String,
        _ writes: inout PlainWrites,
        _ body: (inout PlainRow) -> Void
    ) {
        let isOwner = isEmbedded(classes[address.type].property(name))
        let before = isOwner ? targets(address, name) : []
        body(&rows[address.type][address.serial]!)
        writes[address, default: []].insert(name)
        guard isOwner else { return }
        let after = Set(targets(address, name))
        for orphan in before where !after.contains(orphan) { delete(orphan, &writes) }
    }

    /// Deletes a row with what it owns.
    private mutating func delete(_ address: PlainAddress, _ writes: inout PlainWrites) {
        var doomed = [address]
        while let next = doomed.popLast() {
            guard row(next) != nil else { continue }
            for property in classes[next.type].properties where isEmbedded(property) {
                doomed += targets(next, property.name)
            }
            freeIDs[next.type].append(rows[next.type].removeValue(forKey: next.serial)!.id)
            writes[next] = nil
            unlink(next, &writes)
        }
    }

    /// Links become null, those in maps too; lists and sets lose what is gone.
    private mutating func unlink(_ address: PlainAddress, _ writes: inout PlainWrites) {
        let link = PlainValue.link(address.serial)
        for type in classes.indices {
            for property in classes[type].properties where property.isLink && property.target == address.type {
                let name = property.name
                for (serial, row) in rows[type] where elements(row, property).contains(link) {
                    switch property.collection {
                    case .none: rows[type][serial]!.values[name] = .null
                    case .list, .set: rows[type][serial]!.lists[name]!.removeAll { $0 == link }
                    case .map: rows[type][serial]!.maps[name] = row.maps[name]!.mapValues { $0 == link ? .null : $0 }
                    }
                    writes[PlainAddress(type: type, serial: serial), default: []].insert(name)
                }
            }
        }
    }

    /// Values as a set holds them: the first of each place in the order, in order.
    static func members(_ values: [PlainValue]) -> [PlainValue] { firsts(values) { $0 }.sorted { $0.precedes($1) } }

    /// Elements of which no other one before them has a value with the same place.
    static func firsts<Element>(_ elements: [Element], _ value: (Element) -> PlainValue) -> [Element] {
        var seen: [PlainValue] = []
        return elements.filter { element in
            let value = value(element)
            if seen.contains(where: { $0.hasPlace(of: value) }) { return false }
            seen.append(value)
            return true
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

    /// The serial numbers of the objects of a class that count as modified.
    func modified(_ type: Int, _ keyPaths: [String]?, _ writes: PlainWrites) -> Set<Int> {
        guard let keyPaths else { return Set(reaching(writes).filter { $0.type == type }.map(\.serial)) }
        let paths = keyPaths.map { $0.split(separator: ".").map(String.init)[...] }
        return Set(
            serials(type)
                .filter { serial in
                    paths.contains { isWritten($0, PlainAddress(type: type, serial: serial), writes) }
                }
        )
    }
}

extension PlainValue {
    /// Below 0 when the left value comes first in the order that `Docs/Queries.md` promises.
    private static func order(_ left: PlainValue, _ right: PlainValue) -> Int {
        switch (left, right) {
        case (.link(let one), .link(let other)): (one - other).signum()
        case (.link, _): 1
        case (_, .link): -1
        default: SpecimenValue.order(left.specimen, right.specimen)
        }
    }

    /// Whether a value comes before another one.
    func precedes(_ other: PlainValue) -> Bool { Self.order(self, other) < 0 }

    /// Whether both have the same place in the order.
    func hasPlace(of other: PlainValue) -> Bool { Self.order(self, other) == 0 }
}
