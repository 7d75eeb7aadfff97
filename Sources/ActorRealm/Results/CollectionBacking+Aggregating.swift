import RealmModel
import RealmQuery
import RealmStorage

/// Sums, averages and extremes.
extension _CollectionBacking {
    /// Computes over a property of the objects, or over the values themselves.
    func aggregate(_ operation: AggregateOperation, _ property: String?) throws -> _Stored {
        checkReading()
        guard let elements else {
            if let property { throw _Stored.noProperty(property) }
            return _Stored(try StoredValue.aggregate(operation, values(), kind: shape.kind))
        }
        guard let property else {
            throw QueryError("Operation '\(operation.name)' needs a property when the elements are objects.")
        }
        // Results of a realm that was invalidated are empty.
        if isEmptied, let kind = try? ValuePath.property(property, of: elements.info)?.shape.kind {
            return _Stored(try StoredValue.aggregate(operation, [], kind: kind))
        }
        let aggregation = try Aggregation(operation, of: PropertyPath(columnName(property)), table: elements.table)
        if isWholeTable { return _Stored(try aggregation.value()) }
        if case .table = source, let query, !isNarrowed, withCache({ $0.keys == nil && $0.order == nil }) {
            return _Stored(try aggregation.value(where: query))
        }
        return _Stored(try aggregation.value(of: keys()))
    }
}
