import RealmModel
import RealmQuery
import RealmStorage

/// The same source with other conditions, orders and limits.
extension _CollectionBacking {
    /// The same source with another filter or order.
    private func refined(_ change: (inout CollectionDescriptor) -> Void) throws -> _CollectionBacking {
        core.checkAccess()
        var descriptor = descriptor
        change(&descriptor)
        let refined: _CollectionBacking
        if let misfit {
            refined = _CollectionBacking(self, misfit: misfit, asked: descriptor)
        } else {
            refined = try _CollectionBacking(
                core: core,
                elements: elements,
                shape: shape,
                source: source,
                predicate: descriptor.predicate,
                steps: descriptor.steps
            )
        }
        refined.outlivesOwner = outlivesOwner
        return refined
    }

    /// The objects for which a condition of a typed query holds.
    @usableFromInline
    func filtered(_ condition: Query<Bool>) -> _CollectionBacking {
        if case .memberEquals(let member, let value) = condition.node, isWholeTable, let reader,
            let equality = reader._withUnsafeGuaranteedRef({ $0.equality(member, value) })
        {
            return narrowed(to: equality)
        }
        return core.attempt(or: self) { try filtered(condition.node.predicate(in: core)) }
    }

    /// The objects of the class that an index leads to.
    private func narrowed(to equality: IndexedEquality) -> _CollectionBacking {
        core.checkAccess()
        return _CollectionBacking(self, narrowedTo: equality)
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
        let found = core.attempt(or: self) { try applying(query) }
        // One argument, which is the value. Behind a change of the classes only a declared property is found by the place that it had.
        if arguments.count == 1, query.clauses.isEmpty, let property = found.equality?.property,
            let accessor = wholeTable, accessor.ordinals.contains(property),
            format.utf8.count(where: { $0 == UInt8(ascii: "%") }) == 1, format.contains("%@")
        {
            accessor.rememberEquality(format, property)
        }
        return found
    }

    /// The class when the elements are all its objects, in key order.
    private var wholeTable: TableAccessor? { isWholeTable ? elements : nil }

    func filtered(_ predicate: Predicate) throws -> _CollectionBacking {
        let predicate = columnPredicate(predicate)
        return try refined { descriptor in
            if descriptor.isLimited {
                descriptor.steps.append(.filter(predicate))
                return
            }
            // A filter after a distinct step would have to run after it; it narrows the groups' candidates first, as
            // RealmSwift does.
            descriptor.predicate = descriptor.predicate.map { .conjunction([$0, predicate]) } ?? predicate
        }
    }

    /// A predicate in the names of the file.
    private func columnPredicate(_ predicate: Predicate) -> Predicate {
        columnNames.map { $0.predicate(predicate, from: elements?.info) } ?? predicate
    }

    /// The position of the first object for which a condition of a typed query holds.
    func position(matching condition: Query<Bool>) -> Int? {
        if isDistinct { return core.attempt(or: nil) { try position(matching: condition.node.predicate(in: core)) } }
        return filtered(condition).firstKey().flatMap { index(of: $0) }
    }

    /// The position of the first object for which a predicate holds.
    func position(matching predicate: Predicate) throws -> Int? {
        guard isDistinct else { return try filtered(predicate).firstKey().flatMap { index(of: $0) } }
        // A filter narrows what a distinct step chooses from; here only what it chose is looked through.
        let predicate = columnPredicate(predicate)
        let found = try refined { $0.steps.append(.filter(predicate)) }
        return found.firstKey().flatMap { index(of: $0) }
    }

    /// Whether a step leaves out objects that are equal to others.
    private var isDistinct: Bool {
        refinement?.described.contains { if case .distinct = $0 { true } else { false } } ?? false
    }

    /// The elements for which a parsed predicate holds, in the order that it asks for.
    func applying(_ predicate: RealmPredicate) throws -> _CollectionBacking {
        try core.requireReading()
        if let path = predicate.path, path != core.coordinator.path {
            throw Realm.Error(
                .invalidInput,
                "Object must be from the Realm being queried: it belongs to the file '\(path)'."
            )
        }
        do {
            if let misfit { throw misfit }
            return try applying(predicate.query)
        } catch let error as QueryError {
            throw Realm.Error(.invalidInput, error.description)
        } catch {
            throw Realm.Error.wrap(error, path: core.coordinator.path)
        }
    }

    /// The elements that a query in the string language asks for.
    func applying(_ query: ParsedQuery) throws -> _CollectionBacking {
        let positions = query.clausePositions.value
        return try query.clauses.enumerated()
            .reduce(try filtered(query.predicate)) { backing, item in
                try QueryError.locating(item.offset < positions.count ? positions[item.offset] : nil) {
                    switch item.element {
                    case .sort(let keys):
                        try backing.sorted(
                            keys.map { SortDescriptor(keyPath: $0.path.name, ascending: $0.ascending) }
                        )
                    case .distinct(let paths): try backing.distinct(paths.map(\.name))
                    case .limit(let count): try backing.limited(count, offset: 0)
                    }
                }
            }
    }

    func sorted(_ descriptors: [SortDescriptor]) throws -> _CollectionBacking {
        let descriptors = descriptors.map {
            SortDescriptor(keyPath: columnName($0.keyPath), ascending: $0.ascending)
        }
        return try refined { if !descriptors.isEmpty { $0.steps.append(.sort(descriptors)) } }
    }

    func distinct(_ keyPaths: [String]) throws -> _CollectionBacking {
        let keyPaths = keyPaths.map { columnName($0) }
        return try refined { if !keyPaths.isEmpty { $0.steps.append(.distinct(keyPaths)) } }
    }

    /// Turns the program's names into those in the file; nil where they are the same.
    private var columnNames: ColumnNames? { elements.flatMap { ColumnNames(core, from: $0.info) } }

    /// The path in the file of a path in the program.
    func columnName(_ keyPath: String) -> String {
        columnNames.map { $0.path(keyPath, from: elements?.info) } ?? keyPath
    }

    func limited(_ count: Int, offset: Int) throws -> _CollectionBacking {
        if count < 0 || offset < 0 {
            throw QueryError("A limit and its offset cannot be negative: \(count) and \(offset).")
        }
        return try refined { $0.steps.append(.limit(count, offset: offset)) }
    }
}

extension _CollectionBacking.Step {
    /// Makes steps ready to run.
    static func compiled(_ steps: [CollectionDescriptor.Step], _ elements: TableAccessor?) throws -> [Self] {
        try steps.map { try Self($0, elements) }
    }

    /// Makes a step ready to run.
    init(_ step: CollectionDescriptor.Step, _ elements: TableAccessor?) throws {
        switch step {
        case .sort(let descriptors):
            guard let elements else {
                try Self.checkValuePaths(descriptors.map(\.keyPath), "sort")
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
                try Self.checkValuePaths(paths, "distinct")
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
    /// Throws for the name of a property: values have none.
    private static func checkValuePaths(_ paths: [String], _ operation: String) throws(QueryError) {
        guard let path = paths.first(where: { $0 != "self" && $0 != "SELF" && !$0.isEmpty }) else { return }
        throw QueryError("Cannot \(operation) on key path '\(path)': the elements are values, which only have 'self'.")
    }
}
