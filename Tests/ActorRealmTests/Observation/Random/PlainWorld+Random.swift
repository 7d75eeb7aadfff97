import ActorRealm
import RealmModel
import RealmTestSupport

/// Random classes, and what happens to their objects at random.
extension PlainWorld {
    /// An operation that fits the world; nil where there is nothing for it.
    mutating func randomOperation(_ random: inout SplitMix64) -> PlainOperation? {
        let favourites = favourites.filter { row($0) != nil }
        if !favourites.isEmpty, Bool.random(using: &random) {
            let address = favourites.randomElement(using: &random)!
            return operation(on: address, .random(in: 36..<100, using: &random), &random)
        }
        let type = classes.indices.randomElement(using: &random)!
        let kind = Int.random(in: 0..<100, using: &random)
        // Embedded objects come into being with their owners.
        if kind < 25, !classes[type].isEmbedded { return .insert(birth(type, &random)) }
        guard let serial = serials(type).randomElement(using: &random) else { return nil }
        return operation(on: PlainAddress(type: type, serial: serial), kind, &random)
    }

    private mutating func operation(
        on address: PlainAddress,
        _ kind: Int,
        _ random: inout SplitMix64
    ) -> PlainOperation? {
        let (type, serial) = (address.type, address.serial)
        if kind < (classes[type].isEmbedded ? 7 : 37) { return .delete(address) }
        let collections = classes[type].collections
        if kind < 62 || collections.isEmpty {
            let property = classes[type].properties.filter { $0.isSingle && $0.origin == nil }
                .randomElement(using: &random)!
            let old = rows[type][serial]!.values[property.name]!
            if isEmbedded(property) {
                if old != .null, Int.random(in: 0..<3, using: &random) == 0 {
                    return .set(address, property.name, .null)
                }
                return .embed(address, property.name, .single, birth(property.target!, &random))
            }
            // A value that is there already is written, too.
            let value = Int.random(in: 0..<5, using: &random) == 0 ? old : randomValue(property, &random)
            return .set(address, property.name, value)
        }
        let property = collections.randomElement(using: &random)!
        if isEmbedded(property) { return embedding(address, property, kind, &random) }
        switch property.collection {
        case .map: return mapOperation(address, property, kind, &random)
        case .set: return setOperation(address, property, kind, &random)
        default: return listOperation(address, property, kind, &random)
        }
    }

    private func listOperation(
        _ address: PlainAddress,
        _ property: PlainProperty,
        _ kind: Int,
        _ random: inout SplitMix64
    ) -> PlainOperation? {
        let count = row(address)!.lists[property.name]!.count
        switch kind {
        case ..<66: return .assign(address, property.name, randomElements(property, &random))
        case ..<80:
            let value = randomValue(property, &random)
            if value == .null, property.isLink { return nil }
            return .insertElement(address, property.name, value, .random(in: 0...count, using: &random))
        case _ where count == 0: return nil
        case ..<87: return .removeElement(address, property.name, .random(in: 0..<count, using: &random))
        case ..<92:
            let value = randomValue(property, &random)
            if value == .null, property.isLink { return nil }
            return .replaceElement(address, property.name, value, .random(in: 0..<count, using: &random))
        case ..<94: return .removeAll(address, property.name)
        default:
            let from = Int.random(in: 0..<count, using: &random)
            return .moveElement(address, property.name, from, .random(in: 0..<count, using: &random))
        }
    }

    private func setOperation(
        _ address: PlainAddress,
        _ property: PlainProperty,
        _ kind: Int,
        _ random: inout SplitMix64
    ) -> PlainOperation? {
        let members = row(address)!.lists[property.name]!
        switch kind {
        case ..<68: return .assign(address, property.name, randomElements(property, &random))
        case ..<85:
            let value = randomValue(property, &random)
            if value == .null && property.isLink || members.contains(where: value.hasPlace(of:)) { return nil }
            return .insertMember(address, property.name, value)
        case ..<97:
            guard let member = members.randomElement(using: &random) else { return nil }
            // It goes by any value of its place.
            let others = (0..<8).map { _ in randomValue(property, &random) }
            return .removeMember(address, property.name, others.first(where: member.hasPlace(of:)) ?? member)
        default: return members.isEmpty ? nil : .removeAll(address, property.name)
        }
    }

    private func mapOperation(
        _ address: PlainAddress,
        _ property: PlainProperty,
        _ kind: Int,
        _ random: inout SplitMix64
    ) -> PlainOperation? {
        let entries = row(address)!.maps[property.name]!
        switch kind {
        case ..<68: return .assignEntries(address, property.name, randomEntries(property, &random))
        case ..<87:
            let key = Self.names.randomElement(using: &random)!
            return .setEntry(address, property.name, key, randomValue(property, &random))
        case ..<97:
            return entries.keys.sorted().randomElement(using: &random).map { .removeEntry(address, property.name, $0) }
        default: return entries.isEmpty ? nil : .removeAll(address, property.name)
        }
    }

    /// Embedded objects in lists and maps.
    private mutating func embedding(
        _ address: PlainAddress,
        _ property: PlainProperty,
        _ kind: Int,
        _ random: inout SplitMix64
    ) -> PlainOperation? {
        let name = property.name
        if kind < 66 {
            // A dictionary says nothing of the order in which its objects come into being.
            let most = property.collection == .map ? 1 : 3
            let names = Self.names.shuffled(using: &random).prefix(.random(in: 0...most, using: &random))
            var births: [(name: PlainText, PlainBirth)] = []
            for name in Self.unlike(names) { births.append((name, birth(property.target!, &random))) }
            return .assignEmbedded(address, name, births)
        }
        if property.collection == .map {
            let key = Self.names.randomElement(using: &random)!
            switch kind {
            case ..<88: return .embed(address, name, .name(key), birth(property.target!, &random))
            case ..<92: return .setEntry(address, name, key, .null)
            case ..<98:
                return row(address)!.maps[name]!.keys.sorted().randomElement(using: &random)
                    .map { .removeEntry(address, name, $0) }
            default: return row(address)!.maps[name]!.isEmpty ? nil : .removeAll(address, name)
            }
        }
        let count = row(address)!.lists[name]!.count
        switch kind {
        case ..<82:
            let index = Int.random(in: 0...count, using: &random)
            return .embed(address, name, .before(index), birth(property.target!, &random))
        case _ where count == 0: return nil
        case ..<88:
            let index = Int.random(in: 0..<count, using: &random)
            return .embed(address, name, .at(index), birth(property.target!, &random))
        case ..<93: return .removeElement(address, name, .random(in: 0..<count, using: &random))
        case ..<95: return .removeAll(address, name)
        default:
            let from = Int.random(in: 0..<count, using: &random)
            return .moveElement(address, name, from, .random(in: 0..<count, using: &random))
        }
    }

    /// A new object, one time in two with an id that was there before; it has no embedded ones yet.
    mutating func birth(_ type: Int, _ random: inout SplitMix64) -> PlainBirth {
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
        row.values["id"] = .value(.int(id))
        for property in classes[type].properties where property.origin == nil {
            switch property.collection {
            case .none: row.values[property.name] = randomValue(property, &random)
            case .list: row.lists[property.name] = randomElements(property, &random)
            case .set: row.lists[property.name] = Self.members(randomElements(property, &random))
            case .map: row.maps[property.name] = randomEntries(property, &random)
            }
        }
        return PlainBirth(address: PlainAddress(type: type, serial: lastSerial), row: row)
    }

    private func randomElements(_ property: PlainProperty, _ random: inout SplitMix64) -> [PlainValue] {
        if isEmbedded(property) { return [] }
        return (0..<Int.random(in: 0...4, using: &random)).map { _ in randomValue(property, &random) }
            .filter { $0 != .null || !property.isLink }
    }

    private func randomEntries(_ property: PlainProperty, _ random: inout SplitMix64) -> [PlainText: PlainValue] {
        if isEmbedded(property) { return [:] }
        var entries: [PlainText: PlainValue] = [:]
        for name in Self.unlike(Self.names.shuffled(using: &random).prefix(.random(in: 0...3, using: &random))) {
            entries[name] = randomValue(property, &random)
        }
        return entries
    }

    /// The names in maps.
    private static let names: [PlainText] = ["", "a", "a\0", "b", "B", "bb", "\u{E9}", "e\u{301}"]
    private static let texts = ["", "a", "A", "ab", "abc", "Abc", "b", "bc", "zz"]

    /// Names of which a dictionary of Swift takes no two for one.
    private static func unlike(_ names: some Sequence<PlainText>) -> [PlainText] {
        var known: Set<String> = []
        return names.filter { known.insert($0.string).inserted }
    }

    /// A value from a small set, so that comparisons hit; one in three is at the edges of its type.
    func randomValue(_ property: PlainProperty, _ random: inout SplitMix64) -> PlainValue {
        if let target = property.target {
            if isEmbedded(property) || Int.random(in: 0..<4, using: &random) == 0 { return .null }
            return serials(target).randomElement(using: &random).map { .link($0) } ?? .null
        }
        if property.isOptional, Int.random(in: 0..<4, using: &random) == 0 { return .null }
        if Int.random(in: 0..<3, using: &random) == 0 { return .value(.edge(property.valueKind, &random)) }
        let kinds: [SpecimenKind] = [.int, .int, .double, .text, .flag]
        switch property.valueKind == .any ? kinds.randomElement(using: &random)! : property.valueKind {
        case .flag: return .value(.flag(Bool.random(using: &random)))
        case .text: return .value(.text(Self.texts.randomElement(using: &random)!))
        case .int: return .value(.int(.random(in: -4...4, using: &random)))
        case .float: return .value(.float(Float(Int.random(in: -6...6, using: &random)) / 2))
        case .date: return .value(.date(Double(Int.random(in: -6...6, using: &random)) / 2))
        case .decimal: return .value(.decimal("\(Decimal128(Double(Int.random(in: -6...6, using: &random)) / 2))"))
        default: return .value(.double(Double(Int.random(in: -6...6, using: &random)) / 2))
        }
    }

    /// Random classes: scalars of every kind, links, embedded objects, collections of them and of values, and what links
    /// back.
    static func randomClasses(_ random: inout SplitMix64) -> [PlainClass] {
        let count = Int.random(in: 1...3, using: &random)
        let embeddedCount = Int.random(in: 0...2, using: &random)
        var classes: [PlainClass] = []
        for number in 0..<count + embeddedCount {
            let isEmbedded = number >= count
            var properties = randomScalars(&random)
            func add(_ name: String, _ most: Int, _ collection: CollectionKind, _ targets: Range<Int>) {
                for index in 0..<Int.random(in: 0...most, using: &random) where !targets.isEmpty {
                    properties.append(
                        PlainProperty(
                            name: "\(name)\(index)",
                            kind: .object,
                            isOptional: collection == .none || collection == .map,
                            collection: collection,
                            target: .random(in: targets, using: &random)
                        )
                    )
                }
            }
            add("link", 2, .none, 0..<count)
            add("many", isEmbedded ? 1 : 2, .list, 0..<count)
            add("some", 1, .set, 0..<count)
            add("named", 1, .map, 0..<count)
            let embedded = count..<count + embeddedCount
            add("part", isEmbedded ? 1 : 2, .none, embedded)
            add("parts", 1, .list, embedded)
            add("places", 1, .map, embedded)
            for collection in [CollectionKind.list, .set, .map] where Bool.random(using: &random) {
                let kinds: [PropertyKind] = [.int, .string, .double, .date, .decimal128, .any, .any]
                let kind = kinds.randomElement(using: &random)!
                properties.append(
                    PlainProperty(
                        name: "\(collection)0",
                        kind: kind,
                        isOptional: kind == .any || Int.random(in: 0..<3, using: &random) == 0,
                        collection: collection
                    )
                )
            }
            classes.append(
                PlainClass(
                    name: isEmbedded ? "E\(number)" : "C\(number)",
                    hasPrimaryKey: !isEmbedded && Bool.random(using: &random),
                    isEmbedded: isEmbedded,
                    properties: properties
                )
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

    private static func randomScalars(_ random: inout SplitMix64) -> [PlainProperty] {
        let kinds: [PropertyKind] = [
            .int, .int, .string, .string, .double, .float, .bool, .date, .decimal128, .any, .any,
        ]
        return (0..<Int.random(in: 1...6, using: &random))
            .map { index in
                let kind = kinds.randomElement(using: &random)!
                return PlainProperty(
                    name: "p\(index)",
                    kind: kind,
                    isOptional: kind == .any || Bool.random(using: &random),
                    isIndexed: [.int, .string, .bool, .date].contains(kind)
                        && Int.random(in: 0..<3, using: &random) == 0
                )
            }
    }
}
