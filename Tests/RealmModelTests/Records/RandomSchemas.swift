import RealmModel
import RealmTestSupport

/// Declarations that change at random, and rows for them, beside a plain model of both.
struct RandomSchemas {
    var random: SplitMix64
    /// What the program declares now.
    private(set) var declared: [ClassSchema] = []
    /// What is there, with the classes that are not declared any more.
    var plain = PlainModel()
    /// How many names and unique values were given out.
    var count = 0
    /// How many operations on rows and migrations were asked for, also by transactions that were rolled back.
    var operationCount = 0

    init(random: SplitMix64) throws {
        self.random = random
        addClass(isEmbedded: true)
        addClass(isEmbedded: false)
        addClass(isEmbedded: false)
        dropWhatLeadsNowhere()
        var migration = RandomMigration()
        migration.declared = declared
        try plain.migrate(migration)
    }

    /// Goes back to what was before a transaction that was rolled back.
    mutating func rollBack(to before: RandomSchemas) {
        plain.rollBack(to: before.plain)
        declared = before.declared
    }

    mutating func element<Element>(of list: [Element]) -> Element? {
        list.isEmpty ? nil : list[random.below(list.count)]
    }

    private mutating func name(_ prefix: String) -> String {
        count += 1
        return "\(prefix)\(count)"
    }

    // MARK: Classes and properties

    private mutating func addClass(isEmbedded: Bool) {
        var first = PropertySchema(name: name("a"), kind: .int)
        if !isEmbedded, random.chance(50) {
            let kinds: [PropertyKind] = [.int, .string, .objectId, .uuid]
            first = PropertySchema(name: first.name, kind: kinds[random.below(4)], isPrimaryKey: true)
        }
        let className = name("Class")
        declared.append(ClassSchema(name: className, properties: [first], isEmbedded: isEmbedded))
        for _ in 0..<3 + random.below(4) { append(to: declared.count - 1) }
    }

    private mutating func append(to place: Int) {
        let schema = declared[place]
        let property = property(of: schema)
        declared[place] = schema.with(schema.properties + [property], schema.compoundIndexes)
    }

    private mutating func property(of owner: ClassSchema) -> PropertySchema {
        let name = name("p")
        switch random.below(100) {
        case 0..<35: return link(name, of: owner)
        case 35..<48: return computed(name, of: owner) ?? single(name, of: owner)
        default: return single(name, of: owner)
        }
    }

    private mutating func link(_ name: String, of owner: ClassSchema) -> PropertySchema {
        let target = declared[random.below(declared.count)]
        var collections: [CollectionKind] = [.none, .none, .list, .map]
        if !target.isEmbedded { collections.append(.set) }
        let collection = collections[random.below(collections.count)]
        return PropertySchema(
            name: name,
            kind: .object,
            collection: collection,
            isOptional: collection == .map && random.chance(50),
            deleteRule: owner.isEmbedded || target.isEmbedded ? .nullify : deleteRule(),
            targetClass: target.name
        )
    }

    private mutating func deleteRule() -> RealmModel.DeleteRule {
        switch random.below(100) {
        case 0..<20: .cascade
        case 20..<40: .deny
        default: .nullify
        }
    }

    /// A property that finds what links to its object, if something can.
    private mutating func computed(_ name: String, of owner: ClassSchema) -> PropertySchema? {
        let links = declared.flatMap { schema in
            schema.properties.filter { $0.isLink && $0.targetClass == owner.name }.map { (schema.name, $0.name) }
        }
        guard let (className, property) = element(of: links) else { return nil }
        return PropertySchema(
            name: name,
            kind: .linkingObjects,
            targetClass: className,
            originProperty: property
        )
    }

    private mutating func single(_ name: String, of owner: ClassSchema) -> PropertySchema {
        let kinds: [PropertyKind] = [
            .int, .bool, .string, .data, .date, .double, .float, .objectId, .uuid, .decimal128, .any,
        ]
        let kind = kinds[random.below(kinds.count)]
        if random.chance(35) {
            let collections: [CollectionKind] = [.list, .set, .map]
            return PropertySchema(
                name: name,
                kind: kind,
                collection: collections[random.below(3)],
                isOptional: random.chance(50)
            )
        }
        return PropertySchema(
            name: name,
            kind: kind,
            isOptional: random.chance(40),
            isIndexed: kind.isIndexable && random.chance(30),
            isUnique: kind.isIndexable && kind != .bool && !owner.isEmbedded && random.chance(15)
        )
    }

    // MARK: Migrations

    /// Changes what is declared, and says how a database gets there.
    mutating func change() -> RandomMigration {
        operationCount += 1
        var migration = RandomMigration()
        let choice = random.below(12)
        let place = random.below(declared.count)
        if choice == 0, plain.classes.count > 3, let removed = element(of: plain.classes.map(\.name)),
            declared.count > 2 || !declared.contains(where: { $0.name == removed })
        {
            migration.removedClass = removed
            declared.removeAll { $0.name == removed }
        } else if choice == 1, declared.count > 2 {
            // It stays in the file with its rows.
            declared.remove(at: place)
        } else if choice == 2, !declared[place].name.hasPrefix("Renamed") {
            let old = declared[place].name
            let new = name("Renamed")
            let schema = declared[place]
            declared[place] = schema.with(name: new, schema.properties, schema.compoundIndexes, formerNames: [old])
            declared = declared.map { $0.retargeting { $0 == old ? new : $0 } }
            migration.renamedClass = (old, new)
        } else {
            for _ in 0...random.below(4) { changeClass(at: random.below(declared.count), &migration) }
        }
        dropWhatLeadsNowhere()
        migration.declared = declared
        return migration
    }

    private mutating func changeClass(at place: Int, _ migration: inout RandomMigration) {
        let schema = declared[place]
        var properties = schema.properties
        var indexes = schema.compoundIndexes
        let index = random.below(properties.count)
        let property = properties[index]
        let isSingle = property.canBeIndexed && !property.isPrimaryKey
        switch random.below(14) {
        case 0: return addClass(isEmbedded: random.chance(35))
        case 1, 2: return append(to: place)
        case 3, 4: properties.remove(at: index)
        case 5 where isSingle:
            properties[index].isIndexed.toggle()
            if !properties[index].isIndexed { properties[index].isUnique = false }
        case 6 where isSingle && property.kind != .bool && !schema.isEmbedded:
            properties[index].isUnique.toggle()
            if properties[index].isUnique { properties[index].isIndexed = true }
        case 7, 8: changeOptionality(&properties[index])
        case 9 where property.isStored && !property.isPrimaryKey:
            var other = random.chance(70) ? single(property.name, of: schema) : link(property.name, of: schema)
            // Nothing is indexed over a property that no index can have.
            if !other.canBeIndexed { indexes.removeAll { $0.properties.contains(property.name) } }
            if other.isUnique { other.isUnique = random.chance(30) }
            properties[index] = other
        case 10 where property.isStored: return rename(property, of: schema, &migration)
        case 11: changeCompoundIndexes(&indexes, of: schema)
        case 12 where property.isLink && !schema.isEmbedded && !declaresEmbedded(property.targetClass):
            properties[index].deleteRule = deleteRule()
        default: properties.shuffle(using: &random)
        }
        // What has no column is no row to compare.
        guard properties.contains(where: { $0.isStored && !$0.isLink }) else { return }
        declared[place] = schema.with(properties, indexes)
    }

    private func declaresEmbedded(_ className: String?) -> Bool {
        declared.contains { $0.name == className && $0.isEmbedded }
    }

    /// Null comes to be allowed or not, where that can be; some then have a default that stands for it.
    private mutating func changeOptionality(_ property: inout PropertySchema) {
        guard property.isStored, !property.isPrimaryKey, property.kind != .any,
            !property.isLink || property.collection == .map
        else { return }
        property.isOptional.toggle()
        if !property.isOptional, random.chance(50) {
            property.record(default: singleValue(property.kind, isOptional: false))
        }
    }

    private mutating func rename(
        _ property: PropertySchema,
        of schema: ClassSchema,
        _ migration: inout RandomMigration
    ) {
        let new = name("r")
        migration.renames.append((schema.name, property.name, new))
        declared = declared.map { other in
            let other = other.name == schema.name ? other.renaming(property.name, to: new) : other
            let properties = other.properties.map { computed in
                var computed = computed
                if computed.targetClass == schema.name, computed.originProperty == property.name {
                    computed.originProperty = new
                }
                return computed
            }
            return other.with(properties, other.compoundIndexes)
        }
    }

    private mutating func changeCompoundIndexes(_ indexes: inout [CompoundIndexSchema], of schema: ClassSchema) {
        if !indexes.isEmpty, random.chance(40) {
            indexes.remove(at: random.below(indexes.count))
            return
        }
        let names = schema.properties.filter(\.canBeIndexed).map(\.name).shuffled(using: &random)
        let chosen = Array(names.prefix(2 + random.below(2)))
        guard chosen.count > 1, !indexes.contains(where: { $0.properties == chosen }) else { return }
        indexes.append(CompoundIndexSchema(chosen, isUnique: !schema.isEmbedded && random.chance(40)))
    }

    /// Drops properties and indexes over what is not declared any more.
    private mutating func dropWhatLeadsNowhere() {
        var before: Int
        repeat {
            before = declared.reduce(0) { $0 + $1.properties.count + $1.compoundIndexes.count }
            let all = DatabaseSchema(classes: declared)
            declared = declared.map { schema in
                let kept = schema.properties.filter { property in
                    guard let target = property.targetClass else { return true }
                    guard let other = all[target] else { return false }
                    guard !property.isStored else { return true }
                    let link = property.originProperty.flatMap { other[$0] }
                    return link?.isLink == true && link?.targetClass == schema.name
                }
                let names = Set(kept.filter(\.canBeIndexed).map(\.name))
                return schema.with(kept, schema.compoundIndexes.filter { names.isSuperset(of: $0.properties) })
            }
        } while before != declared.reduce(0) { $0 + $1.properties.count + $1.compoundIndexes.count }
    }
}
