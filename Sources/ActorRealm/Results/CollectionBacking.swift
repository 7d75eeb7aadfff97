import CRealmShims
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
    /// The same, for paths where counting a reference would be felt.
    let reader: Unmanaged<TableAccessor>?
    /// Whether the elements are objects.
    @usableFromInline let hasObjects: Bool
    /// Whether these are to be empty when their owner is gone, as the last ones are that an observer gets.
    var outlivesOwner = false
    /// The shape of the elements.
    let shape: _PropertyShape
    @exclusivity(unchecked) private var knownSource: Source
    @exclusivity(unchecked) private var knownEquality: IndexedEquality?
    /// Everything else that is asked of the source; nil where that is nothing.
    @exclusivity(unchecked) private(set) var refinement: Refinement?
    /// The class that tells when the properties have other places: that of the elements, or of the owner.
    private let mapper: Unmanaged<TableAccessor>?
    /// The schema of which the source, the filter and the steps are.
    @exclusivity(unchecked) private var mappedStamp: UInt64
    /// The filter, compiled; with an equality, when a question was asked that the index does not answer, and in a realm of
    /// a delivery each time that one was asked which the observer's keys do not answer.
    @exclusivity(unchecked) private var compiledQuery: CompiledQuery?
    @exclusivity(unchecked) private var cache = Cache()
    /// What was known at an earlier version; nil until there was one.
    @exclusivity(unchecked) private(set) var kept: KeptKeys?
    /// A cursor over links that has come to its end: the next iteration uses it again.
    @exclusivity(unchecked) private var spareCursor: Unmanaged<_CollectionCursor>?
    /// Guards the cache of a frozen collection, which several threads may read.
    private let lock = Mutex(())

    /// The source, looked up.
    enum Source {
        case table
        /// A list, given by its owner and the stored ordinal of the property, as in the other cases.
        case list(TableAccessor, key: Int64, property: Int)
        /// The elements whose property links to a row.
        case backlinks(TableAccessor, key: Int64, property: Int)
        /// A list or dictionary in a value of any kind; `isMap` tells them apart. Behind a reference, so that other collections are smaller.
        indirect case nested(TableAccessor, key: Int64, property: Int, path: [NestedStep], isMap: Bool)

        /// The class of the object that the elements belong to.
        fileprivate var owner: TableAccessor? {
            switch self {
            case .table: nil
            case .list(let accessor, _, _), .backlinks(let accessor, _, _), .nested(let accessor, _, _, _, _): accessor
            }
        }
    }

    enum Step {
        case sort(CompiledSort)
        case distinct(CompiledDistinct)
        case sortValues(ascending: Bool)
        case distinctValues
        case limit(Int, offset: Int)
        case filter(CompiledQuery)
    }

    /// A filter and steps behind it.
    final class Refinement {
        let predicate: Predicate?
        let described: [CollectionDescriptor.Step]
        /// The steps, compiled; nil when that waits until they are asked for.
        let steps: [Step]?
        /// Why the filter or a step does not fit the classes as they are now; nil where all of it fits.
        let misfit: QueryError?

        init(
            _ predicate: Predicate?,
            _ described: [CollectionDescriptor.Step],
            _ elements: TableAccessor?,
            isDeferred: Bool
        ) throws {
            self.predicate = predicate
            self.described = described
            misfit = nil
            steps = isDeferred ? nil : try Step.compiled(described, elements)
        }

        /// What does not fit the classes, kept for when it fits again; no step runs until then.
        init(_ predicate: Predicate?, _ described: [CollectionDescriptor.Step], misfit: QueryError) {
            self.predicate = predicate
            self.described = described
            self.misfit = misfit
            steps = []
        }
    }

    struct Cache {
        var generation: UInt64 = 0
        var writeCount: UInt64 = 0
        /// The durable version; 0 in a transaction, and where it is of no use.
        var version: UInt64 = 0
        var keys: [Int64]?
        /// Keys that an observer knows, or that were known before: their places are found without listing them.
        var order: ObservedOrder?
        var values: [StoredValue]?
        var count: Int?
    }

    /// The difference that observers were told last, for what a change does not carry itself.
    var delivered: CollectionDelta?

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
        reader = elements.map { Unmanaged.passUnretained($0) }
        hasObjects = elements != nil
        self.shape = shape
        knownSource = source
        knownEquality = equality
        refinement = nil
        let mapper = elements ?? source.owner
        self.mapper = mapper.map { Unmanaged.passUnretained($0) }
        mappedStamp = mapper?.mappedStamp ?? 0
    }

    /// Those of all objects of a class that an index leads to.
    init(_ all: __shared _CollectionBacking, narrowedTo equality: IndexedEquality) {
        core = all.core
        elements = all.elements
        reader = all.reader
        hasObjects = all.hasObjects
        shape = all.shape
        knownSource = .table
        knownEquality = equality
        refinement = nil
        mapper = all.mapper
        // What the equality was made with: nobody has told the whole class of a schema that came since.
        mappedStamp = all.mapper?._withUnsafeGuaranteedRef { $0.mappedStamp } ?? 0
    }

    /// The source of another one whose filter or steps do not fit the classes, with what is asked of it now.
    ///
    /// There is no element as long as they do not.
    init(_ other: __shared _CollectionBacking, misfit: QueryError, asked descriptor: CollectionDescriptor) {
        core = other.core
        elements = other.elements
        reader = other.reader
        hasObjects = other.hasObjects
        shape = other.shape
        knownSource = other.source
        knownEquality = nil
        refinement = Refinement(descriptor.predicate, descriptor.steps, misfit: misfit)
        mapper = other.mapper
        mappedStamp = other.mappedStamp
    }

    deinit { spareCursor?.release() }

    /// The elements of a source with a filter and steps behind it, which may wait to be compiled if they are known to fit.
    init(
        core: RealmCore,
        elements: TableAccessor?,
        shape: _PropertyShape,
        source: Source,
        predicate: Predicate?,
        steps: [CollectionDescriptor.Step],
        isDeferred: Bool = false
    ) throws {
        self.core = core
        self.elements = elements
        reader = elements.map { Unmanaged.passUnretained($0) }
        hasObjects = elements != nil
        self.shape = shape
        knownSource = source
        let mapper = elements ?? source.owner
        self.mapper = mapper.map { Unmanaged.passUnretained($0) }
        mappedStamp = mapper?.mappedStamp ?? 0
        refinement =
            predicate == nil && steps.isEmpty
            ? nil : try Refinement(predicate, steps, elements, isDeferred: isDeferred)
        if let predicate {
            guard let elements else {
                throw QueryError("Only collections of objects can be filtered by a predicate.")
            }
            knownEquality = IndexedEquality(predicate, table: elements.table)
            compiledQuery =
                knownEquality == nil && !isDeferred ? try CompiledQuery(predicate, table: elements.table) : nil
        } else {
            knownEquality = nil
        }
    }

    /// Where the elements come from.
    var source: Source {
        @inline(__always) get {
            followSchema()
            return knownSource
        }
    }

    /// The filter when an index alone answers the usual questions.
    var equality: IndexedEquality? {
        @inline(__always) get {
            followSchema()
            return knownEquality
        }
    }

    /// Has everything below be of the schema that the realm stands on.
    @inline(__always)
    private func followSchema() {
        guard let mapper else { return }
        if _slowPath(mapper._withUnsafeGuaranteedRef({ $0.mappedStamp }) != mappedStamp) { mapAnew() }
    }

    /// Finds the properties again, and the index, after the schema has changed.
    @inline(never)
    private func mapAnew() {
        let stamp = mappedStamp
        mappedStamp = mapper?._withUnsafeGuaranteedRef { $0.mappedStamp } ?? 0
        compiledQuery = nil
        switch knownSource {
        case .table: break
        case .list(let owner, let key, let property):
            knownSource = .list(owner, key: key, property: owner.ordinal(of: property, mappedAt: stamp))
        case .nested(let owner, let key, let property, let path, let isMap):
            let ordinal = owner.ordinal(of: property, mappedAt: stamp)
            knownSource = .nested(owner, key: key, property: ordinal, path: path, isMap: isMap)
        case .backlinks(let target, let key, let property):
            let ordinal = elements?.ordinal(of: property, mappedAt: stamp) ?? property
            knownSource = .backlinks(target, key: key, property: ordinal)
        }
        guard let elements else { return }
        if let refinement {
            fit(refinement, elements)
        } else if let equality = knownEquality {
            // The class declares the property, so that it is there.
            let ordinal = elements.ordinal(of: equality.property, mappedAt: stamp)
            let predicate = equality.moved(to: ordinal).predicate(in: elements.table)
            knownEquality = IndexedEquality(predicate, table: elements.table)
            // The index has gone.
            if knownEquality == nil {
                refinement = attempt { try Refinement(predicate, [], elements, isDeferred: false) }
            }
        }
    }

    /// Compiles the filter and the steps for the classes as they are now.
    ///
    /// They may name properties that only the file has. Another release may take such a property away, or make another one of it, and the
    /// realm goes on: there is no element then, until it is there again.
    private func fit(_ asked: Refinement, _ elements: TableAccessor) {
        attempt { () throws -> Void in
            do {
                knownEquality = asked.predicate.flatMap { IndexedEquality($0, table: elements.table) }
                // In a realm that was invalidated nobody runs the filter any more.
                if knownEquality == nil, core.lifecycle != .invalidated, let predicate = asked.predicate {
                    compiledQuery = try CompiledQuery(predicate, table: elements.table)
                }
                let isDeferred = asked.steps == nil
                refinement = try Refinement(asked.predicate, asked.described, elements, isDeferred: isDeferred)
            } catch let error as QueryError {
                knownEquality = nil
                compiledQuery = nil
                refinement = Refinement(asked.predicate, asked.described, misfit: error)
            }
        }
    }

    /// Why there is no element: the filter or a step does not fit the classes as they are now; nil where they fit.
    var misfit: QueryError? {
        followSchema()
        return refinement?.misfit
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
        case .nested(let accessor, let key, let property, let path, let isMap):
            isDynamic = accessor.info.isDynamic
            origin = .nested(
                ownerClass: accessor.info.name,
                ownerKey: key,
                property: column(property, of: accessor),
                path: path,
                isMap: isMap
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
    var predicate: Predicate? {
        // Asked for first: it finds out whether the schema has changed.
        let equality = equality
        if let refinement { return refinement.predicate }
        guard let equality, let elements else { return nil }
        return equality.predicate(in: elements.table)
    }

    var steps: [Step] {
        followSchema()
        guard let refinement else { return [] }
        return refinement.steps ?? attempt { try Step.compiled(refinement.described, elements) }
    }

    /// Whether the elements are all that link to a row.
    var isLinks: Bool {
        guard refinement == nil, case .backlinks = source else { return false }
        return true
    }

    /// Turns into the links to another row of the same class, which an accessor was pointed at; false when these are
    /// no such links.
    ///
    /// The caller is the only one who holds them.
    func follow(_ object: ObjectBase) -> Bool {
        guard refinement == nil, case .backlinks(let accessor, _, let property) = source else { return false }
        knownSource = .backlinks(accessor, key: object.rowKey, property: property)
        cache.generation = .max
        return true
    }

    /// Keeps a cursor for the next iteration.
    func keepSpare(_ cursor: _CollectionCursor) {
        if spareCursor == nil { spareCursor = Unmanaged.passRetained(cursor) }
    }

    /// The cursor that was kept, if nobody else holds it.
    @inline(__always)
    func takeSpareCursor() -> _CollectionCursor? {
        guard let cursor = spareCursor, crealm_is_sole_reference(cursor.toOpaque()) != 0 else { return nil }
        spareCursor = nil
        return cursor.takeRetainedValue()
    }

    /// Calls a function with the keys of all that link to a row, which are not kept.
    @inline(__always)
    func forEachLink(_ body: (Int64) -> Void) {
        guard case .backlinks(let accessor, let key, let property) = source, let elements else { return }
        core.attempt(or: ()) { try accessor.forEachBacklink(of: key, from: elements, property: property, body) }
    }

    /// The filter, compiled.
    var query: CompiledQuery? {
        followSchema()
        if let compiledQuery { return compiledQuery }
        // What does not fit the classes holds for no row.
        let asked: Predicate? = refinement?.misfit == nil ? predicate : .constant(false)
        guard let asked, let elements else { return nil }
        let query = attempt { try CompiledQuery(asked, table: elements.table) }
        // Several threads may ask a frozen collection at once: there it is compiled each time.
        if !core.isFrozen { compiledQuery = query }
        return query
    }

    /// Whether the elements are exactly the rows of the table, in key order.
    ///
    /// No change of the schema makes it so, or ends it: what is known is looked at where it is.
    var isWholeTable: Bool {
        guard case .table = knownSource, refinement == nil else { return false }
        if case .some = knownEquality { return false }
        return true
    }

    /// Whether the realm was invalidated or closed, or, where these are all elements of a list, or all links to an object, that is gone.
    ///
    /// What a query selects from them is empty then.
    var isInvalidated: Bool {
        if core.isInvalidated { return true }
        if refinement != nil { return false }
        if case .table = knownSource { return false }
        core.checkAccess()
        return isOwnerDeleted
    }

    /// Whether the list's owner is gone; not where damage keeps that from being known, which whoever reads the list meets.
    var isOwnerDeleted: Bool {
        switch source {
        case .table: return false
        case .list(let accessor, let key, _), .backlinks(let accessor, let key, _):
            return !accessor.mayHave(key)
        case .nested(let accessor, let key, let property, let path, let isMap):
            do { return try !accessor.table.hasNested(property, key: key, path, isMap: isMap) } catch { return false }
        }
    }

    func withCache<Result>(_ body: (inout Cache) throws -> Result) rethrows -> Result {
        if core.isFrozen {
            return try lock.withLock { _ in Unchecked(value: try body(&cache)) }.value
        }
        let generation = core.model.generation.pointee
        let writeCount = core.registry.writeCount.pointee
        if cache.generation != generation || cache.writeCount != writeCount {
            renewCache(generation, writeCount)
        }
        return try body(&cache)
    }

    /// Begins anew, and keeps what was known aside.
    private func renewCache(_ generation: UInt64, _ writeCount: UInt64) {
        guard canAdvance else {
            cache = Cache(generation: generation, writeCount: writeCount)
            return
        }
        if cache.version > 0, let order = cache.order ?? cache.keys.map({ .list($0) }) {
            let kept = self.kept ?? KeptKeys()
            kept.keep(order, at: cache.version)
            self.kept = kept
        }
        kept?.current = nil
        cache = Cache(generation: generation, writeCount: writeCount)
        if !core.model.isInTransaction, core.lifecycle == .open { cache.version = core.model.snapshot.version }
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
    func checkReading() {
        if !isEmptied { core.checkAccess() }
    }
}
