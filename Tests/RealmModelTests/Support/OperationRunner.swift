import RealmModel
import RealmTestSupport
import Testing

/// Does random operations to a database and to its reference.
struct OperationRunner {
    let database: TestDatabase
    var reference: ReferenceDatabase
    var random: SplitMix64

    /// A random row of a class.
    private mutating func row(_ table: Int) -> Int64? {
        let keys = reference.tables[table].keys
        return keys.isEmpty ? nil : keys.sorted()[random.below(keys.count)]
    }

    mutating func runOne() throws {
        let index = random.below(2)
        let view = try database.table(reference.schemas[index].name)
        switch random.below(100) {
        case 0..<30: try insert(index, view)
        case 30..<38:
            guard let key = row(index) else { return }
            try view.delete(key: key)
            reference.delete(key, in: index)
        case 38..<39:
            guard random.chance(20) else { return }
            try view.deleteAll()
            for key in reference.tables[index].keys.sorted() { reference.delete(key, in: index) }
        default:
            let changed = random.chance(15) ? 2 : index
            guard let key = row(changed) else { return }
            try change(changed, key, try database.table(reference.schemas[changed].name))
        }
    }

    private mutating func insert(_ index: Int, _ view: TableView) throws {
        let property = reference.schemas[index].primaryKey!
        var value = random.value(of: property.kind, isOptional: property.isOptional)
        // Longer ones are refused.
        if case .string(let text) = value { value = .string(String(text.prefix(256))) }
        if index == 0, random.chance(50) { value = .int(reference.nextKeys[0] * 7 + 100) }
        let ordinal = reference.schemas[index].primaryKeyOrdinal!
        let existing = reference.tables[index].first { $0.value[ordinal] == .single(value) }?.key
        #expect(try view.find(primaryKey: value) == existing)
        if let existing {
            #expect(
                throws: ModelError.duplicatePrimaryKey(
                    className: view.schema.name,
                    property: property.name,
                    value: TableView.describe([value]),
                    existing: existing
                )
            ) { try view.insert(primaryKey: value) }
            return
        }
        let key = try view.insert(primaryKey: value)
        reference.insert(index, key: key, primaryKey: value)
        for _ in 0..<random.below(4) { try change(index, key, view) }
    }

    private mutating func change(_ index: Int, _ key: Int64, _ view: TableView) throws {
        let ordinal = random.below(reference.schemas[index].properties.count)
        let property = reference.schemas[index].properties[ordinal]
        guard property.isStored, !property.isPrimaryKey else { return }
        if property.collection == .list {
            try changeList(index, key, ordinal, property, view)
            return
        }
        guard let value = try value(property) else { return }
        let old = reference.tables[index][key]![ordinal]
        try view.set(ordinal, key: key, to: value)
        reference.tables[index][key]![ordinal] = .single(value)
        if old != .single(value) { reference.deleteOwned(property, old) }
    }

    /// A value for a property or an element: for a link a row, newly made where the class is embedded.
    private mutating func value(_ property: PropertySchema) throws -> StoredValue? {
        guard property.isLink else { return random.value(of: property.kind, isOptional: property.isOptional) }
        if property.collection == .none, random.chance(20) { return .null }
        let target = reference.table(named: property.targetClass!)
        if reference.schemas[target].isEmbedded {
            let key = try database.table(property.targetClass!).insert()
            reference.insert(target, key: key, primaryKey: nil)
            return .link(key)
        }
        return row(target).map { .link($0) }
    }

    private mutating func changeList(
        _ index: Int,
        _ key: Int64,
        _ ordinal: Int,
        _ property: PropertySchema,
        _ view: TableView
    ) throws {
        guard case .list(var elements) = reference.tables[index][key]![ordinal] else { return }
        let old = elements
        switch random.below(12) {
        case 0..<4:
            for _ in 0...random.below(random.chance(10) ? 120 : 3) {
                guard let value = try value(property) else { return }
                let position = random.below(elements.count + 1)
                try view.listInsert(ordinal, key: key, at: position, value)
                elements.insert(value, at: position)
                reference.tables[index][key]![ordinal] = .list(elements)
            }
        case 4, 5:
            guard let value = try value(property) else { return }
            try view.listAppend(ordinal, key: key, value)
            elements.append(value)
        case 6:
            guard !elements.isEmpty, let value = try value(property) else { return }
            let position = random.below(elements.count)
            try view.listReplace(ordinal, key: key, at: position, with: value)
            elements[position] = value
        case 7:
            guard !elements.isEmpty else { return }
            let position = random.below(elements.count)
            try view.listRemove(ordinal, key: key, at: position)
            elements.remove(at: position)
        case 8:
            let start = random.below(elements.count + 1)
            let end = start + random.below(elements.count - start + 1)
            try view.listRemove(ordinal, key: key, in: start..<end)
            elements.removeSubrange(start..<end)
        case 9:
            guard elements.count > 1 else { return }
            let source = random.below(elements.count)
            let destination = random.below(elements.count)
            try view.listMove(ordinal, key: key, from: source, to: destination)
            elements.insert(elements.remove(at: source), at: destination)
        case 10:
            guard elements.count > 1 else { return }
            let first = random.below(elements.count)
            let second = random.below(elements.count)
            try view.listSwap(ordinal, key: key, first, second)
            elements.swapAt(first, second)
        default:
            guard random.chance(30) else { return }
            elements = Array(elements.shuffled(using: &random).prefix(random.below(elements.count + 1)))
            try view.listAssign(ordinal, key: key, elements)
        }
        reference.tables[index][key]![ordinal] = .list(elements)
        reference.deleteOwned(property, .list(old))
    }

    func compare(with model: ModelView, _ when: String) throws {
        try Self.compare(reference, model, when)
    }

    /// Compares every row, every index and every backlink.
    static func compare(_ reference: ReferenceDatabase, _ model: ModelView, _ when: String) throws {
        for (index, schema) in reference.schemas.enumerated() {
            let view = try #require(try model.table(named: schema.name))
            let rows = reference.tables[index]
            try #require(view.count == rows.count, "\(schema.name) \(when)")
            for (position, key) in rows.keys.sorted().enumerated() {
                try #require(try view.key(at: position) == key, "\(schema.name) \(when)")
                try #require(try view.index(of: key) == position, "\(schema.name) \(when)")
                for (ordinal, value) in rows[key]!.enumerated() where schema.properties[ordinal].isStored {
                    let what = "\(schema.name).\(schema.properties[ordinal].name) of \(key) \(when)"
                    switch value {
                    case .single(let value):
                        try #require(try view.value(ordinal, key: key) == value, "\(what)")
                    case .list(let elements):
                        let list = try view.list(ordinal, key: key)
                        try #require(list.count == elements.count, "\(what)")
                        try #require(try list.values() == elements, "\(what)")
                    }
                }
            }
            try compareIndexes(index, schema, view, reference, when)
        }
    }

    private static func compareIndexes(
        _ index: Int,
        _ schema: ClassSchema,
        _ view: TableView,
        _ reference: ReferenceDatabase,
        _ when: String
    ) throws {
        let rows = reference.tables[index]
        for (ordinal, property) in schema.properties.enumerated() {
            let what = "\(schema.name).\(property.name) \(when)"
            if property.hasIndex {
                var keys: [StoredValue: [Int64]] = [:]
                for key in rows.keys.sorted() {
                    if case .single(let value) = rows[key]![ordinal] { keys[value, default: []].append(key) }
                }
                for (value, expected) in keys {
                    try #require(
                        try view.indexedKeys(property: ordinal, equalTo: value) == expected,
                        "\(value) in \(what)"
                    )
                }
                let all = try view.rangeKeys(property: ordinal, lower: .unbounded, upper: .unbounded)
                try #require(all.sorted() == rows.keys.sorted(), "\(what)")
            }
            guard property.isLink else { continue }
            let target = reference.table(named: property.targetClass!)
            let targets = try #require(try view.model.table(named: property.targetClass!))
            for key in reference.tables[target].keys {
                let expected = reference.links(to: key, in: target)
                    .filter { $0.table == index && $0.property == ordinal }
                    .map(\.key)
                try #require(
                    try targets.backlinkKeys(of: key, from: view.id, property: ordinal) == expected,
                    "\(key) in \(what)"
                )
                try #require(
                    try targets.backlinkCount(of: key, from: view.id, property: ordinal) == expected.count,
                    "\(what)"
                )
            }
        }
    }
}
