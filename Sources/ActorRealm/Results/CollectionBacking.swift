import RealmModel
import RealmQuery
import RealmStorage
import Synchronization

/// The contents of a managed collection: where they come from, what is asked of them, and, once read, their keys.
///
/// What was read is kept until the realm moves to another version or something is written.
public final class _CollectionBacking {
    let core: RealmCore
    /// The class of the elements; nil for values.
    unowned(unsafe) let elements: TableAccessor?
    /// The shape of the elements.
    let shape: _PropertyShape
    let source: Source
    /// The filter when an index alone answers the usual questions.
    private let equality: IndexedEquality?
    /// Everything else that is asked of the source; nil where that is nothing.
    private let refinement: Refinement?
    /// The filter, compiled; with an equality, when a question was asked that the index does not answer.
    @exclusivity(unchecked) private var compiledQuery: CompiledQuery?
    @exclusivity(unchecked) private var cache = Cache()
    /// Guards the cache of a frozen collection, which several threads may read.
    private let lock = Mutex(())

    /// The source, looked up.
    enum Source {
        case table
        case list(TableAccessor, key: Int64, property: Int)
        /// The elements whose property links to a row.
        case backlinks(TableAccessor, key: Int64, property: Int)
        /// A list or dictionary in a value of any kind.
        case nested(TableAccessor, key: Int64, property: Int, path: [NestedStep])
    }

    fileprivate enum Step {
        case sort(CompiledSort)
        case distinct(CompiledDistinct)
        case sortValues(ascending: Bool)
        case distinctValues
        case limit(Int, offset: Int)
        case filter(CompiledQuery)
    }

    /// A filter and steps behind it.
    private final class Refinement {
        let predicate: Predicate?
        let described: [CollectionDescriptor.Step]
        let steps: [Step]

        init(_ predicate: Predicate?, _ described: [CollectionDescriptor.Step], _ elements: TableAccessor?) throws {
            self.predicate = predicate
            self.described = described
            steps = try described.map { try Step($0, elements) }
        }
    }

    private struct Cache {
        var generation: UInt64 = 0
        var writeCount: UInt64 = 0
        var keys: [Int64]?
        /// Keys that an observer knows: their places are found without listing them.
        var order: ObservedOrder?
        var values: [StoredValue]?
        var count: Int?
    }

    /// The elements of a source, or those of a class that an index leads to.
    init(
        core: RealmCore,
        elements: TableAccessor?,
        shape: _PropertyShape,
        source: Source,
        equality: IndexedEquality? = nil
    ) {
        self.core = core
        self.elements = elements
        self.shape = shape
        self.source = source
        self.equality = equality
        refinement = nil
    }

    /// The elements of a source with a filter and steps behind it.
    init(
        core: RealmCore,
        elements: TableAccessor?,
        shape: _PropertyShape,
        source: Source,
        predicate: Predicate?,
        steps: [CollectionDescriptor.Step]
    ) throws {
        self.core = core
        self.elements = elements
        self.shape = shape
        self.source = source
        refinement = predicate == nil && steps.isEmpty ? nil : try Refinement(predicate, steps, elements)
        if let predicate {
            guard let elements else {
                throw QueryError("Only collections of objects can be filtered by a predicate.")
            }
            equality = IndexedEquality(predicate, table: elements.table)
            compiledQuery = equality == nil ? try CompiledQuery(predicate, table: elements.table) : nil
        } else {
            equality = nil
        }
    }

    /// What the collection holds and in which order, without its realm.
    var descriptor: CollectionDescriptor {
        let origin: CollectionDescriptor.Source
        var isDynamic = elements?.info.isDynamic ?? false
        func column(_ property: Int, of accessor: TableAccessor) -> String {
            accessor.table.schema.properties[property].name
        }
        switch source {
        case .table: origin = .table
        case .list(let accessor, let key, let property):
            isDynamic = accessor.info.isDynamic
            origin = .list(
                ownerClass: accessor.info.name,
                ownerKey: key,
                property: column(property, of: accessor)
            )
        case .nested(let accessor, let key, let property, let path):
            isDynamic = accessor.info.isDynamic
            origin = .nested(
                ownerClass: accessor.info.name,
                ownerKey: key,
                property: column(property, of: accessor),
                path: path
            )
        case .backlinks(let accessor, let key, let property):
            isDynamic = accessor.info.isDynamic
            origin = .backlinks(
                targetClass: accessor.info.name,
                targetKey: key,
                property: elements.map { column(property, of: $0) } ?? ""
            )
        }
        return CollectionDescriptor(
            source: origin,
            className: elements?.info.name,
            isDynamic: isDynamic,
            predicate: predicate,
            steps: refinement?.described ?? []
        )
    }

    /// The filter; nil for none.
    private var predicate: Predicate? {
        if let refinement { return refinement.predicate }
        guard let equality, let elements else { return nil }
        return equality.predicate(in: elements.table)
    }

    private var steps: [Step] { refinement?.steps ?? [] }

    /// The same source with another filter or order.
    private func refined(_ change: (inout CollectionDescriptor) -> Void) throws -> _CollectionBacking {
        core.checkAccess()
        var descriptor = descriptor
        change(&descriptor)
        return try _CollectionBacking(
            core: core,
            elements: elements,
            shape: shape,
            source: source,
            predicate: descriptor.predicate,
            steps: descriptor.steps
        )
    }

    /// The objects for which a condition of a typed query holds.
    @usableFromInline
    func filtered(_ condition: Query<Bool>) -> _CollectionBacking {
        if case .memberEquals(let member, let value) = condition.node,
            let equality = wholeTable?.equality(member._withUnsafeGuaranteedRef { $0 }, value)
        {
            return narrowed(to: equality)
        }
        return attempt { try filtered(condition.node.predicate(in: core)) }
    }

    /// The objects of the class that an index leads to.
    private func narrowed(to equality: IndexedEquality) -> _CollectionBacking {
        core.checkAccess()
        return _CollectionBacking(core: core, elements: elements, shape: shape, source: source, equality: equality)
    }

    /// The objects for which a predicate in the string language holds, with the steps that stand behind it.
    func filtered(_ format: String, _ arguments: [Any]) -> _CollectionBacking {
        if arguments.count == 1, let accessor = wholeTable, let ordinal = accessor.knownEquality(format),
            let value = try? PredicateFormat.value(arguments[0], in: core),
            let equality = IndexedEquality(ordinal, value, table: accessor.table)
        {
            return narrowed(to: equality)
        }
        let query = PredicateFormat.query(format, arguments, in: core)
        let found = attempt { try applying(query) }
        // One argument, which is the value.
        if arguments.count == 1, query.clauses.isEmpty, let property = found.equality?.property,
            format.utf8.count(where: { $0 == UInt8(ascii: "%") }) == 1, format.contains("%@")
        {
            wholeTable?.rememberEquality(format, property)
        }
        return found
    }

    /// The class when the elements are all its objects, in key order.
    private var wholeTable: TableAccessor? { isWholeTable ? elements : nil }

    func filtered(_ predicate: Predicate) throws -> _CollectionBacking {
        let predicate = columnNames.map { $0.predicate(predicate, from: elements?.info) } ?? predicate
        return try refined { descriptor in
            if descriptor.isLimited {
                descriptor.steps.append(.filter(predicate))
                return
            }
            // A filter after a distinct step would have to run after it; it narrows the groups' candidates first, as
            // RealmSwift does.
            descriptor.predicate = descriptor.predicate.map { .conjunction($0, predicate) } ?? predicate
        }
    }

    /// The elements that a query in the string language asks for.
    func applying(_ query: ParsedQuery) throws -> _CollectionBacking {
        try query.clauses.reduce(try filtered(query.predicate)) { backing, clause in
            switch clause {
            case .sort(let keys):
                try backing.sorted(
                    keys.map { SortDescriptor(keyPath: $0.path.name, ascending: $0.ascending) }
                )
            case .distinct(let paths): try backing.distinct(paths.map(\.name))
            case .limit(let count): try backing.limited(count, offset: 0)
            }
        }
    }

    func sorted(_ descriptors: [SortDescriptor]) throws -> _CollectionBacking {
        let descriptors = descriptors.map {
            SortDescriptor(keyPath: columnName($0.keyPath), ascending: $0.ascending)
        }
        return try refined { $0.steps.append(.sort(descriptors)) }
    }

    func distinct(_ keyPaths: [String]) throws -> _CollectionBacking {
        let keyPaths = keyPaths.map { columnName($0) }
        return try refined { $0.steps.append(.distinct(keyPaths)) }
    }

    /// Turns the program's names into those in the file; nil where they are the same.
    private var columnNames: ColumnNames? { elements == nil ? nil : ColumnNames(core) }

    /// The path in the file of a path in the program.
    func columnName(_ keyPath: String) -> String {
        columnNames.map { $0.path(keyPath, from: elements?.info) } ?? keyPath
    }

    func limited(_ count: Int, offset: Int) throws -> _CollectionBacking {
        if count < 0 || offset < 0 {
            misuse("A limit and its offset cannot be negative: limit(\(count), offset: \(offset)).")
        }
        return try refined { $0.steps.append(.limit(count, offset: offset)) }
    }

    /// Whether the elements are all that link to a row.
    var isLinks: Bool {
        guard refinement == nil, case .backlinks = source else { return false }
        return true
    }

    /// Calls a function with the keys of all that link to a row, which are not kept.
    @inline(__always)
    func forEachLink(_ body: (Int64) -> Void) {
        guard case .backlinks(let accessor, let key, let property) = source, let elements else { return }
        attempt { try accessor.forEachBacklink(of: key, from: elements, property: property, body) }
    }

    // MARK: Contents

    /// The filter, compiled.
    private var query: CompiledQuery? {
        if let compiledQuery { return compiledQuery }
        guard equality != nil, let predicate, let elements else { return nil }
        let query = attempt { try CompiledQuery(predicate, table: elements.table) }
        // Several threads may ask a frozen collection at once: there it is compiled each time.
        if !core.isFrozen { compiledQuery = query }
        return query
    }

    /// Whether the elements are exactly the rows of the table, in key order.
    var isWholeTable: Bool {
        guard case .table = source else { return false }
        return equality == nil && refinement == nil
    }

    /// Whether the list's owner is gone.
    var isOwnerDeleted: Bool {
        switch source {
        case .table: false
        case .list(let accessor, let key, _), .backlinks(let accessor, let key, _):
            !attempt { try accessor.table.contains(key: key) }
        case .nested(let accessor, let key, let property, let path):
            attempt { try accessor.table.nested(property, key: key, path) } == nil
        }
    }

    private func withCache<Result>(_ body: (inout Cache) throws -> Result) rethrows -> Result {
        if core.isFrozen {
            return try lock.withLock { _ in Unchecked(value: try body(&cache)) }.value
        }
        let generation = core.model.generation.pointee
        let writeCount = core.registry.writeCount.pointee
        if cache.generation != generation || cache.writeCount != writeCount {
            cache = Cache(generation: generation, writeCount: writeCount)
        }
        return try body(&cache)
    }

    /// Takes a result out of the lock; unchecked because results are values, or frozen.
    private struct Unchecked<Value>: @unchecked Sendable { let value: Value }

    /// Whether these are results of a realm that was invalidated: they may be read, and are empty.
    var isEmptied: Bool {
        guard _slowPath(core.lifecycle == .invalidated), case .table = source else { return false }
        return true
    }

    /// Checks the access.
    @inline(__always)
    private func checkReading() {
        if !isEmptied { core.checkAccess() }
    }

    /// The keys of the objects, in order.
    func keys() -> [Int64] {
        checkReading()
        return withCache { cache in
            if let keys = cache.keys { return keys }
            let keys = cache.order?.array() ?? attempt { try computeKeys() }
            cache.keys = keys
            return keys
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
            let values = attempt { try computeValues() }
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
        case .nested(let accessor, let key, let property, let path):
            switch try accessor.table.nested(property, key: key, path) {
            case .list(let elements): values = elements
            case .dictionary(let entries): values = entries.map(\.value)
            default: return []
            }
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
            let count = attempt { try computeCount(&cache) }
            cache.count = count
            return count
        }
    }

    /// Whether a step leaves elements out.
    private var isNarrowed: Bool {
        refinement?.described.contains { if case .sort = $0 { false } else { true } } ?? false
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
        if isWholeTable, let elements { return attempt { try elements.table.key(at: 0) } }
        if let equality, refinement == nil, let elements { return attempt { try elements.firstKey(equality) } }
        if let known = withCache({ $0.keys }) { return known.first }
        if let order = withCache({ $0.order }) { return order.count > 0 ? order[0] : nil }
        let steps = steps
        if case .table = source, steps.isEmpty, let elements {
            if let equality { return attempt { try elements.firstKey(equality) } }
            if let query { return attempt { try query.first() } }
        }
        if case .table = source, steps.count == 1, case .sort(let sort) = steps[0], let elements {
            return attempt { try (query ?? everything(elements)).keys(sortedBy: sort, limit: 1).first }
        }
        return keys().first
    }

    /// Whether the elements are objects.
    @usableFromInline var hasObjects: Bool { elements != nil }

    /// The key at a position that must exist.
    func key(at index: Int) -> Int64 {
        if isWholeTable, let elements {
            core.checkAccess()
            guard index >= 0, let key = attempt({ try elements.table.key(at: index) }) else {
                indexOutOfBounds(index, count: count)
            }
            return key
        }
        checkReading()
        if let order = withCache({ $0.keys == nil ? $0.order : nil }) {
            guard index >= 0, index < order.count else { indexOutOfBounds(index, count: order.count) }
            return order[index]
        }
        let keys = keys()
        guard keys.indices.contains(index) else { indexOutOfBounds(index, count: keys.count) }
        return keys[index]
    }

    /// The position of an object.
    func index(of key: Int64) -> Int? {
        core.checkAccess()
        if isWholeTable, let elements { return attempt { try elements.table.index(of: key) } }
        if let order = withCache({ $0.order }) { return order.firstIndex(of: key) }
        return keys().firstIndex(of: key)
    }

    /// The stored form of the element at a position that must exist.
    func stored(at index: Int) -> _Stored {
        if elements != nil { return _Stored(.link(key(at: index))) }
        if refinement == nil, case .list(let accessor, let key, let property) = source,
            accessor.table.collection(of: property) != .map
        {
            core.checkAccess()
            let list = attempt { try accessor.table.list(property, key: key) }
            guard index >= 0, index < list.count else { indexOutOfBounds(index, count: list.count) }
            return _Stored(attempt { try list.value(at: index) })
        }
        let values = values()
        guard values.indices.contains(index) else { indexOutOfBounds(index, count: values.count) }
        return _Stored(values[index])
    }

    /// The object at a position that must exist.
    func object(at index: Int) -> ObjectBase {
        let elements = elements.unsafelyUnwrapped
        guard isWholeTable else { return elements.makeObject(key: key(at: index)) }
        core.checkAccess()
        guard index >= 0, let location = attempt({ try elements.table.location(at: index) }) else {
            indexOutOfBounds(index, count: count)
        }
        return elements.makeObject(key: location.leaf.key(at: location.row), at: location)
    }

    /// An object of the collection.
    func object(forKey key: Int64) -> ObjectBase { elements.unsafelyUnwrapped.makeObject(key: key) }

    // MARK: Aggregates

    /// Computes over a property of the objects, or over the values themselves.
    func aggregate(_ operation: AggregateOperation, _ property: String?) throws -> _Stored {
        core.checkAccess()
        guard let elements else { return _Stored(try StoredValue.aggregate(operation, values(), kind: shape.kind)) }
        guard let property else {
            throw QueryError("Operation '\(operation.name)' needs a property when the elements are objects.")
        }
        let aggregation = try Aggregation(operation, of: PropertyPath(columnName(property)), table: elements.table)
        if isWholeTable { return _Stored(try aggregation.value()) }
        if case .table = source, let query, !isNarrowed, withCache({ $0.keys == nil && $0.order == nil }) {
            return _Stored(try aggregation.value(where: query))
        }
        return _Stored(try aggregation.value(of: keys()))
    }
}

extension _CollectionBacking.Step {
    /// Makes a step ready to run.
    fileprivate init(_ step: CollectionDescriptor.Step, _ elements: TableAccessor?) throws {
        switch step {
        case .sort(let descriptors):
            guard let elements else {
                self = .sortValues(ascending: descriptors.first?.ascending ?? true)
                return
            }
            self = .sort(
                try CompiledSort(
                    SortOrder(descriptors.map { (path: $0.keyPath, ascending: $0.ascending) }),
                    table: elements.table
                )
            )
        case .distinct(let paths):
            guard let elements else {
                self = .distinctValues
                return
            }
            self = .distinct(try CompiledDistinct(paths.map { PropertyPath($0) }, table: elements.table))
        case .limit(let count, let offset): self = .limit(count, offset: offset)
        case .filter(let predicate):
            guard let elements else {
                throw QueryError("Only collections of objects can be filtered by a predicate.")
            }
            self = .filter(try CompiledQuery(predicate, table: elements.table))
        }
    }
}

/// Traps for a position that does not exist.
@inline(never)
func indexOutOfBounds(_ index: Int, count: Int) -> Never {
    if index < 0 { misuse("Cannot pass a negative value for 'index': \(index).") }
    misuse("Index \(index) is out of bounds (must be less than \(count)).")
}

extension TableAccessor {
    /// The keys of all rows, ascending.
    func allKeys() throws -> [Int64] {
        var keys: [Int64] = []
        keys.reserveCapacity(table.count)
        var cursor = table.leaves()
        while let leaf = try cursor.next() {
            for row in 0..<leaf.rowCount { keys.append(leaf.key(at: row)) }
        }
        return keys
    }
}
