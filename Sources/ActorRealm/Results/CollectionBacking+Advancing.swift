import RealmModel
import RealmQuery
import RealmStorage

/// Taking keys that were read at one version to another, by what changed between them.
extension _CollectionBacking {
    /// The keys at the last durable version at which they were read.
    ///
    /// Nothing is held for them: neither the version nor the log that leads on from it.
    struct EarlierKeys {
        let keys: ResultKeys
        let version: UInt64
        /// The classes of that version.
        let schemaStamp: UInt64
    }

    /// Whether what is known at one version can be of use at the next.
    ///
    /// What an index gives at once is not worth keeping, and lists and links are as quick to read.
    var canAdvance: Bool {
        guard case .table = source, let refinement, elements != nil else { return false }
        return equality == nil || !refinement.described.isEmpty
    }

    /// Fills the cache with the keys that were known before, taken to what is read now; false where they are to be
    /// computed.
    @discardableResult
    func advance(_ cache: inout Cache) -> Bool {
        guard let earlier, cache.keys == nil, cache.known == nil, core.lifecycle == .open else { return false }
        // What the log does not say now it will not say later; a transaction may end.
        if !core.model.isInTransaction { self.earlier = nil }
        // A log that cannot be read is no reason not to run the query.
        guard let keys = try? advanced(earlier) else { return false }
        cache.known = keys
        cache.count = keys.order.count
        return true
    }

    private func advanced(_ earlier: EarlierKeys) throws -> ResultKeys? {
        let model = core.model
        guard let elements, earlier.schemaStamp == model.schema.stamp, core.migration == nil else { return nil }
        let count = earlier.keys.order.count
        if advancing?.fits(model) != true {
            let descriptor = descriptor
            guard let className = descriptor.className else { return nil }
            advancing = try ResultAdvance(
                descriptor.observedQuery(of: className),
                query,
                in: model,
                economy: core.resultEconomy
            )
        }
        guard let advancing, advancing.isWorthwhile(count, of: elements.table) else { return nil }
        let limits = ResultSteps.Limits(
            byteCount: advancing.readingLimit(count, of: elements.table),
            rowCount: advancing.touchedLimit(count, of: elements.table)
        )
        guard let step = try core.resultSteps.step(from: earlier.version, in: core, within: limits) else { return nil }
        return try advancing.advanced(earlier.keys, by: step)
    }
}
