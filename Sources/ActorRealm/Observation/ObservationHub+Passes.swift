import Dispatch
import RealmModel
import RealmQuery
import Synchronization

/// Taking the observers over what was committed.
extension ObservationHub {
    /// One pass over the observers.
    final class Process {
        fileprivate let hub: ObservationHub
        let new: FixedView
        private var commits: [UInt64: ObservedCommit] = [:]

        fileprivate init(_ hub: ObservationHub, _ new: FixedView) {
            self.hub = hub
            self.new = new
        }

        /// What was committed since a version; all observers that stand there share it.
        func commit(from old: FixedView) throws -> ObservedCommit {
            if let known = commits[old.version] { return known }
            let commit = ObservedCommit(from: old, to: new, try hub.step(from: old, to: new)) { [hub, new] in
                try hub.movedWalker(to: new)
            }
            commits[old.version] = commit
            return commit
        }
    }

    /// Takes the observers to the newest version, until there is none newer, or leaves it to whoever does.
    ///
    /// - Returns: false when nobody does because the condition does not hold.
    @discardableResult
    func process(if condition: (State) -> Bool = { _ in true }) -> Bool {
        let (isOther, isRefused) = state.withLock { state in
            if state.isProcessing {
                state.isDue = true
                return (true, false)
            }
            if !condition(state) { return (false, true) }
            state.isProcessing = true
            return (false, false)
        }
        if isRefused { return false }
        if isOther { return true }
        let start = DispatchTime.now().uptimeNanoseconds
        while true {
            do {
                try processOnce()
            } catch {
                failAll(error)
            }
            let (isDone, freed) = state.withLock { state -> (Bool, FixedView?) in
                defer { state.isDue = false }
                if state.isDue { return (false, nil) }
                state.isProcessing = false
                state.lastEnd = DispatchTime.now().uptimeNanoseconds
                state.lastDuration = state.lastEnd - start
                guard state.followerCount == 0 else { return (true, nil) }
                // Whoever went while the pass was under way, or because it failed, left the version to it.
                dropWalker()
                defer { state.current = nil }
                return (true, state.current)
            }
            withExtendedLifetime(freed) {}
            if isDone { break }
        }
        didProcess.withLock { $0.call }?()
        return true
    }

    private func processOnce() throws {
        guard memberCount.load(ordering: .sequentiallyConsistent) > 0 else { return leave(at: nil) }
        // Whoever publishes may be in here, which would have to announce what it makes. Who is new among the members asks himself, and another
        // pass comes behind the pages.
        let new = try newest(askingForPages: false)
        let process = Process(self, new)
        let left = try examined(process)
        state.withLock { state in
            for member in left { state.moveBehind(member) }
        }
        let follows = caughtUp(process)
        state.withLock { state in
            // Somebody who asked meanwhile goes on alone.
            for (member, tables) in follows where member.isFollowing && state.remove(member) {
                state.add(member, tables)
            }
        }
        leave(at: new)
        if listenerCount.load(ordering: .sequentiallyConsistent) > 0 { tellListeners(new.version) }
    }

    /// Takes those that the hub looks after over what was committed; returns those that it looks after no more.
    private func examined(_ process: Process) throws -> [ObservationMember] {
        let (old, groups) = state.withLock { ($0.current, $0.groups) }
        guard let old, old.version < process.new.version else { return [] }
        let leavingOut = state.withLock { state in
            defer { state.leavingOut = [:] }
            return Array(state.leavingOut.values)
        }
        let commit = try process.commit(from: old)
        // The walker holds its version, and moves on with the hub.
        if walker != nil { _ = try movedWalker(to: process.new) }
        var left: [ObservationMember] = []
        for group in groups where commit.step.changesSchema || group.isTouched(by: commit.step.changes) {
            group.forEachMember(near: commit.step) { member in
                do {
                    // A query may not fit another schema, which is met where the member is taken over it.
                    if !commit.step.changesSchema, let check = member.check, try !check.isConcerned(by: commit) {
                        return
                    }
                } catch {
                    // What one cannot read is no failure of the others.
                    return member.fail(error)
                }
                if !member.examine(commit) { left.append(member) }
            }
        }
        for member in leavingOut where member.isFollowing && !member.examine(commit) { left.append(member) }
        return left
    }

    /// Takes those that stand behind to the newest version; returns those that the hub is to look after.
    private func caughtUp(_ process: Process) -> [(ObservationMember, Set<UInt32>?)] {
        let behind = state.withLock { $0.behind }
        var follows: [(ObservationMember, Set<UInt32>?)] = []
        for member in behind {
            if case .follows(let tables) = member.catchUp(to: process.new, process) { follows.append((member, tables)) }
        }
        return follows
    }

    /// Ends a pass: the hub stands on a version as long as it looks after somebody there.
    private func leave(at view: FixedView?) {
        let before = state.withLock { state in
            let before = state.current
            state.current = state.followerCount > 0 ? view : nil
            if state.current == nil { dropWalker() }
            return before
        }
        withExtendedLifetime(before) {}
    }

    /// Lets go of the walker's version; probes that were made for it are let go of when they are used next.
    func dropWalker() {
        walker?.unpin()
        walker = nil
    }

    fileprivate func movedWalker(to view: FixedView) throws -> ModelView {
        if let walker {
            try walker.advance(to: view.snapshot)
            return walker
        }
        let walker = try ModelView(snapshot: view.snapshot, schema: view.model.schema)
        self.walker = walker
        return walker
    }

    private func tellListeners(_ version: UInt64) {
        let members = state.withLock { $0.groups.flatMap(\.members) }
        for member in members { member.noteFollowing(version) }
    }

    private func failAll(_ error: any Error) {
        let members = state.withLock { state in state.behind + state.groups.flatMap(\.members) }
        for member in members { member.fail(error) }
    }
}
