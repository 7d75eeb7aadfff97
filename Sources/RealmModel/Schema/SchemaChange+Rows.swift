import RealmStorage

/// What a change of the schema does to rows.
extension SchemaChange {
    /// Brings every row's value of a property back to the default, with all that hangs on it, before it is removed.
    func clear(_ className: String, _ name: String) throws {
        guard let table = try model.table(named: className), let property = table.schema.ordinal(of: name) else {
            return
        }
        let slot = table.slots[property]
        guard slot.column >= 0 else { return }
        try table.forEachKey { key in
            // An embedded row may have gone with the one that held it.
            if slot.ownsTarget, try !table.contains(key: key) { return }
            if slot.collection != .none {
                try table.listRemoveAll(property, key: key)
            } else if slot.isOptional {
                try table.setNull(property, key: key)
            } else {
                try table.writeDefault(property, key: key)
            }
        }
    }

    /// Deletes every row of a class, before the class is removed.
    func clear(_ className: String) throws {
        guard let table = try model.table(named: className) else { return }
        try table.deleteAll()
        // Embedded owners and their rows may reach each other.
        for origin in table.linkOrigins where origin.tableID != table.id {
            guard let other = model.schema.schema(of: origin.tableID) else { continue }
            // What holds values of any kind has lost its links with the rows, and keeps all else.
            let property = other.properties[origin.property]
            if property.isLink { try clear(other.name, property.name) }
        }
    }

    /// Copies the values of one property to another that differs in whether null is allowed.
    ///
    /// Null becomes the declared default that is recorded, as in the objects of programs without the property: zero may be no value of
    /// the program's type. In collections, and where no default is recorded, it becomes zero.
    func copyValues(_ className: String, from old: String, to new: String) throws {
        guard let table = try model.table(named: className), let source = table.schema.ordinal(of: old),
            let target = table.schema.ordinal(of: new)
        else { return }
        let slot = table.slots[target]
        let null = table.defaultValue(target)
        let recorded = table.schema.properties[target].recordedDefault.value
        try table.forEachKey { key in
            switch slot.collection {
            case .none:
                let value = try table.value(source, key: key)
                if !value.isNull || slot.isOptional {
                    try table.set(target, key: key, to: value)
                } else if let recorded {
                    try table.set(target, key: key, to: recorded)
                }
            case .map: try copyEntries(table, from: source, to: target, key: key)
            case .list, .set:
                var values = try table.list(source, key: key).values()
                if values.isEmpty { return }
                if !slot.isOptional { values = values.map { $0.isNull ? null : $0 } }
                if slot.collection == .set {
                    try table.setAssign(target, key: key, values)
                } else {
                    try table.listAssign(target, key: key, values)
                }
            }
        }
    }

    /// The same for the dictionary of a row; an entry that links to nothing has no default.
    private func copyEntries(_ table: TableView, from source: Int, to target: Int, key: Int64) throws {
        let slot = table.slots[target]
        let null = table.defaultValue(target)
        let entries = try table.map(source, key: key).entries()
            .compactMap { entry -> StoredEntry? in
                guard entry.value.isNull, !slot.isOptional else { return entry }
                return null.isNull ? nil : StoredEntry(key: entry.key, value: null)
            }
        if !entries.isEmpty { try table.mapAssign(target, key: key, entries) }
    }

    /// Throws unless each row of a class has exactly one link to it, which is no value of any kind: such a one owns nothing.
    func requireOwners(_ className: String) throws {
        guard let table = try model.table(named: className) else { return }
        let origins = table.linkOrigins.map { origin in
            (
                tableID: origin.tableID, property: origin.property,
                owns: model.schema.schema(of: origin.tableID)?.properties[origin.property].isLink == true
            )
        }
        try table.forEachKey { key in
            var count = 0
            var ownerCount = 0
            for origin in origins {
                let found = try table.backlinkCount(of: key, from: origin.tableID, property: origin.property)
                count += found
                if origin.owns { ownerCount += found }
            }
            if count == 1, ownerCount == 1 { return }
            throw ModelError.invalidOwnerCount(className: className, count: ownerCount == 0 ? 0 : count)
        }
    }

    /// Throws when two rows have the same values of some properties, given their index; where one of several properties,
    /// or the only one, is null, the values are as different as can be, except for a primary key.
    func requireUnique(
        _ tree: ByteTree,
        over properties: [PropertySchema],
        in schema: ClassSchema,
        _ duplicate: (String) -> ModelError
    ) throws {
        guard let table = try model.table(named: schema.name) else { return }
        // By column: a property may have got another name.
        let ordinals = properties.compactMap { property in
            table.schema.properties.firstIndex { $0.column == property.column }
        }
        guard ordinals.count == properties.count else { return }
        let isKey = properties[0].isPrimaryKey
        let limit = IndexKey.stringByteLimit / properties.count
        func values(_ row: Int64) throws -> [StoredValue] { try ordinals.map { try table.value($0, key: row) } }
        var cursor = tree.cursor(in: transaction.view)
        var isOnEntry = try cursor.seekFirst()
        var before: [UInt8] = []
        // Long strings that are equal in the index are compared as a whole.
        var seen: Set<[StoredValue]> = []
        var first: Int64 = 0
        while isOnEntry {
            let row = IndexKey.rowKey(at: cursor)
            let key = cursor.key
            guard let last = key.last else {
                throw table.corrupt("an index of '\(schema.name)' has an entry without a row.")
            }
            let value = key.dropLast(IndexKey.rowKeyByteCount(last: last))
            if before.elementsEqual(value) {
                if isKey || value.count > 1 {
                    let own = try values(row)
                    if isKey || !own.contains(.null) {
                        if key.count <= limit { throw duplicate(TableView.describe(own)) }
                        if seen.isEmpty { seen.insert(try values(first)) }
                        if !seen.insert(own).inserted { throw duplicate(TableView.describe(own)) }
                    }
                }
            } else {
                before = Array(value)
                seen.removeAll()
                first = row
            }
            isOnEntry = try cursor.next()
        }
    }
}

extension TableView {
    /// Calls a function with every row key, ascending; it may write, and need not look at rows that it adds.
    package func forEachKey(_ body: (Int64) throws -> Void) throws {
        var keys: [Int64] = []
        var next = Int64.min
        let end = nextKey
        repeat {
            keys.removeAll(keepingCapacity: true)
            // Behind the last write, which may have moved pages.
            var cursor = leaves(from: next)
            while keys.count < 4_096, let leaf = try cursor.next() {
                for row in leaf.lowerBound(of: next)..<leaf.rowCount where leaf.key(at: row) < end {
                    keys.append(leaf.key(at: row))
                }
            }
            for key in keys { try body(key) }
            model.transaction?.storage.releaseReadPages()
            if let last = keys.last { next = last + 1 }
        } while !keys.isEmpty
    }

    /// What stands for null in a property that does not allow it.
    func defaultValue(_ property: Int) -> StoredValue {
        switch slots[property].kind {
        case .int: .int(0)
        case .bool: .bool(false)
        case .float: .float(0)
        case .double: .double(0)
        case .date: .date(0)
        case .string: .string("")
        case .data: .data([])
        case .objectId: .objectId(ObjectIDBytes(high: 0, low: 0))
        case .uuid: .uuid(UUIDBytes(high: 0, low: 0))
        case .decimal128: .decimal(DecimalBytes(high: 0, low: 0))
        case .object, .linkingObjects, .any: .null
        }
    }

    /// Writes zero or nothing.
    func writeDefault(_ property: Int, key: Int64) throws {
        let kind = slots[property].kind
        switch slots[property].columnKind {
        case .int: try write(property, key: key, .int(0), of: kind)
        case .float: try write(property, key: key, .float(0), of: kind)
        case .double: try write(property, key: key, .double(0), of: kind)
        case .bytes: try write(property, key: key, .bytes(UnsafeRawBufferPointer(start: nil, count: 0)), of: kind)
        case .fixed12, .fixed16:
            try withUnsafeTemporaryAllocation(byteCount: 16, alignment: 8) { buffer in
                buffer.initializeMemory(as: UInt8.self, repeating: 0)
                let count = slots[property].columnKind == .fixed12 ? 12 : 16
                try write(property, key: key, .bytes(UnsafeRawBufferPointer(rebasing: buffer[..<count])), of: kind)
            }
        }
    }
}
