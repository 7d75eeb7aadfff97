import RealmModel
import RealmQuery
import RealmStorage
import RealmTestSupport

/// A realm with two linked classes full of random rows, and the same rows as plain Swift values.
final class QueryWorld {
    struct Row {
        var values: [String: StoredValue] = [:]
        /// The elements of lists, and those of sets in their order.
        var lists: [String: [StoredValue]] = [:]
        /// The entries of dictionaries, by name.
        var maps: [String: [StoredEntry]] = [:]
    }

    static let schema = DatabaseSchema(classes: [
        ClassSchema(
            name: "Item",
            properties: [
                PropertySchema(name: "id", kind: .int, isPrimaryKey: true),
                PropertySchema(name: "i", kind: .int),
                PropertySchema(name: "oi", kind: .int, isOptional: true),
                PropertySchema(name: "small", kind: .int, isIndexed: true),
                PropertySchema(name: "b", kind: .bool),
                PropertySchema(name: "ob", kind: .bool, isOptional: true),
                PropertySchema(name: "s", kind: .string),
                PropertySchema(name: "os", kind: .string, isOptional: true, isIndexed: true),
                PropertySchema(name: "d", kind: .double),
                PropertySchema(name: "od", kind: .double, isOptional: true),
                PropertySchema(name: "f", kind: .float),
                PropertySchema(name: "date", kind: .date, isOptional: true, isIndexed: true),
                PropertySchema(name: "data", kind: .data, isOptional: true),
                PropertySchema(name: "oid", kind: .objectId),
                PropertySchema(name: "u", kind: .uuid, isOptional: true),
                PropertySchema(name: "next", kind: .object, targetClass: "Item"),
                PropertySchema(name: "box", kind: .object, targetClass: "Box"),
                PropertySchema(name: "nums", kind: .int, collection: .list),
                PropertySchema(name: "tags", kind: .string, collection: .list, isOptional: true),
                PropertySchema(name: "children", kind: .object, collection: .list, targetClass: "Item"),
                PropertySchema(
                    name: "parents",
                    kind: .linkingObjects,
                    targetClass: "Item",
                    originProperty: "children"
                ),
            ],
            compoundIndexes: [
                CompoundIndexSchema(["small", "s"]), CompoundIndexSchema(["b", "oi", "date"]),
                CompoundIndexSchema(["os", "small", "id"]), CompoundIndexSchema(["ob", "date"]),
            ]
        ),
        ClassSchema(
            name: "Box",
            properties: [
                PropertySchema(name: "name", kind: .string),
                PropertySchema(name: "weight", kind: .double),
                PropertySchema(name: "size", kind: .int, isOptional: true),
                PropertySchema(name: "items", kind: .linkingObjects, targetClass: "Item", originProperty: "box"),
            ]
        ),
    ])

    /// A path with the type of its values.
    struct Path {
        var path: PropertyPath
        var kind: PropertyKind
        var target: String?
        var isMany: Bool
        /// The path in words.
        var text: String { path.description }

        init(text: String, kind: PropertyKind, target: String?, isMany: Bool) {
            self.init(PropertyPath(text), kind, target: target, isMany: isMany)
        }

        init(_ path: PropertyPath, _ kind: PropertyKind, target: String? = nil, isMany: Bool) {
            self.path = path
            self.kind = kind
            self.target = target
            self.isMany = isMany
        }
    }

    /// The classes of this realm.
    let schema: DatabaseSchema
    /// The class that is queried first of all.
    let mainClass: String
    /// The paths that random predicates about each class use, and the collections that they count.
    var paths: [String: [Path]] = [:]
    var collections: [String: [(path: PropertyPath, target: String)]] = [:]
    /// Whether floating-point values may be NaN.
    var usesNaN = true
    /// Where the values come from.
    var domain = ValueDomain.plain

    let directory = TemporaryDirectory()
    let file: StorageFile
    let model: ModelView
    var random: SplitMix64
    /// The plain rows, by class and key.
    var rows: [String: [Int64: Row]] = [:]
    private var sortedKeys: [String: [Int64]] = [:]
    private var nextID: Int64 = 0

    /// The two classes above, with random rows.
    convenience init(seed: UInt64, itemCount: Int) throws {
        try self.init(seed: seed, schema: Self.schema, mainClass: "Item")
        paths = ["Item": Self.paths.map { Path(text: $0.text, kind: $0.kind, target: $0.target, isMany: $0.isMany) }]
        collections = ["Item": [("children", "Item"), ("children", "Item"), ("parents", "Item")]]
        try begin()
        for _ in 0..<max(3, itemCount / 20) { try insert("Box") }
        for _ in 0..<itemCount { try insert("Item") }
        try delete("Item", keys("Item").filter { _ in chance(0.1) })
        try commit()
    }

    /// Classes without rows.
    init(seed: UInt64, schema: DatabaseSchema, mainClass: String) throws {
        self.schema = schema
        self.mainClass = mainClass
        for name in schema.classes.keys { rows[name] = [:] }
        random = SplitMix64(seed: seed)
        var options = StorageOptions()
        options.durability = .none
        file = try StorageFile.open(path: directory.path("world.realm"), options: options)
        try file.lockForWriting()
        let transaction = try file.beginWrite()
        let plan = try SchemaReconciler.plan(stored: nil, declared: schema)
        try SchemaReconciler.apply(plan, in: transaction)
        try file.publish([transaction.prepareCommit()])
        file.unlockForWriting()
        model = try ModelView(snapshot: file.beginRead())
    }

    func begin() throws {
        try file.lockForWriting()
        try model.begin(file.beginWrite())
    }

    func commit() throws {
        let prepared = try model.prepareCommit()
        try file.publish([prepared])
        file.unlockForWriting()
        try model.endTransaction(advancingTo: file.beginRead())
    }

    func table(_ name: String) throws -> TableView {
        guard let table = try model.table(named: name) else { throw QueryError("no table \(name)") }
        return table
    }

    func keys(_ name: String) -> [Int64] { sortedKeys[name, default: []] }

    func chance(_ probability: Double) -> Bool { Double.random(in: 0..<1, using: &random) < probability }

    // MARK: Changing both sides

    /// Adds a row with random values.
    func insert(_ className: String) throws {
        let table = try table(className)
        let primaryKey = table.schema.properties.first { $0.isPrimaryKey }
        let key: Int64
        var row = Row()
        if let primaryKey {
            let value = try newKey(primaryKey.kind, in: table)
            key = try table.insert(primaryKey: value)
            row.values[primaryKey.name] = value
        } else {
            key = try table.insert()
        }
        rows[className, default: [:]][key] = row
        sortedKeys[className, default: []].append(key)
        for property in table.schema.properties where !property.isPrimaryKey {
            try setRandom(className, property.name, key)
        }
    }

    /// A primary key that no row has.
    private func newKey(_ kind: PropertyKind, in table: TableView) throws -> StoredValue {
        if domain == .edges {
            for _ in 0..<4 {
                let value = randomValue(kind)
                // Longer keys are refused.
                if case .string(let text) = value, text.utf8.count > 256 { continue }
                if try table.find(primaryKey: value) == nil { return value }
            }
        }
        repeat {
            nextID += Int64.random(in: 1...3, using: &random)
        } while try table.find(primaryKey: keyValue(kind)) != nil
        return keyValue(kind)
    }

    private func keyValue(_ kind: PropertyKind) -> StoredValue {
        switch kind {
        case .string: .string("key \(nextID)")
        case .objectId: .objectId(ObjectIDBytes(high: UInt64(nextID), low: 9))
        case .uuid: .uuid(UUIDBytes(high: UInt64(nextID), low: 9))
        default: .int(nextID - 1)
        }
    }

    func setRandom(_ className: String, _ name: String, _ key: Int64) throws {
        let table = try table(className)
        guard let ordinal = table.schema.ordinal(of: name) else { return }
        let property = table.schema.properties[ordinal]
        if property.kind == .linkingObjects { return }
        switch property.collection {
        case .list:
            let elements = randomElements(property)
            try table.listAssign(ordinal, key: key, elements)
            rows[className]?[key]?.lists[name] = elements
        case .set:
            let elements = randomElements(property)
            try table.setAssign(ordinal, key: key, elements)
            rows[className]?[key]?.lists[name] = elements.sortedAndUnique()
        case .map:
            let names = entryNames.shuffled(using: &random).prefix(.random(in: 0...3, using: &random))
            let entries = names.map { StoredEntry(key: $0, value: randomValue(property)) }
                .sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
            try table.mapAssign(ordinal, key: key, entries)
            rows[className]?[key]?.maps[name] = entries
        case .none:
            let value = randomValue(property)
            try table.set(ordinal, key: key, to: value)
            rows[className]?[key]?.values[name] = value
        }
    }

    private func randomElements(_ property: PropertySchema) -> [StoredValue] {
        (0..<Int.random(in: 0...4, using: &random)).map { _ in randomValue(property) }
            .filter { value in
                switch value {
                case .null: property.kind != .object
                // A set holds no collections.
                case .list, .dictionary: property.collection != .set
                default: true
                }
            }
    }

    func delete(_ className: String, _ key: Int64) throws { try delete(className, [key]) }

    /// Deletes rows with one pass over those that may link to them.
    func delete(_ className: String, _ keys: [Int64]) throws {
        let table = try table(className)
        for key in keys {
            try table.delete(key: key)
            rows[className]?[key] = nil
        }
        let gone = Set(keys)
        sortedKeys[className]?.removeAll { gone.contains($0) }
        // Links to the row become null, lists and sets lose it; in values of any kind it becomes null.
        let tableID = table.id
        func without(_ value: StoredValue) -> StoredValue {
            switch value {
            case .anyLink(tableID, let key) where gone.contains(key): return .null
            case .list(let elements): return .list(elements.map(without))
            case .dictionary(let entries):
                return .dictionary(entries.map { StoredEntry(key: $0.key, value: without($0.value)) })
            default: return value
            }
        }
        for (origin, other) in schema.classes {
            for property in other.properties
            where property.kind == .any || property.kind == .object && property.targetClass == className {
                func changed(_ value: StoredValue) -> StoredValue {
                    if property.kind == .any { return without(value) }
                    if case .link(let key) = value, gone.contains(key) { return .null }
                    return value
                }
                for source in self.keys(origin) {
                    guard var row = rows[origin]?[source] else { continue }
                    if let value = row.values[property.name] { row.values[property.name] = changed(value) }
                    if let elements = row.lists[property.name] {
                        let left = property.kind == .any ? elements.map(changed) : elements.filter { changed($0) == $0 }
                        row.lists[property.name] = property.collection == .set ? left.sortedAndUnique() : left
                    }
                    if let entries = row.maps[property.name] {
                        row.maps[property.name] = entries.map { StoredEntry(key: $0.key, value: changed($0.value)) }
                    }
                    rows[origin]?[source] = row
                }
            }
        }
    }

    /// Changes a good part of the rows, inside a transaction.
    func mutate() throws {
        for _ in 0..<20 { try insert(mainClass) }
        for name in schema.classes.keys.sorted() {
            try delete(name, keys(name).filter { _ in chance(0.05) })
        }
        for name in schema.classes.keys.sorted() {
            let properties = schema.classes[name]!.properties.filter { !$0.isPrimaryKey }.map(\.name)
            for key in keys(name) where chance(0.3) {
                if let property = properties.randomElement(using: &random) { try setRandom(name, property, key) }
            }
        }
    }

    // MARK: Random values, from small sets so that comparisons hit

    /// The names in dictionaries.
    static let names = ["a", "b", "ab", "é", "a b"]

    /// The names in dictionaries of this realm.
    var entryNames: [String] { domain == .edges ? ValueDomain.edgeNames : Self.names }

    static let strings = [
        "", "a", "A", "ab", "abc", "Abc", "aB", "b", "bc", "é", "É", "e", "aé", "zzzzzzzz", "zzzzzzzzz", "z*",
    ]

    func randomValue(_ property: PropertySchema) -> StoredValue {
        if property.isOptional, chance(0.25) { return .null }
        return randomValue(property.kind, targetClass: property.targetClass)
    }

    func randomValue(_ kind: PropertyKind, targetClass: String? = nil) -> StoredValue {
        if domain == .edges, let value = edgeValue(kind) { return value }
        switch kind {
        case .int:
            return .int(
                chance(0.03) ? [.min, .max].randomElement(using: &random)! : .random(in: -5...5, using: &random)
            )
        case .bool: return .bool(chance(0.5))
        case .string: return .string(Self.strings.randomElement(using: &random)!)
        case .data: return .data(Array(Self.strings.randomElement(using: &random)!.utf8))
        case .date: return .date(randomDouble(allowsNaN: false))
        case .float: return .float(Float(randomDouble(allowsNaN: true)))
        case .double: return .double(randomDouble(allowsNaN: true))
        case .objectId:
            return .objectId(
                ObjectIDBytes(high: .random(in: 0...2, using: &random), low: .random(in: 0...2, using: &random))
            )
        case .uuid:
            return .uuid(UUIDBytes(high: .random(in: 0...2, using: &random), low: .random(in: 0...2, using: &random)))
        case .object:
            guard let target = keys(targetClass ?? "").randomElement(using: &random) else { return .null }
            return .link(target)
        case .decimal128: return .decimal(DecimalBytes(DecimalNumber(randomDouble(allowsNaN: false))))
        case .any: return randomAny(depth: 2)
        default: return .null
        }
    }

    /// A value at an edge of its type; nil for types that have none.
    private func edgeValue(_ kind: PropertyKind) -> StoredValue? {
        let double = ValueDomain.edgeDoubles.randomElement(using: &random)!
        switch kind {
        case .int: return .int(ValueDomain.edgeInts.randomElement(using: &random)!)
        case .string: return .string(ValueDomain.edgeStrings.randomElement(using: &random)!)
        case .data: return .data(Array(ValueDomain.edgeStrings.randomElement(using: &random)!.utf8))
        case .double: return .double(double)
        case .float: return .float(Float(double))
        case .date: return .date(double)
        case .decimal128:
            let text = ValueDomain.edgeDecimals.randomElement(using: &random)!
            return .decimal(DecimalBytes(DecimalNumber(parsing: text) ?? .notANumber))
        default: return nil
        }
    }

    /// A value of any kind, with lists and dictionaries in it.
    private func randomAny(depth: Int) -> StoredValue {
        if depth > 0, chance(0.2) {
            if chance(0.5) {
                return .list((0..<Int.random(in: 0...3, using: &random)).map { _ in randomAny(depth: depth - 1) })
            }
            let names = entryNames.shuffled(using: &random).prefix(.random(in: 0...2, using: &random))
                .sorted {
                    $0.utf8.lexicographicallyPrecedes($1.utf8)
                }
            return .dictionary(names.map { StoredEntry(key: $0, value: randomAny(depth: depth - 1)) })
        }
        if chance(0.1) { return .null }
        if chance(0.1), let target = schema.classes.keys.sorted().randomElement(using: &random),
            let key = keys(target).randomElement(using: &random), let table = model.schema[target]?.tableID
        {
            return .anyLink(table: table, key: key)
        }
        let kinds: [PropertyKind] = [
            .int, .int, .bool, .string, .string, .double, .float, .date, .data, .objectId, .uuid, .decimal128,
        ]
        let value = randomValue(kinds.randomElement(using: &random)!)
        if domain == .edges { return value }
        // Lists are compared element by element, where NaN has a place of its own.
        if depth < 2, value.decimal?.isNaN == true { return .int(1) }
        // Sums are exact only of small numbers.
        if case .int(let number) = value, number == .min || number == .max { return .int(7) }
        if case .double(let number) = value, number.isInfinite || abs(number) > 100 { return .double(2.5) }
        if case .float(let number) = value, number.isInfinite || abs(number) > 100 { return .float(-0.5) }
        if case .decimal(let number) = value, number.number.double.isInfinite || abs(number.number.double) > 100 {
            return .decimal(DecimalBytes(DecimalNumber(0.5)))
        }
        return value
    }

    func randomDouble(allowsNaN: Bool) -> Double {
        if allowsNaN, usesNaN, chance(0.05) { return .nan }
        if chance(0.05) { return [-0.0, .infinity, -.infinity, 1e300].randomElement(using: &random)! }
        return Double(Int.random(in: -8...8, using: &random)) / 2
    }
}

extension QueryWorld {
    /// The differences between the tables and the plain rows.
    func differences() throws -> [String] {
        var found: [String] = []
        for (className, plain) in rows {
            let table = try table(className)
            if table.count != plain.count { found.append("\(className): \(table.count) rows, expected \(plain.count)") }
            for (key, row) in plain.sorted(by: { $0.key < $1.key }) {
                for (ordinal, property) in table.schema.properties.enumerated() where property.isStored {
                    if property.collection == .map {
                        let entries = try table.map(ordinal, key: key).entries()
                        if "\(entries)" != "\(row.maps[property.name] ?? [])" {
                            found.append(
                                "\(className)#\(key).\(property.name): \(entries), expected "
                                    + "\(row.maps[property.name] ?? [])"
                            )
                        }
                    } else if property.collection != .none {
                        let values = try table.list(ordinal, key: key).values()
                        if "\(values)" != "\(row.lists[property.name] ?? [])" {
                            found.append(
                                "\(className)#\(key).\(property.name): \(values), expected \(row.lists[property.name]!)"
                            )
                        }
                    } else {
                        let value = try table.value(ordinal, key: key)
                        let expected = row.values[property.name] ?? .null
                        if "\(value)" != "\(expected)" {
                            found.append("\(className)#\(key).\(property.name): \(value), expected \(expected)")
                        }
                    }
                }
            }
        }
        return found
    }
}
