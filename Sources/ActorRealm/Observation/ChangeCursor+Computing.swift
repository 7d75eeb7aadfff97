import RealmModel
import RealmQuery
import RealmStorage
import Synchronization

extension ChangeCursor {
    /// Computes the change to the newest version, off every actor; asking again tells what came of it.
    @concurrent
    func compute() async {
        computeHere()
    }

    /// The same where the caller runs.
    func computeHere() {
        compute { base in try pending(to: hub.newest(), from: base) }
    }

    private func compute(_ body: (Holding.Base?) throws -> Holding.Computed) {
        do {
            finish(try body(held.withLock { $0.base }))
        } catch {
            fail(error)
        }
    }

    private func finish(_ computed: Holding.Computed) {
        let (listeners, rest) = held.withLock { held -> ([Holding.Listener], Holding.Base?) in
            if held.flow.isEnded { return ([], nil) }
            let before = held.base
            switch computed {
            case .tell(let pending):
                held.flow.offer(pending.target.version)
                held.offer = pending
                return ([], before)
            case .pass(let base, let version):
                held.flow.pass(version)
                held.passed = version
                held.base = base
                held.skips.removeAll { $0.version <= version }
                held.isLate = false
                return (held.takeListeners(upTo: version), before)
            }
        }
        withExtendedLifetime(rest) {}
        for listener in listeners { listener.continuation.resume() }
    }

    /// Computes the change to another version instead, off every actor; asking again tells what came of it.
    @concurrent
    func retarget(to snapshot: Snapshot, insteadOf other: Pending) async {
        retargetHere(to: snapshot, insteadOf: other)
    }

    /// The same where the caller runs.
    func retargetHere(to snapshot: Snapshot, insteadOf other: Pending) {
        held.withLock { $0.flow.retarget() }
        compute { base in
            let target = try hub.view(of: snapshot)
            guard base == nil, other.target.version < target.version else { return try pending(to: target, from: base) }
            // What the observer begins with moves on.
            var state = other.state
            let step = try hub.step(from: other.target, to: target)
            _ = try subject.advance(&state, by: step, from: other.target)
            return .tell(Pending(target: target, state: state, delta: other.delta))
        }
    }

    /// What leads to a version.
    private func pending(to target: FixedView, from base: Holding.Base?) throws -> Holding.Computed {
        guard var base, var view = base.view else {
            let state = try subject.state(at: target)
            // An observer that begins anew, and is never told an initial state.
            let delta = subject.tellsInitialState ? nil : subject.resetDelta(state, at: target)
            if delta == nil, !subject.tellsInitialState {
                return .pass(Holding.Base(view: target, state: state), target.version)
            }
            return .tell(Pending(target: target, state: state, delta: delta))
        }
        // Own commits that are left out, as long as nothing else was to be told before them.
        for skip in held.withLock({ $0.skips }).sorted(by: { $0.version < $1.version }) {
            guard skip.version > view.version, skip.version <= target.version,
                let before = skip.before, before.version == skip.version - 1, let after = skip.after
            else { continue }
            var next = base
            if try advance(&next.state, from: view, to: hub.view(of: before)) != nil { break }
            let end = try hub.view(of: after)
            _ = try advance(&next.state, from: hub.view(of: before), to: end)
            base = Holding.Base(view: end, state: next.state)
            view = end
        }
        guard target.version > view.version else { return .pass(base, view.version) }
        let state = base.state
        guard let delta = try advance(&base.state, from: view, to: target) else {
            return .pass(Holding.Base(view: target, state: base.state), target.version)
        }
        if view.version != held.withLock({ $0.base?.view?.version }) {
            // Silently past what is left out, so that it is not gone through again.
            held.withLock { $0.base = Holding.Base(view: view, state: state) }
        }
        let last = subject.isFinal(base.state) ? view : nil
        return .tell(Pending(target: target, state: base.state, delta: delta, last: last))
    }

    private func advance(_ state: inout Subject.State, from old: FixedView, to new: FixedView) throws -> Subject.Delta?
    {
        guard new.version > old.version else { return nil }
        return try subject.advance(&state, by: hub.step(from: old, to: new), from: old)
    }
}
