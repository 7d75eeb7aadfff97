/// Keeping the change log as short as what somebody can ask for: all that lies between two versions at which readers stand
/// is one change to them, however many commits it was.
extension SpaceSegment {
    /// Joins the changes of versions between which nobody can stand.
    ///
    /// - Parameters:
    ///   - changes: Ascending by version.
    ///   - pinned: The versions at which readers stand, ascending, the newest durable one among them: later versions may still
    ///     be pinned one by one, and stay apart.
    ///   - retention: The number of newest versions that stay apart in any case.
    /// - Returns: as few entries, each under the newest version that it covers.
    static func merged(_ changes: [VersionChanges], pinned: [UInt64], retention: UInt64) -> [VersionChanges] {
        guard let newest = changes.last?.version, let durable = pinned.last else { return changes }
        let bound = min(durable, newest - min(newest, retention))
        var result: [VersionChanges] = []
        for item in changes {
            // The entry before ends at its version; when a reader stands there or later, this one is news to it.
            if let last = result.last, item.version <= bound,
                pinned.partitioningIndex(where: { $0 >= last.version })
                    == pinned.partitioningIndex(where: { $0 >= item.version })
            {
                result[result.count - 1].changes.merge(later: item.changes)
                result[result.count - 1].version = item.version
            } else {
                result.append(item)
            }
        }
        return result
    }
}

extension SpaceSegment {
    /// The bytes that changes take in a segment.
    static func byteCount(of changes: [VersionChanges]) -> Int {
        var writer = ByteWriter()
        for item in changes { item.changes.encode(into: &writer) }
        return writer.bytes.count
    }
}
