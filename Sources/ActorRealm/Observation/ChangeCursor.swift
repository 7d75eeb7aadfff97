import RealmModel
import RealmStorage
import Synchronization

/// Where one observer stands, and what leads from there to a later version.
///
/// It holds the version that was delivered last, not a buffer: an observer that falls behind gets one change for many
/// commits. What it computes is pending until it is accepted, because the realm that it is meant for may have moved on.
///
/// Unchecked because `base` and `state` are used by one task at a time, the one that iterates or delivers; the rest is
/// behind locks.
final class ChangeCursor<Subject: ChangeSubject>: @unchecked Sendable {
    /// A change ready to be delivered by a realm that stands on `target`.
    struct Pending: Sendable {
        let target: FixedView
        let state: Subject.State
        /// What changed since the version delivered last; nil for the initial state.
        let delta: Subject.Delta?
    }

    private struct Base {
        var view: FixedView
        var state: Subject.State
    }

    /// A commit of the observer's own that it does not want to hear of.
    private struct Skip {
        var version: UInt64
        var before: Snapshot?
        var after: Snapshot?
    }

    let subject: Subject
    let coordinator: RealmCoordinator
    let signal = ChangeSignal()
    private let hub: ObservationHub
    private let skips = Mutex<[Skip]>([])
    private let listener = Mutex<RealmCoordinator.ListenerID?>(nil)
    /// The version up to which everything has been told; nil before the initial state.
    private var base: Base? {
        didSet { if let base { signal.noteTold(of: base.view.version) } }
    }

    /// Registers: what is committed from now on is not missed.
    init(_ subject: Subject, coordinator: RealmCoordinator, at start: Snapshot?) throws {
        self.subject = subject
        self.coordinator = coordinator
        hub = coordinator.observations
        if !subject.tellsInitialState {
            let view = if let start { try hub.view(of: start) } else { try hub.newest() }
            base = Base(view: view, state: try subject.state(at: view))
            signal.noteTold(of: view.version)
        }
        let id = coordinator.addVersionListener { [weak self] version in self?.versionPublished(version) }
        listener.withLock { $0 = id }
    }

    deinit {
        cancel()
    }

    /// Unregisters; a task that waits for the next change stops waiting.
    ///
    /// - Returns: true for the first call.
    @discardableResult
    func cancel() -> Bool {
        let id = listener.withLock { id in
            defer { id = nil }
            return id
        }
        if let id { coordinator.removeVersionListener(id) }
        return signal.end()
    }

    private func versionPublished(_ version: UInt64) {
        skips.withLock { skips in
            for index in skips.indices where skips[index].version == version && skips[index].after == nil {
                guard let snapshot = try? coordinator.file.beginRead(), snapshot.version == version else { continue }
                skips[index].after = snapshot
            }
        }
        signal.raise()
    }

    /// Leaves out the changes of a version that is about to be published.
    func skip(_ version: UInt64) {
        let before = try? coordinator.file.beginRead()
        skips.withLock { $0.append(Skip(version: version, before: before, after: nil)) }
    }

    /// Whether nothing will ever change again.
    var isFinal: Bool { base.map { subject.isFinal($0.state) } ?? false }

    /// The version up to which everything has been told.
    var toldVersion: UInt64? { base?.view.version }

    /// Waits for a change, off every actor.
    ///
    /// - Returns: the change that leads to the newest version; nil when the observer was told to stop.
    @concurrent
    func next() async throws -> Pending? {
        while !signal.isEnded, !Task.isCancelled {
            if base == nil || hub.newestVersion > base!.view.version {
                if let pending = try pending(to: hub.newest()) { return pending }
            }
            await signal.wait()
        }
        return nil
    }

    /// Computes the change to another version instead, off every actor.
    ///
    /// - Returns: nil when it turned out that there is nothing to tell.
    @concurrent
    func pending(to snapshot: Snapshot, insteadOf other: Pending) async throws -> Pending? {
        try pending(here: snapshot, insteadOf: other)
    }

    /// The same where the caller runs.
    func pending(here snapshot: Snapshot, insteadOf other: Pending) throws -> Pending? {
        let target = try hub.view(of: snapshot)
        if base == nil, other.target.version < target.version {
            var state = other.state
            let changes = try hub.changes(from: other.target, to: target)
            _ = try subject.advance(&state, by: changes, from: other.target, to: target)
            return Pending(target: target, state: state, delta: nil)
        }
        return try pending(to: target)
    }

    /// Notes that a change was delivered.
    func accept(_ pending: Pending) {
        base = Base(view: pending.target, state: pending.state)
        skips.withLock { $0.removeAll { $0.version <= pending.target.version } }
    }

    /// What leads to a version; moves on silently when that is nothing.
    private func pending(to target: FixedView) throws -> Pending? {
        guard var from = base else {
            return Pending(target: target, state: try subject.state(at: target), delta: nil)
        }
        guard target.version > from.view.version else { return nil }
        // Own commits that are left out, as long as nothing else was to be told before them.
        for skip in skips.withLock({ $0 }).sorted(by: { $0.version < $1.version }) {
            guard skip.version > from.view.version, skip.version <= target.version,
                let before = skip.before, before.version == skip.version - 1, let after = skip.after
            else { continue }
            if try advance(&from, to: hub.view(of: before)) != nil {
                from = base ?? from
                break
            }
            _ = try advance(&from, to: hub.view(of: after))
            base = from
        }
        guard let delta = try advance(&from, to: target) else {
            accept(Pending(target: target, state: from.state, delta: nil))
            return nil
        }
        return Pending(target: target, state: from.state, delta: delta)
    }

    private func advance(_ base: inout Base, to target: FixedView) throws -> Subject.Delta? {
        guard target.version > base.view.version else { return nil }
        let changes = try hub.changes(from: base.view, to: target)
        let delta = try subject.advance(&base.state, by: changes, from: base.view, to: target)
        base.view = target
        return delta
    }
}
