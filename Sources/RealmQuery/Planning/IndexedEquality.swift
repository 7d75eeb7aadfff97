package import RealmModel

/// The commonest of all queries, `indexed == constant`, recognised in a predicate without compiling it.
///
/// It finds one row in the time that compiling would take. Everything else that is asked of such a query goes through
/// ``CompiledQuery``.
package struct IndexedEquality: Sendable {
    private let property: Int
    private let value: StoredValue

    /// Recognises a predicate; nil for all that need to be compiled, what does not fit the schema included.
    package init?(_ predicate: Predicate, table: TableView) {
        guard case .comparison(let comparison) = predicate,
            comparison.operation == .equal, comparison.options == .none, comparison.quantifier == nil,
            case .path(let path) = comparison.left, path.steps.count == 1, case .property(let name) = path.steps[0],
            case .value(let constant) = comparison.right,
            let ordinal = table.ordinal(of: name), table.hasIndex(ordinal)
        else { return nil }
        switch (table.kind(of: ordinal), constant) {
        case (.int, .int(let number)): value = .int(number)
        case (.string, .string(let text)): value = .string(text)
        case (.objectId, .objectId(let identifier)): value = .objectId(identifier)
        case (.uuid, .uuid(let identifier)): value = .uuid(identifier)
        default: return nil
        }
        property = ordinal
    }

    /// The first row, in key order, with the value.
    package func firstKey(in table: TableView) throws -> Int64? {
        if table.primaryKeyOrdinal == property { return try table.find(primaryKey: value) }
        return try table.indexedKeys(property: property, equalTo: value, limit: 1).first
    }
}
