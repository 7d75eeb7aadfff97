package import RealmModel

/// The commonest of all queries, `indexed == constant`, recognised without compiling a predicate.
///
/// It finds one row in the time that compiling would take. What the index alone does not answer goes through
/// ``CompiledQuery``.
package struct IndexedEquality: Sendable {
    /// The ordinal of the property, and what it must have.
    package let property: Int
    package let value: StoredValue

    /// Recognises a predicate; nil for all that need to be compiled, what does not fit the schema included.
    package init?(_ predicate: Predicate, table: TableView) {
        guard case .comparison(let comparison) = predicate,
            comparison.operation == .equal, comparison.options == .none, comparison.quantifier == nil,
            case .path(let path) = comparison.left, path.steps.count == 1, case .property(let name) = path.steps[0],
            case .value(let constant) = comparison.right, let ordinal = table.ordinal(of: name)
        else { return nil }
        self.init(ordinal, constant, table: table)
    }

    /// A property and the value that it must have; nil when there is no index, or the value is not simply one of its kind.
    package init?(_ ordinal: Int, _ constant: __shared PredicateValue, table: __shared TableView) {
        guard table.hasIndex(ordinal) else { return nil }
        switch (table.kind(of: ordinal), constant) {
        case (.int, .int(let number)): value = .int(number)
        case (.string, .string(let text)): value = .string(text)
        case (.objectId, .objectId(let identifier)): value = .objectId(identifier)
        case (.uuid, .uuid(let identifier)): value = .uuid(identifier)
        default: return nil
        }
        property = ordinal
    }

    private init(property: Int, value: StoredValue) {
        self.property = property
        self.value = value
    }

    /// The same value of the same property, which has another ordinal.
    package func moved(to ordinal: Int) -> IndexedEquality { IndexedEquality(property: ordinal, value: value) }

    /// The predicate, with the name that the property has in the file.
    package func predicate(in table: TableView) -> Predicate {
        let constant: PredicateValue =
            switch value {
            case .int(let number): .int(number)
            case .string(let text): .string(text)
            case .objectId(let identifier): .objectId(identifier)
            case .uuid(let identifier): .uuid(identifier)
            default: .null
            }
        return .compare(
            .path(PropertyPath(steps: [.property(table.schema.properties[property].name)])),
            .equal,
            .value(constant)
        )
    }

    /// The first row, in key order, with the value.
    package func firstKey(in table: TableView) throws -> Int64? {
        try table.firstKey(property: property, equalTo: value)
    }

    /// The rows with the value, ascending.
    package func keys(in table: TableView) throws -> [Int64] {
        if table.primaryKeyOrdinal == property { return try firstKey(in: table).map { [$0] } ?? [] }
        return try table.indexedKeys(property: property, equalTo: value)
    }

    /// The number of rows with the value.
    package func count(in table: TableView) throws -> Int {
        if table.holdsUniqueValues(of: property) { return try firstKey(in: table) == nil ? 0 : 1 }
        return try keys(in: table).count
    }
}
