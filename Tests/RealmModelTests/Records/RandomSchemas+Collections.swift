import RealmModel
import RealmTestSupport

extension RandomSchemas {
    // MARK: Lists

    mutating func changeList(_ property: PropertySchema, of place: PlainPlace, _ table: TableView) throws {
        guard case .list(var elements) = plain.value(property.name, of: place) else { return }
        let (ordinal, key, count) = (table.ordinal(property.name), place.key, elements.count)
        switch random.below(12) {
        case 0..<5:
            for _ in 0...random.below(random.chance(8) ? 150 : 3) {
                guard let value = try value(property, in: table.model) else { return }
                let position = random.below(elements.count + 1)
                if position == elements.count {
                    try table.listAppend(ordinal, key: key, value)
                } else {
                    try table.listInsert(ordinal, key: key, at: position, value)
                }
                elements.insert(plainValue(value, property, table), at: position)
                plain.put(.list(elements), property, of: place)
            }
        case 5 where count > 0:
            guard let value = try value(property, in: table.model) else { return }
            let position = random.below(count)
            try table.listReplace(ordinal, key: key, at: position, with: value)
            elements[position] = plainValue(value, property, table)
        case 6 where count > 0:
            let position = random.below(count)
            try table.listRemove(ordinal, key: key, at: position)
            elements.remove(at: position)
        case 7:
            let start = random.below(count + 1)
            let end = start + random.below(count - start + 1)
            try table.listRemove(ordinal, key: key, in: start..<end)
            elements.removeSubrange(start..<end)
        case 8 where count > 0:
            let (source, destination) = (random.below(count), random.below(count))
            try table.listMove(ordinal, key: key, from: source, to: destination)
            elements.insert(elements.remove(at: source), at: destination)
        case 9 where count > 0:
            let (first, second) = (random.below(count), random.below(count))
            try table.listSwap(ordinal, key: key, first, second)
            elements.swapAt(first, second)
        case 10:
            // Some of what it holds, in another order: embedded objects among them stay.
            let places = Array((0..<count).shuffled(using: &random).prefix(random.below(count + 1)))
            let stored = try table.list(ordinal, key: key).values()
            try table.listAssign(ordinal, key: key, places.map { stored[$0] })
            elements = places.map { elements[$0] }
        case 11 where random.chance(30):
            try table.listRemoveAll(ordinal, key: key)
            elements = []
        default: return
        }
        plain.put(.list(elements), property, of: place)
    }

    // MARK: Sets

    mutating func changeSet(_ property: PropertySchema, of place: PlainPlace, _ table: TableView) throws {
        guard case .set(var elements) = plain.value(property.name, of: place) else { return }
        let (ordinal, key) = (table.ordinal(property.name), place.key)
        switch random.below(8) {
        case 0..<4:
            for _ in 0...random.below(random.chance(8) ? 150 : 3) {
                guard let value = try value(property, in: table.model) else { break }
                try table.setInsert(ordinal, key: key, value)
                PlainValue.insert(plainValue(value, property, table), into: &elements)
            }
        case 4, 5:
            guard let value = element(of: try table.list(ordinal, key: key).values()) else { return }
            try table.setRemove(ordinal, key: key, value)
            let removed = plainValue(value, property, table)
            elements = elements.filter { $0.identity != removed.identity }
        case 6:
            guard let value = try value(property, in: table.model) else { return }
            try table.setRemove(ordinal, key: key, value)
            let removed = plainValue(value, property, table)
            elements = elements.filter { $0.identity != removed.identity }
        default:
            var values: [StoredValue] = []
            for _ in 0..<random.below(6) {
                if let value = try value(property, in: table.model) { values.append(value) }
            }
            try table.setAssign(ordinal, key: key, values)
            elements = []
            // Of several that are the same the first counts.
            for value in values { PlainValue.insert(plainValue(value, property, table), into: &elements) }
        }
        plain.put(.set(elements), property, of: place)
    }

    // MARK: Dictionaries

    mutating func changeMap(_ property: PropertySchema, of place: PlainPlace, _ table: TableView) throws {
        guard case .map(var entries) = plain.value(property.name, of: place) else { return }
        let (ordinal, key) = (table.ordinal(property.name), place.key)
        switch random.below(8) {
        case 0..<5:
            let isLarge = random.chance(8)
            for _ in 0...random.below(isLarge ? 150 : 3) {
                let name = "name \(random.below(isLarge ? 400 : 6))"
                guard let value = try value(property, in: table.model) else { return }
                try table.mapSet(ordinal, key: key, name, to: value)
                entries[name] = plainValue(value, property, table)
                plain.put(.map(entries), property, of: place)
            }
        case 5, 6:
            let name = element(of: entries.keys.sorted()) ?? "no name"
            try table.mapRemove(ordinal, key: key, name)
            entries[name] = nil
        default:
            var assigned: [StoredEntry] = []
            entries = [:]
            for index in (0..<random.below(5)).reversed() {
                guard let value = try value(property, in: table.model) else { break }
                assigned.append(StoredEntry(key: "name \(index)", value: value))
                entries["name \(index)"] = plainValue(value, property, table)
            }
            try table.mapAssign(ordinal, key: key, assigned)
        }
        plain.put(.map(entries), property, of: place)
    }
}
