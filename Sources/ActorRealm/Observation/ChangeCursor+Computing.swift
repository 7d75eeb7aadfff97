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
    @inline(never)
    func computeHere() {
        compute { base in try pending(to: hub.newest(), from: base) }
    }

    private func compute(_ body: (Holding.Base?) throws -> Holding.Computed) {
        do {
            let (base, number) = held.withLock { ($0.base, $0.flow.work == .computing ? $0.flow.computation : nil) }
            // The observer may have been told meanwhile.
            guard let number else { return }
            finish(try body(base), number)
        } catch {
            fail(error)
        }
    }

    private func finish(_ computed: Holding.Computed, _ number: UInt64) {
        let (listeners, rest) = held.withLock { held -> ([Holding.Listener], Holding.Base?) in
            guard held.flow.isComputing(number) else { return ([], nil) }
            let before = held.base
            switch computed {
            case .tell(let pending, let start):
                // Silently past what is left out, so that it is not gone through again.
                if let start {
                    held.base = start
                    held.silent = Holding.Silent(whole: pending.silent.whole)
                }
                held.put(pending)
                return ([], before)
            case .pass(let base, let version, let silent):
                held.flow.pass(version)
                held.silent.append(silent)
                held.passed = version
                held.base = base
                held.skips.removeAll { $0.version <= version }
                held.lateSince = nil
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
    @inline(never)
    func retargetHere(to snapshot: Snapshot, insteadOf other: Pending) {
        guard held.withLock({ $0.flow.retarget() }) else { return }
        compute { base in
            let target = try hub.view(of: snapshot)
            guard base == nil, other.target.version < target.version else { return try pending(to: target, from: base) }
            // What the observer begins with moves on.
            var state = other.state
            let step = try hub.step(from: other.target, to: target)
            _ = try subject.advance(&state, by: step, from: other.target)
            return .tell(Pending(target: target, state: state, delta: subject.resetDelta(state, at: target)))
        }
    }

    /// What leads to a version.
    private func pending(to target: FixedView, from base: Holding.Base?) throws -> Holding.Computed {
        try checkSchema(of: target)
        guard var base, var view = base.view else {
            // What an observer is to begin with.
            let state = try subject.state(at: target)
            // An observer that begins anew, and is never told an initial state.
            let delta = subject.tellsInitialState ? nil : subject.resetDelta(state, at: target)
            if delta == nil, !subject.tellsInitialState {
                return .pass(Holding.Base(view: target, state: state), target.version)
            }
            return .tell(Pending(target: target, state: state, delta: delta))
        }
        var untold = base.untold?.delta
        var silent = Holding.Silent()
        // Where there is nothing to tell of what came before.
        var start: Holding.Base?
        var marksLeft = marksLeftOut(after: view.version, upTo: target)[...]
        while var marks = marksLeft.popFirst() {
            let before = try hub.view(of: marks.before)
            if let others = try advance(&base.state, from: view, to: before) {
                untold = joined(untold, others, reaching: base.state)
            }
            // Where nothing is untold, all that those do which follow each other is shown.
            while untold == nil, let next = marksLeft.first, next.before.version == marks.after.version {
                marks.after = next.after
                marksLeft.removeFirst()
            }
            let end = try hub.view(of: marks.after)
            let left = try advance(&base.state, from: before, to: end)
            if let known = untold, let left {
                untold = subject.leavingOut(left, from: known, upTo: end)
                silent.parts.append(Holding.Silent.Part(version: end.version, untold: known, left: left))
            }
            view = end
            if untold == nil {
                silent = Holding.Silent(whole: end.version)
                start = Holding.Base(view: end, state: base.state)
            }
        }
        let later = try advance(&base.state, from: view, to: target)
        let delta = if let later { joined(untold, later, reaching: base.state) } else { untold }
        guard let delta else {
            return .pass(Holding.Base(view: target, state: base.state), target.version, silent)
        }
        let last = subject.isFinal(base.state) ? view : nil
        let pending = Pending(target: target, state: base.state, delta: delta, last: last, silent: silent)
        return .tell(pending, from: start)
    }

    /// One change for what is untold and a change behind it; nil when nothing is left to tell.
    ///
    /// The end is told also when all that was untold goes with it: nothing that comes later would tell it.
    private func joined(
        _ untold: Subject.Delta?,
        _ later: Subject.Delta,
        reaching state: Subject.State
    ) -> Subject.Delta? {
        guard let untold else { return later }
        return subject.merged(untold, later) ?? (subject.isFinal(state) ? subject.ending : nil)
    }

    /// The versions before and behind each commit that is left out on the way to a version, in order.
    ///
    /// Those that follow each other are left out one by one: what one of them takes away and the next one puts there again was
    /// told to nobody between them, but is shown behind them.
    private func marksLeftOut(after version: UInt64, upTo target: FixedView) -> [(before: Snapshot, after: Snapshot)] {
        let skips = held.withLock { $0.skips }
        if skips.isEmpty { return [] }
        return skips.sorted { $0.version < $1.version }
            .compactMap { skip in
                // Nothing later is published before it is noted that the commit is.
                guard skip.version > version, skip.version <= target.version, let marks = skip.marks else { return nil }
                return (marks.before, marks.after ?? target.snapshot)
            }
    }

    private func advance(_ state: inout Subject.State, from old: FixedView, to new: FixedView) throws -> Subject.Delta?
    {
        guard new.version > old.version else { return nil }
        return try subject.advance(&state, by: hub.step(from: old, to: new), from: old)
    }

    // MARK: Gathering

    /// Takes what is to be told over the commits left out up to a version, so that those before need not be held; whatever is
    /// under way for the observer is void.
    ///
    /// Called in the isolation that changes are delivered to, whose realm does not go behind that version.
    func gather(upTo version: UInt64) {
        let (base, last) = held.withLock { held in
            (held.flow.canGather ? held.base : nil, held.skips.last { $0.version <= version }?.marks?.after)
        }
        // Where that fails, it fails again when somebody asks, who is told.
        guard let base, let before = base.view, let last, last.version > before.version,
            let end = try? hub.view(of: last), let computed = try? pending(to: end, from: base)
        else { return }
        let (listeners, rest) = held.withLock {
            held -> ([Holding.Listener], (Holding.Base?, Pending?, [LeftOutCommit])) in
            guard held.flow.canGather, held.base?.view === before else { return ([], (nil, nil, [])) }
            let rest = (held.base, held.offer, held.skips)
            switch computed {
            case .tell(let pending, _):
                if subject.isFinal(pending.state) { return ([], (nil, nil, [])) }
                held.flow.recompute()
                held.base = Holding.Base(
                    view: end,
                    state: pending.state,
                    untold: pending.delta.map { Holding.Untold($0) }
                )
                held.silent.append(pending.silent)
                held.lateSince = held.lateSince ?? end.version
            case .pass(let base, _, let silent):
                guard held.flow.tell(upTo: end.version) else { return ([], (nil, nil, [])) }
                held.base = base
                held.silent.append(silent)
                held.lateSince = nil
            }
            held.passed = nil
            held.offer = nil
            held.skips.removeAll { $0.version <= end.version }
            return (held.takeListeners(upTo: end.version), rest)
        }
        withExtendedLifetime(rest) {}
        for listener in listeners { listener.continuation.resume() }
        hub.schedule()
    }

    // MARK: Telling at once

    /// Takes the observer to the version that its realm stands on, in the realm's isolation; whatever is under way for it is
    /// void.
    ///
    /// - Returns: what there is to tell, which counts as told; nil for nothing.
    func tellHere(upTo snapshot: Snapshot) throws -> Pending? {
        guard let base = startOfTelling(at: snapshot) else { return nil }
        let computed = try pending(to: hub.view(of: snapshot), from: base)
        let (told, listeners, rest) = held.withLock {
            held -> (Pending?, [Holding.Listener], (Holding.Base?, Pending?)) in
            guard held.flow.tell(upTo: snapshot.version) else { return (nil, [], (nil, nil)) }
            let before = (held.base, held.offer)
            held.offer = nil
            held.lateSince = nil
            held.passed = nil
            held.skips.removeAll { $0.version <= snapshot.version }
            // Whole realms, which are told in this way, have no places.
            held.silent = Holding.Silent()
            let listeners = held.takeListeners(upTo: snapshot.version)
            switch computed {
            case .tell(let pending, _):
                held.base = Holding.Base(view: pending.target, state: pending.state)
                return (pending, listeners, before)
            case .pass(let base, _, _):
                held.base = base
                return (nil, listeners, before)
            }
        }
        withExtendedLifetime(rest) {}
        for listener in listeners { listener.continuation.resume() }
        hub.moveBehind(self)
        // What a pass of the hub was on the way to a later version with is void, too.
        if hub.newestVersion > snapshot.version { hub.schedule() }
        return told
    }

    /// What the observer knows, if that is less than a version, and out of the hub's hands; what it knows is nil when it begins
    /// anew.
    private func startOfTelling(at snapshot: Snapshot) -> Holding.Base?? {
        while true {
            let current = hub.current
            let (start, place) = held.withLock { held -> (Holding.Base??, UInt64?) in
                guard !held.flow.isEnded, !held.flow.knows(snapshot.version) else { return (nil, nil) }
                guard case .following(let since) = held.flow.position else { return (.some(held.base), nil) }
                guard let current, since <= current.version else { return (nil, since) }
                // Where the hub stands and looks after it, it knows everything.
                if current.version >= snapshot.version { return (nil, nil) }
                return (held.takeFromHub(at: current), nil)
            }
            guard let place else { return start }
            // A pass to that version is about to end, and holds it until the hub stands there.
            if let view = hub.knownView(of: place), let base = held.withLock({ $0.takeFromHub(at: view) }) {
                return base
            }
        }
    }
}
