import RealmModel
import RealmQuery
import RealmStorage
import Synchronization

/// What the observers of one file share: views of the versions they stand on, and what changed between them.
///
/// A hundred observers that follow a commit read it once.
final class ObservationHub: Sendable {
    private struct Stretch {
        var first: UInt64
        var last: UInt64
        var changes: ChangeSet
    }

    private struct WeakView {
        weak var view: FixedView?
    }

    private struct State {
        var views: [UInt64: WeakView] = [:]
        var recent: [Stretch] = []
    }

    /// So many stretches are remembered: observers that keep up ask for the same one or two.
    private static let recentStretches = 4

    private let file: StorageFile
    private let state = Mutex(State())

    init(file: StorageFile) {
        self.file = file
    }

    /// The newest durable version's number.
    var newestVersion: UInt64 { file.newestVersion }

    /// A view of the newest durable version.
    func newest() throws(StorageError) -> FixedView {
        if let view = known(file.newestVersion) { return view }
        return try view(of: file.beginRead())
    }

    /// A view of a version.
    func view(of snapshot: Snapshot) throws(StorageError) -> FixedView {
        if let view = known(snapshot.version) { return view }
        let view = try FixedView(snapshot)
        return state.withLock { state in
            // Somebody may have been faster.
            if let other = state.views[snapshot.version]?.view { return other }
            state.views = state.views.filter { $0.value.view != nil }
            state.views[snapshot.version] = WeakView(view: view)
            return view
        }
    }

    private func known(_ version: UInt64) -> FixedView? {
        state.withLock { $0.views[version]?.view }
    }

    /// Everything that changed from one version to a later one.
    func changes(from old: FixedView, to new: FixedView) throws -> ChangeSet {
        if old.version >= new.version { return ChangeSet() }
        let cached = state.withLock { state in
            state.recent.first { $0.first == old.version && $0.last == new.version }?.changes
        }
        if let cached { return cached }
        let changes =
            try file.changes(after: old.version, through: new.snapshot)
            ?? VersionComparison.changes(from: old.model, to: new.model)
        state.withLock { state in
            state.recent.append(Stretch(first: old.version, last: new.version, changes: changes))
            if state.recent.count > ObservationHub.recentStretches { state.recent.removeFirst() }
        }
        return changes
    }
}
