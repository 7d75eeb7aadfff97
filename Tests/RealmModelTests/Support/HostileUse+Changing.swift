@testable import RealmModel
@testable import RealmStorage

/// What a program writes to a file: rows, values of each kind, elements, entries, and another schema.
extension HostileUse {
    /// Makes each kind of change in a transaction of its own, so that damage which one meets does not keep the others from being tried.
    static func write(_ file: StorageFile) throws {
        let steps: [(StorageFile) throws -> Void] = [
            { try write($0, insert) }, { try write($0, setOthers) }, { try write($0, editCollections) }, changeSchema,
            { try write($0, setOthers) }, { try write($0, setSame) },
        ]
        var failures: [any Error] = []
        for step in steps {
            do { try step(file) } catch { failures.append(error) }
        }
        // That numbers end says less than another error.
        if let failure = failures.first(where: { ($0 as? StorageError)?.code != .limit }) ?? failures.first {
            throw failure
        }
    }

    // MARK: Rows

    /// Inserts rows with keys that are new, and with keys that are there.
    private static func insert(_ model: ModelView) throws {
        for schema in model.schema.classes.values where !schema.isEmbedded {
            guard let table = try model.table(named: schema.name) else { continue }
            let keys = try keys(of: table, atMost: 200)
            guard let ordinal = schema.primaryKeyOrdinal else {
                for _ in 0..<3 { try setOthers(table, table.insert(), 7, model) }
                continue
            }
            for number in 0..<3 {
                guard let value = try fresh(schema.properties[ordinal], 1_000_000 + number, table, model) else { break }
                do {
                    try setOthers(table, table.insert(primaryKey: value), number, model)
                } catch ModelError.duplicatePrimaryKey {}
            }
            for key in [keys.first, keys.last].compactMap({ $0 }) {
                let value = try table.value(ordinal, key: key)
                do { _ = try table.insert(primaryKey: value) } catch ModelError.duplicatePrimaryKey {}
            }
        }
    }

    /// Sets each value to itself, empties lists, and deletes.
    private static func setSame(_ model: ModelView) throws {
        try forEachRow(of: model, by: 7) { table, key, number in
            for (ordinal, property) in table.schema.properties.enumerated() where property.isStored {
                if property.isPrimaryKey { continue }
                if property.collection == .list {
                    if number % 2 == 0 { try table.listRemoveAll(ordinal, key: key) }
                } else if property.collection == .none {
                    try table.set(ordinal, key: key, to: table.value(ordinal, key: key))
                }
            }
            if number % 3 == 0 { try table.delete(key: key) }
        }
    }

    /// Sets each value to another one.
    private static func setOthers(_ model: ModelView) throws {
        try forEachRow(of: model, by: 5) { table, key, number in try setOthers(table, key, number, model) }
    }

    private static func setOthers(_ table: TableView, _ key: Int64, _ number: Int, _ model: ModelView) throws {
        for (ordinal, property) in table.schema.properties.enumerated()
        where property.isStored && !property.isPrimaryKey && property.collection == .none {
            if property.isOptional, number % 11 == 0 {
                try table.set(ordinal, key: key, to: .null)
            } else if let value = try fresh(property, number &+ 100 &* Int(key), table, model) {
                try table.set(ordinal, key: key, to: value)
            }
        }
    }

    // MARK: Elements

    /// Inserts, replaces, moves and removes elements and entries, most of them in the middle.
    private static func editCollections(_ model: ModelView) throws {
        try forEachRow(of: model, by: 4) { table, key, number in
            for (ordinal, property) in table.schema.properties.enumerated() where property.isStored {
                func element(_ offset: Int) throws -> StoredValue? {
                    try fresh(property, number + offset, table, model)
                }
                switch property.collection {
                case .none: break
                case .list: try editList(table, ordinal, key, element)
                case .set:
                    if let value = try element(1) { try table.setInsert(ordinal, key: key, value) }
                    if let value = try table.list(ordinal, key: key).values().first {
                        try table.setInsert(ordinal, key: key, value)
                        try table.setRemove(ordinal, key: key, value)
                    }
                case .map:
                    if let value = try element(1) { try table.mapSet(ordinal, key: key, "name \(number)", to: value) }
                    if let entry = try table.map(ordinal, key: key).entries().first {
                        if let value = try element(2) { try table.mapSet(ordinal, key: key, entry.key, to: value) }
                        try table.mapRemove(ordinal, key: key, entry.key)
                    }
                }
            }
        }
    }

    private static func editList(
        _ table: TableView,
        _ ordinal: Int,
        _ key: Int64,
        _ element: (Int) throws -> StoredValue?
    ) throws {
        func count() throws -> Int { try table.list(ordinal, key: key).count }
        for offset in 0..<3 {
            guard let value = try element(offset) else { return }
            try table.listInsert(ordinal, key: key, at: count() / 2, value)
        }
        if let value = try element(3) { try table.listReplace(ordinal, key: key, at: count() / 3, with: value) }
        let last = try count() - 1
        try table.listMove(ordinal, key: key, from: last, to: last / 2)
        try table.listSwap(ordinal, key: key, 0, last)
        try table.listRemove(ordinal, key: key, at: count() / 2)
        if let value = try element(4) { try table.listAppend(ordinal, key: key, value) }
        if last > 20 { try table.listRemove(ordinal, key: key, in: last / 3..<last / 3 + 5) }
    }

    // MARK: The schema

    /// Opens the file as a program does that knows an index, a compound index and a property more of each class.
    private static func changeSchema(_ file: StorageFile) throws {
        guard let stored = try SchemaReconciler.storedSchema(of: file.beginRead()), stored.version < .max else {
            return
        }
        let classes = stored.classes.values.map { schema in
            var properties = schema.properties
            for index in properties.indices { properties[index].column = -1 }
            if let index = properties.firstIndex(where: { $0.canBeIndexed && !$0.hasIndex }) {
                properties[index].isIndexed = true
            }
            if schema["added"] == nil {
                properties.append(PropertySchema(name: "added", kind: .string, isIndexed: true))
            }
            var indexes = schema.compoundIndexes
            let names = properties.filter { $0.canBeIndexed && !$0.isUnique }.suffix(2).map(\.name)
            if names.count == 2, !indexes.contains(where: { $0.properties == names }) {
                indexes.append(CompoundIndexSchema(names))
            }
            return ClassSchema(
                name: schema.name,
                properties: properties,
                compoundIndexes: indexes,
                isEmbedded: schema.isEmbedded
            )
        }
        let declared = DatabaseSchema(classes: classes, version: stored.version + 1)
        // No program declares others, as where the link is gone that linking objects come from. What is stored can be used.
        guard SchemaValidator.faults(in: declared).isEmpty else { return }
        let plan = try SchemaReconciler.plan(stored: stored, declared: declared)
        try file.lockForWriting()
        defer { file.unlockForWriting() }
        let transaction = try file.beginWrite()
        do {
            try SchemaReconciler.apply(plan, in: transaction)
            try file.publish([transaction.prepareCommit()])
        } catch {
            transaction.rollback()
            throw error
        }
    }

    // MARK: Pieces

    private static func keys(of table: TableView, atMost count: Int) throws -> [Int64] {
        var keys: [Int64] = []
        var cursor = table.leaves()
        while keys.count < count, let leaf = try cursor.next() {
            for row in 0..<leaf.rowCount { keys.append(leaf.key(at: row)) }
        }
        return keys
    }

    /// Some of the rows of each table, one out of so many, that are there when their turn comes.
    private static func forEachRow(
        of model: ModelView,
        by stride: Int,
        _ body: (TableView, Int64, Int) throws -> Void
    ) throws {
        for schema in model.schema.classes.values {
            guard let table = try model.table(named: schema.name) else { continue }
            for (number, key) in try keys(of: table, atMost: 2_000).enumerated() where number % stride == 0 {
                // It may have gone with an earlier one.
                if try table.contains(key: key) { try body(table, key, number) }
            }
        }
    }

    /// A value of a property or an element of it, others for other numbers; nil where there is nothing to link to.
    private static func fresh(
        _ property: PropertySchema,
        _ number: Int,
        _ table: TableView,
        _ model: ModelView
    ) throws -> StoredValue? {
        // Keys of rows may be anything here.
        let number = Int(UInt32(truncatingIfNeeded: number))
        let bits = UInt64(number) &* 0x9E37_79B9_7F4A_7C15
        switch property.kind {
        case .int: return .int(Int64(truncatingIfNeeded: bits))
        case .bool: return .bool(number % 2 == 0)
        case .string:
            let isLong = number % 4 == 3 && !property.isPrimaryKey
            return .string("fresh \(number)" + String(repeating: "\u{E9}", count: isLong ? 200 * (number % 9 + 1) : 0))
        case .data: return .data([UInt8](repeating: UInt8(bits >> 56), count: number % 6 == 5 ? 9_000 : number % 40))
        case .date: return .date(Double(number) * 0.75)
        case .float: return .float(Float(number % 1_000))
        case .double: return .double(Double(bitPattern: bits).isNaN ? 0.5 : Double(bitPattern: bits))
        case .objectId: return .objectId(ObjectIDBytes(high: bits, low: UInt32(number)))
        case .uuid: return .uuid(UUIDBytes(high: bits, low: UInt64(number)))
        case .decimal128: return .decimal(DecimalBytes(high: 0x3040 << 48, low: UInt64(number)))
        case .object:
            guard let name = property.targetClass, let target = try model.table(named: name) else { return nil }
            if target.schema.isEmbedded { return .link(try target.insert()) }
            let keys = try keys(of: target, atMost: 100)
            return keys.isEmpty ? nil : .link(keys[Int(bits % UInt64(keys.count))])
        case .any:
            switch number % 5 {
            case 0: return .int(Int64(number))
            case 1: return .string("any \(number)")
            case 2: return .double(0.5)
            case 3 where property.collection != .set:
                return .dictionary([StoredEntry(key: "a", value: .list([.int(1), .string("b")]))])
            default:
                guard !table.schema.isEmbedded, let key = try keys(of: table, atMost: 10).last else { return .null }
                return .anyLink(table: table.id, key: key)
            }
        case .linkingObjects: return nil
        }
    }
}
