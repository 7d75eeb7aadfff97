import RealmModel
import RealmQuery
import RealmStorage

/// What changed since the versions at which results of a realm were read, found out once for all of them.
///
/// Only what was asked for last is kept.
final class ResultSteps {
    /// How much may be looked at.
    struct Limits {
        /// The size of a segment of the log, in bytes.
        var byteCount: Int
        /// The number of rows that an open transaction touched.
        var rowCount: Int
    }

    private struct Known {
        let version: UInt64
        let generation: UInt64
        let writeCount: UInt64
        let limits: Limits
        /// Nil where that could not be told within the limits.
        let step: ChangeStep?
    }

    private var known: [Known] = []
    private static let knownLimit = 4
    /// Larger steps are not kept.
    private static let keptRowCount = 4_096

    /// What changed from a durable version to what a core reads now, in its open transaction too; nil where the log does not
    /// say so, or not within the limits.
    ///
    /// The step has the new view in the place of the old one.
    func step(from version: UInt64, in core: RealmCore, within limits: Limits) throws -> ChangeStep? {
        let generation = core.model.generation.pointee
        let writeCount = core.registry.writeCount.pointee
        known.removeAll { $0.generation != generation || $0.writeCount != writeCount }
        let same = known.first {
            $0.version == version
                && ($0.step != nil || $0.limits.byteCount >= limits.byteCount && $0.limits.rowCount >= limits.rowCount)
        }
        if let same { return same.step }
        let step = try changes(from: version, in: core, within: limits)
            .map { ChangeStep($0, from: core.model, to: core.model) }
        if step.map({ $0.rowCount <= Self.keptRowCount }) ?? true {
            if known.count == Self.knownLimit { known.removeFirst() }
            known.append(
                Known(version: version, generation: generation, writeCount: writeCount, limits: limits, step: step)
            )
        }
        return step
    }

    private func changes(from version: UInt64, in core: RealmCore, within limits: Limits) throws -> ChangeSet? {
        let model = core.model
        let snapshot = model.snapshot
        guard version <= snapshot.version else { return nil }
        if let transaction = model.transaction {
            // One that goes on from the version that is read outside: what others wrote before it is in the log.
            let storage = transaction.storage
            guard !storage.isJoined, storage.version == snapshot.version + 1,
                storage.changes.rowCount <= limits.rowCount
            else { return nil }
        }
        var changes = try snapshot.file.changes(
            afterUnheld: version,
            through: snapshot,
            byteLimit: limits.byteCount
        )
        if let transaction = model.transaction { changes?.merge(later: transaction.changes) }
        return changes
    }
}
