import RealmModel
import RealmQuery
import RealmStorage

/// What a collection holds, read once for a version.
extension _CollectionBacking {
    /// The keys of the objects, in order.
    func keys() -> [Int64] {
        checkReading()
        return withCache { cache in
            if let keys = cache.keys { return keys }
            advance(&cache)
            let keys = cache.order?.array() ?? core.attempt(or: []) { try computeKeys() }
            cache.keys = keys
            return keys
        }
    }

    /// The keys, where they are known and not listed.
    private var advancedOrder: ObservedOrder? {
        withCache { cache in
            if cache.keys != nil { return nil }
            advance(&cache)
            return cache.order
        }
    }

    /// The keys and the values, read anew.
    func freshKeys() throws -> [Int64] { try computeKeys() }
    func freshValues() throws -> [StoredValue] { try computeValues() }

    /// Takes keys that were computed elsewhere, for the version that the realm stands on.
    func adopt(_ order: ObservedOrder) {
        withCache { cache in
            cache.keys = nil
            cache.order = order
            cache.count = order.count
        }
    }

    private func computeKeys() throws -> [Int64] {
        guard let elements else { return [] }
        var keys: [Int64]
        let steps = steps
        switch source {
        case .table:
            if let equality, steps.isEmpty { return try equality.keys(in: elements.table) }
            if case .sort(let sort)? = steps.first {
                let bound = steps.count > 1 ? bound(steps[1]) : .max
                if query != nil || bound < .max || sort.mayUseIndex {
                    keys = try (query ?? everything(elements)).keys(sortedBy: sort, limit: bound)
                    return try apply(steps.dropFirst(), to: keys)
                }
            }
            let bound = steps.first.map { self.bound($0) } ?? .max
            if let query {
                keys = try query.keys(limit: bound)
            } else if bound < .max {
                keys = try everything(elements).keys(limit: bound)
            } else {
                keys = try elements.allKeys()
            }
        case .list(let accessor, let key, let property):
            guard let location = try accessor.table.locate(key) else { return [] }
            keys = try accessor.table.linkedKeys(property, at: location, key: key)
            if let query { keys = try query.filter(keys) }
        case .nested: return []
        case .backlinks(let accessor, let key, let property):
            keys = []
            try accessor.forEachBacklink(of: key, from: elements, property: property) { keys.append($0) }
            if let query { keys = try query.filter(keys) }
        }
        return try apply(steps[...], to: keys)
    }

    /// The index that gives the rows in the order of the first step, in words; nil when they are sorted.
    func orderExplanation() throws -> String? {
        guard case .table = source, let elements, case .sort(let sort)? = steps.first else { return nil }
        let bound = steps.count > 1 ? bound(steps[1]) : .max
        return try sort.indexExplanation(matching: query ?? everything(elements), limit: bound)
    }

    /// The number of elements that a step needs from the one before it.
    private func bound(_ step: Step) -> Int {
        guard case .limit(let count, let offset) = step, count <= Int.max - offset else { return .max }
        return count + offset
    }

    /// The query that every row of a table matches.
    private func everything(_ elements: TableAccessor) throws -> CompiledQuery {
        try CompiledQuery(.constant(true), table: elements.table)
    }

    private func apply(_ steps: ArraySlice<Step>, to keys: [Int64]) throws -> [Int64] {
        var keys = keys
        for step in steps {
            switch step {
            case .sort(let sort): keys = try sort.sorted(keys)
            case .distinct(let distinct): keys = try distinct.distinct(keys)
            case .limit(let count, let offset): keys = Array(keys.dropFirst(offset).prefix(count))
            case .filter(let query): keys = try query.filter(keys)
            case .sortValues, .distinctValues: break
            }
        }
        return keys
    }

    /// The values of a collection of values, in order.
    func values() -> [StoredValue] {
        core.checkAccess()
        return withCache { cache in
            if let values = cache.values { return values }
            let values = core.attempt(or: []) { try computeValues() }
            cache.values = values
            return values
        }
    }

    private func computeValues() throws -> [StoredValue] {
        var values: [StoredValue] = []
        switch source {
        case .list(let accessor, let key, let property):
            guard let location = try accessor.table.locate(key) else { return [] }
            values =
                accessor.table.collection(of: property) == .map
                ? try accessor.table.map(property, at: location, key: key).entries().map(\.value)
                : try accessor.table.list(property, at: location, key: key).values()
        case .nested(let accessor, let key, let property, let path, let isMap):
            values = try accessor.table.nestedValues(property, key: key, path, isMap: isMap) ?? []
        case .table, .backlinks: return []
        }
        for step in steps {
            switch step {
            case .sortValues(let ascending):
                // Equal values keep their order in both directions.
                values = values.enumerated()
                    .sorted { first, second in
                        let order = StoredValue.compare(first.element, second.element)
                        return order == 0 ? first.offset < second.offset : (order < 0) == ascending
                    }
                    .map(\.element)
            case .distinctValues:
                var seen: Set<StoredValue> = []
                values = values.filter { seen.insert($0).inserted }
            case .limit(let count, let offset):
                values = Array(values.dropFirst(offset).prefix(count))
            case .sort, .distinct, .filter: break
            }
        }
        return values
    }

    /// The number of elements.
    var count: Int {
        checkReading()
        if isWholeTable, let elements { return elements.table.count }
        return withCache { cache in
            if let count = cache.count ?? cache.keys?.count ?? cache.values?.count { return count }
            if advance(&cache), let count = cache.count { return count }
            let count = core.attempt(or: 0) { try computeCount(&cache) }
            cache.count = count
            return count
        }
    }

    /// Whether a step leaves elements out.
    var isNarrowed: Bool {
        if misfit != nil { return true }
        return refinement?.described.contains { if case .sort = $0 { false } else { true } } ?? false
    }

    private func computeCount(_ cache: inout Cache) throws -> Int {
        if !isNarrowed {
            switch source {
            case .table:
                if let equality, let elements { return try equality.count(in: elements.table) }
                if let query { return try query.count() }
            case .list(let accessor, let key, let property):
                // A dictionary of objects also counts entries without one.
                if predicate == nil, elements == nil || accessor.table.collection(of: property) != .map {
                    guard let location = try accessor.table.locate(key) else { return 0 }
                    return try accessor.table.list(property, at: location, key: key).count
                }
            case .nested: break
            case .backlinks(let accessor, let key, let property):
                if predicate == nil, let elements {
                    return try accessor.table.backlinkCount(of: key, from: elements.table.id, property: property)
                }
            }
        }
        if elements == nil {
            let values = try computeValues()
            cache.values = values
            return values.count
        }
        let keys = try computeKeys()
        cache.keys = keys
        return keys.count
    }

    /// The first key, without reading the others where that can be avoided.
    @usableFromInline
    func firstKey() -> Int64? {
        checkReading()
        if let equality, refinement == nil, let reader {
            return core.attempt(or: nil) { try reader._withUnsafeGuaranteedRef { try $0.firstKey(equality) } }
        }
        if isWholeTable, let elements { return core.attempt(or: nil) { try elements.table.key(at: 0) } }
        if let known = withCache({ $0.keys }) { return known.first }
        if let order = advancedOrder { return order.count > 0 ? order[0] : nil }
        let steps = steps
        if case .table = source, steps.isEmpty, let elements {
            if let equality { return core.attempt(or: nil) { try elements.firstKey(equality) } }
            if let query { return core.attempt(or: nil) { try query.first() } }
        }
        if case .table = source, steps.count == 1, case .sort(let sort) = steps[0], let elements {
            return core.attempt(or: nil) { try (query ?? everything(elements)).keys(sortedBy: sort, limit: 1).first }
        }
        return keys().first
    }

    /// The key at a position that must exist.
    func key(at index: Int) -> Int64 {
        if isWholeTable, let elements {
            core.checkAccess()
            if index >= 0, let key = core.attempt(or: nil, { try elements.table.key(at: index) }) { return key }
            return noKey(at: index, count)
        }
        checkReading()
        if let order = advancedOrder {
            return index >= 0 && index < order.count ? order[index] : noKey(at: index, order.count)
        }
        let keys = keys()
        return keys.indices.contains(index) ? keys[index] : noKey(at: index, keys.count)
    }

    /// The key of no row.
    private static let noKey: Int64 = -1

    /// The key of no row, for a position that does not exist: only a migration goes on behind it, and who reads a closed realm.
    private func noKey(at index: Int, _ count: Int) -> Int64 {
        refuseIndex(index, count: count)
        return Self.noKey
    }

    /// What stands for an element that does not exist, inside a migration and in a realm that was closed.
    ///
    /// Where null is no value of the type it is zero, as a property of an object that is gone reads: the defaults of these types
    /// would be others each time.
    var noElement: _Stored {
        if shape.isOptional { return _Stored(.null) }
        switch shape.kind {
        case .date: return _Stored(.date(0))
        case .objectId: return _Stored(.objectId(ObjectIDBytes(high: 0, low: 0)))
        case .uuid: return _Stored(.uuid(UUIDBytes(high: 0, low: 0)))
        default: return _Stored(.null)
        }
    }

    /// The object of no row, where an element is none: inside a migration, and in a realm that was closed.
    @inline(never)
    func missingObject() -> ObjectBase {
        if !core.isClosed { core.mistake("An object is stored as a link.") }
        return object(forKey: Self.noKey)
    }

    /// The position of an object.
    func index(of key: Int64) -> Int? {
        core.checkAccess()
        if isWholeTable, let elements { return core.attempt(or: nil) { try elements.table.index(of: key) } }
        if let order = advancedOrder { return order.firstIndex(of: key) }
        return keys().firstIndex(of: key)
    }

    /// The stored form of the element at a position that must exist.
    func stored(at index: Int) -> _Stored {
        if elements != nil {
            let key = key(at: index)
            return key == Self.noKey ? noElement : _Stored(.link(key))
        }
        if refinement == nil, case .list(let accessor, let key, let property) = source,
            accessor.table.collection(of: property) != .map
        {
            core.checkAccess()
            guard let list = core.attempt(or: nil, { try accessor.table.list(property, key: key) }) else {
                return noElement
            }
            guard index >= 0, index < list.count else {
                refuseIndex(index, count: list.count)
                return noElement
            }
            return _Stored(core.attempt(or: noElement.value) { try list.value(at: index) })
        }
        let values = values()
        guard values.indices.contains(index) else {
            refuseIndex(index, count: values.count)
            return noElement
        }
        return _Stored(values[index])
    }

    /// The object at a position that must exist.
    func object(at index: Int) -> ObjectBase {
        let elements = elements.unsafelyUnwrapped
        guard isWholeTable else { return elements.makeObject(key: key(at: index)) }
        core.checkAccess()
        guard index >= 0, let location = core.attempt(or: nil, { try elements.table.location(at: index) }) else {
            return elements.makeObject(key: noKey(at: index, count))
        }
        return elements.makeObject(key: location.leaf.key(at: location.row), at: location)
    }

    /// An object of the collection.
    func object(forKey key: Int64) -> ObjectBase {
        reader.unsafelyUnwrapped._withUnsafeGuaranteedRef { $0.makeObject(key: key) }
    }
}

/// Traps for a position that does not exist.
@inline(never)
func indexOutOfBounds(_ index: Int, count: Int) -> Never {
    misuse(outOfBoundsMessage(index, count: count))
}

/// Says that a position does not exist.
func outOfBoundsMessage(_ index: Int, count: Int) -> String {
    index < 0
        ? "Cannot pass a negative value for 'index': \(index)."
        : "Index \(index) is out of bounds (must be less than \(count))."
}

extension TableAccessor {
    /// The keys of all rows, or of the first ones, ascending.
    func allKeys(first limit: Int = .max) throws -> [Int64] {
        var keys: [Int64] = []
        keys.reserveCapacity(forClaimed: min(limit, table.count))
        var cursor = table.leaves()
        while keys.count < limit, let leaf = try cursor.next() {
            for row in 0..<min(leaf.rowCount, limit - keys.count) { keys.append(leaf.key(at: row)) }
        }
        return keys
    }
}
