import RealmStorage
import Synchronization

/// A commit that some observers are not told of.
///
/// It is flushed alone, so that the versions before and behind it can be read: what leads to the one and on from the other is
/// told, and nothing else is left out.
final class LeftOutCommit: Sendable {
    let version: UInt64
    private let versions = Mutex<(before: Snapshot, after: Snapshot?)?>(nil)

    init(version: UInt64) {
        self.version = version
    }

    /// The version that it was built on, and its own, once it is on its way to the disk; `after` is nil until that is published
    /// and noted, and no later version is published before.
    var marks: (before: Snapshot, after: Snapshot?)? { versions.withLock { $0 } }

    /// Notes the version that it was built on, which is the newest durable one.
    func willPublish(after before: Snapshot?) {
        guard let before, before.version < version else { return }
        versions.withLock { $0 = (before, nil) }
    }

    /// Notes its own version.
    func didPublish(_ after: Snapshot?) {
        guard let after, after.version == version else { return fail() }
        versions.withLock { $0?.after = after }
    }

    /// Notes that it is not there, or cannot be told from others: another one may have its version.
    func fail() {
        let before = versions.withLock { versions in
            defer { versions = nil }
            return versions
        }
        withExtendedLifetime(before) {}
    }
}
