import RealmModel
import RealmStorage
import RealmTestSupport

/// Declarations that change at random, and rows for them.
struct RandomSchemas {
    private var random: SplitMix64
    private(set) var classes: [ClassSchema] = []
    private var count = 0

    init(random: SplitMix64) {
        self.random = random
        add()
        add()
    }

    private mutating func add() {
        count += 1
        var properties = [PropertySchema(name: "a\(count)", kind: .int), property()]
        if random.chance(50) { properties[0].isPrimaryKey = true }
        classes.append(ClassSchema(name: "Class\(count)", properties: properties))
    }

    private mutating func property() -> PropertySchema {
        count += 1
        let name = "p\(count)"
        if let target = classes.randomElement(using: &random)?.name, random.chance(30) {
            let rule: DeleteRule = random.chance(20) ? .cascade : .nullify
            return PropertySchema(
                name: name,
                kind: .object,
                collection: random.chance(50) ? .none : random.chance(50) ? .list : .set,
                deleteRule: rule,
                targetClass: target
            )
        }
        let kinds: [PropertyKind] = [.int, .bool, .string, .data, .date, .double, .float, .objectId, .uuid, .any]
        let kind = kinds[random.below(kinds.count)]
        if random.chance(25) {
            let collections: [CollectionKind] = [.list, .set, .map]
            return PropertySchema(
                name: name,
                kind: kind,
                collection: collections[random.below(3)],
                isOptional: kind == .any
            )
        }
        return PropertySchema(
            name: name,
            kind: kind,
            isOptional: random.chance(40),
            isIndexed: kind.isIndexable && random.chance(40)
        )
    }

    /// Adds, takes away or changes a class, a property or an index.
    mutating func change() {
        let index = random.below(classes.count)
        let schema = classes[index]
        var properties = schema.properties
        switch random.below(8) {
        case 0: add()
        case 1 where classes.count > 2:
            classes.remove(at: index)
            for other in classes.indices {
                classes[other] = ClassSchema(
                    name: classes[other].name,
                    properties: classes[other].properties.filter { $0.targetClass != schema.name }
                )
            }
            return
        case 2, 3: properties.append(property())
        case 4 where properties.count > 1: properties.remove(at: 1 + random.below(properties.count - 1))
        case 5:
            let place = random.below(properties.count)
            guard properties[place].canBeIndexed, !properties[place].isPrimaryKey else { return }
            properties[place].isIndexed.toggle()
        case 6:
            let place = random.below(properties.count)
            guard properties[place].collection == .none, !properties[place].isLink, properties[place].kind != .any,
                !properties[place].isPrimaryKey
            else { return }
            properties[place].isOptional.toggle()
        default: properties.shuffle(using: &random)
        }
        guard let place = classes.firstIndex(where: { $0.name == schema.name }) else { return }
        classes[place] = ClassSchema(name: schema.name, properties: properties)
    }

    /// Adds, changes or deletes a row.
    mutating func changeRow(in model: ModelView) throws {
        guard let schema = classes.randomElement(using: &random), let table = try model.table(named: schema.name)
        else { return }
        count += 1
        if table.count > 0, random.chance(10) {
            return try table.delete(key: table.key(at: random.below(table.count))!)
        }
        let isNew = table.count == 0 || random.chance(50)
        let hasKey = table.schema.primaryKeyOrdinal != nil
        let key =
            isNew
            ? try table.insert(primaryKey: hasKey ? .int(Int64(count)) : nil)
            : try table.key(at: random.below(table.count))!
        for (ordinal, property) in table.schema.properties.enumerated() where !property.isPrimaryKey {
            guard random.chance(60) else { continue }
            if property.isLink {
                guard let target = try model.table(named: property.targetClass!), target.count > 0 else { continue }
                let link = StoredValue.link(try target.key(at: random.below(target.count))!)
                try put(link, property, ordinal, key, table)
            } else {
                try put(value(property), property, ordinal, key, table)
            }
        }
    }

    private mutating func put(
        _ value: StoredValue,
        _ property: PropertySchema,
        _ ordinal: Int,
        _ key: Int64,
        _ table: TableView
    ) throws {
        switch property.collection {
        case .none: try table.set(ordinal, key: key, to: value)
        case .list: try table.listAppend(ordinal, key: key, value)
        case .set: try table.setInsert(ordinal, key: key, value)
        case .map: try table.mapSet(ordinal, key: key, "name \(random.below(5))", to: value)
        }
    }

    private mutating func value(_ property: PropertySchema) -> StoredValue {
        if property.kind == .any { return .string(random.string()) }
        var value = random.value(of: property.kind, isOptional: property.isOptional)
        if case .string(let text) = value { value = .string(String(text.prefix(200))) }
        return value
    }
}
