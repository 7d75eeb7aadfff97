package import RealmModel

/// What an observer watches: a collection of objects, described so that it can be evaluated at any version.
package struct ObservedQuery: Sendable {
    /// Where the objects come from.
    package enum Source: Sendable, Equatable {
        /// Every row of the class.
        case table
        /// A list of links of one row.
        case list(ownerClass: String, ownerKey: Int64, property: String)
        /// The rows that link to one row with a property.
        case backlinks(targetClass: String, targetKey: Int64, property: String)
    }

    /// What happens to the rows after the filter, in order.
    package enum Step: Sendable, Equatable {
        case sort(SortOrder)
        case distinct([PropertyPath])
        case limit(Int, offset: Int)
        case filter(Predicate)
    }

    /// The class of the objects.
    package var className: String
    package var source: Source
    /// What each object has to fulfil; nil for nothing.
    package var predicate: Predicate?
    package var steps: [Step]

    package init(className: String, source: Source = .table, predicate: Predicate? = nil, steps: [Step] = []) {
        self.className = className
        self.source = source
        self.predicate = predicate
        self.steps = steps
    }

    /// The keys of the collection at a version, in its order; nil when its owner does not exist there.
    package func keys(in model: ModelView) throws -> [Int64]? {
        guard let table = try model.table(named: className) else { return [] }
        var keys: [Int64]
        switch source {
        case .table:
            keys = try CompiledQuery(predicate ?? .constant(true), table: table).keys()
        case .list(let ownerClass, let ownerKey, let property):
            guard let owner = try model.table(named: ownerClass), try owner.contains(key: ownerKey),
                let ordinal = owner.schema.ordinal(of: property)
            else { return nil }
            keys = try matching(try owner.linkedKeys(ordinal, key: ownerKey), in: table)
        case .backlinks(let targetClass, let targetKey, let property):
            guard let target = try model.table(named: targetClass), try target.contains(key: targetKey),
                let ordinal = table.schema.ordinal(of: property)
            else { return nil }
            let origins = try target.backlinkKeys(of: targetKey, from: table.id, property: ordinal)
            keys = try matching(origins, in: table)
        }
        for step in steps {
            switch step {
            case .sort(let order):
                keys = try CompiledSort(order, table: table).sorted(keys)
            case .distinct(let paths):
                keys = try CompiledDistinct(paths, table: table).distinct(keys)
            case .limit(let count, let offset):
                keys = Array(keys.dropFirst(offset).prefix(count))
            case .filter(let predicate):
                keys = try CompiledQuery(predicate, table: table).filter(keys)
            }
        }
        return keys
    }

    private func matching(_ keys: [Int64], in table: TableView) throws -> [Int64] {
        guard let predicate else { return keys }
        return try CompiledQuery(predicate, table: table).filter(keys)
    }
}
