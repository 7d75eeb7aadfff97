import Synchronization

/// The observers that follow one realm; they are told when it moved, ended, or left a transaction.
final class ChangeSignals: Sendable {
    private struct State {
        var members: [ObjectIdentifier: ObservationMember] = [:]
        /// Those that deliver by themselves, and do not wait to be asked.
        var deliverers: [ObjectIdentifier: ObservationMember] = [:]
        /// Those whose change the realm would not be moved to.
        var refused: [ObjectIdentifier: ObservationMember] = [:]
        /// The blocks that observe the whole realm, in the order of their registration, with their observers.
        var blocks: [(member: ObjectIdentifier, block: any RealmBlock)] = []
    }

    private let state = Mutex(State())

    /// Adds an observer; `block` is what it calls if it observes the whole realm.
    func add(_ member: ObservationMember, delivers: Bool = false, block: (any RealmBlock)? = nil) {
        let id = ObjectIdentifier(member)
        state.withLock { state in
            state.members[id] = member
            if delivers { state.deliverers[id] = member }
            guard let block, !state.blocks.contains(where: { $0.member == id }) else { return }
            let place = state.blocks.lastIndex { $0.block.number < block.number }.map { $0 + 1 } ?? 0
            state.blocks.insert((id, block), at: place)
        }
    }

    /// The blocks that observe the whole realm, in the order of their registration.
    var blocks: [any RealmBlock] { state.withLock { $0.blocks.isEmpty ? [] : $0.blocks.map(\.block) } }

    /// Whether a block observes the whole realm, or an observer delivers by itself.
    var isFollowed: Bool { state.withLock { !$0.blocks.isEmpty || !$0.deliverers.isEmpty } }

    /// Whether an observer delivers by itself.
    var hasDeliverers: Bool { state.withLock { !$0.deliverers.isEmpty } }

    /// The observers that deliver by themselves and may still have something to tell up to a version.
    func deliverers(before version: UInt64) -> [ObservationMember] {
        state.withLock { $0.deliverers.isEmpty ? [] : Array($0.deliverers.values) }.filter { $0.isBehind(version) }
    }

    func remove(_ member: ObservationMember) {
        let id = ObjectIdentifier(member)
        // Whatever ends with it ends outside the lock.
        let removed = state.withLock { state in
            let place = state.blocks.firstIndex { $0.member == id }
            return (
                state.members.removeValue(forKey: id), state.deliverers.removeValue(forKey: id),
                state.refused.removeValue(forKey: id), place.map { state.blocks.remove(at: $0) }
            )
        }
        withExtendedLifetime(removed) {}
    }

    /// Notes that the realm would not be moved for a member: it is told when the realm moves.
    func noteRefusal(of member: ObservationMember) {
        state.withLock { $0.refused[ObjectIdentifier(member)] = member }
    }

    /// Tells those that wait for it that the realm moved.
    func raise() {
        let refused = state.withLock { state -> [ObservationMember] in
            if state.refused.isEmpty { return [] }
            defer { state.refused = [:] }
            return Array(state.refused.values)
        }
        for member in refused { member.realmMoved() }
    }

    /// Ends the observers: the realm was closed.
    func end() {
        for member in members { member.cancel() }
    }

    /// Ends the observers with an error.
    func fail(_ error: any Error) {
        for member in members { member.fail(error) }
    }

    private var members: [ObservationMember] {
        state.withLock { $0.members.isEmpty ? [] : Array($0.members.values) }
    }
}
