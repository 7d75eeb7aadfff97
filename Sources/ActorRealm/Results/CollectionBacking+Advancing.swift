import RealmModel
import RealmQuery
import RealmStorage

/// The keys of results at the last durable version at which they were read.
///
/// Nothing is held for them: neither the version nor the log that leads on from it.
final class KeptKeys {
    /// The keys at an earlier version; nil when nothing leads on from it.
    private(set) var earlier: (keys: ResultKeys, version: UInt64)?
    /// What the earlier ones became at the version that is read.
    var current: ResultKeys?
    /// What takes keys to a later version, once that was asked for.
    private var advancing: ResultAdvance?

    /// Keeps keys that were known at a version.
    func keep(_ order: ObservedOrder, at version: UInt64) {
        earlier = (current ?? ResultKeys(order), version)
    }

    /// Takes the earlier keys to what is read now; nil where they are to be computed.
    func advanced(of backing: _CollectionBacking) throws -> ObservedOrder? {
        let core = backing.core
        guard let earlier, core.lifecycle == .open else { return nil }
        // What the log does not say now it will not say later; a transaction may end.
        if !core.model.isInTransaction { self.earlier = nil }
        // Classes that changed meanwhile have a later stamp.
        guard let table = backing.elements?.table, core.model.schema.stamp <= earlier.version, core.migration == nil,
            let advancing = try advancing(for: backing)
        else { return nil }
        let count = earlier.keys.order.count
        guard advancing.isWorthwhile(count, of: table) else { return nil }
        let limits = ResultSteps.Limits(
            byteCount: advancing.readingLimit(count, of: table),
            rowCount: advancing.touchedLimit(count, of: table)
        )
        guard let step = try core.resultSteps.step(from: earlier.version, in: core, within: limits) else { return nil }
        current = try advancing.advanced(earlier.keys, by: step)
        return current?.order
    }

    private func advancing(for backing: _CollectionBacking) throws -> ResultAdvance? {
        let core = backing.core
        if let advancing, advancing.fits(core.model) { return advancing }
        let descriptor = backing.descriptor
        guard let className = descriptor.className else { return nil }
        advancing = try ResultAdvance(
            descriptor.observedQuery(of: className),
            backing.query,
            in: core.model,
            economy: core.resultEconomy
        )
        return advancing
    }
}

/// Taking keys that were read at one version to another, by what changed between them.
extension _CollectionBacking {
    /// Whether what is known at one version can be of use at the next.
    ///
    /// What an index gives at once is not worth keeping, and lists and links are as quick to read.
    var canAdvance: Bool {
        guard misfit == nil, let refinement, case .table = source, elements != nil else { return false }
        return equality == nil || !refinement.described.isEmpty
    }

    /// Fills the cache with the keys that were known before, taken to what is read now; false where they are to be
    /// computed.
    @discardableResult
    func advance(_ cache: inout Cache) -> Bool {
        guard let kept, cache.keys == nil, cache.order == nil else { return false }
        // A log that cannot be read is no reason not to run the query.
        guard let order = try? kept.advanced(of: self) else { return false }
        cache.order = order
        cache.count = order.count
        return true
    }
}
