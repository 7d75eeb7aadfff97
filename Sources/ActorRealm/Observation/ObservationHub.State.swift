import RealmModel
import RealmQuery
import RealmStorage

extension ObservationHub {
    /// What observers have in common that are looked at together.
    struct Kind: Hashable {
        /// The tables whose changes can concern them; nil for all.
        let tables: Set<UInt32>?
        /// The property of which each has a bound.
        var place: RowWatch.Place?
    }

    /// Observers of a kind that stand where the hub does.
    struct Group {
        let kind: Kind
        var members: [ObservationMember] = []
        /// The bounds of the members, where they have any.
        var bounds: [RowBound] = []

        func isTouched(by changes: ChangeSet) -> Bool {
            guard let tables = kind.tables else { return !changes.tables.isEmpty }
            return changes.tables.keys.contains { tables.contains($0) }
        }

        /// Calls a function with each member that a step may concern, and with all where that cannot be read: whoever
        /// has to read it meets the failure alone.
        func forEachMember(near step: ChangeStep, _ body: (ObservationMember) -> Void) {
            if !step.changesSchema, let place = kind.place, let words = try? step.words(at: place) {
                for index in RowBound.indices(of: bounds, holdingAnyOf: words) { body(members[index]) }
            } else {
                for member in members { body(member) }
            }
        }
    }

    struct State {
        var views: [UInt64: WeakReference<FixedView>] = [:]
        /// What changed on the ways asked for last: observers that catch up by themselves ask for the same one or two.
        ///
        /// None where nobody observes.
        var recent: [Way] = []
        /// The classes as read last.
        var schema: DatabaseSchema?
        var groups: [Group] = []
        var groupNumbers: [Kind: Int] = [:]
        var behind: [ObservationMember] = []
        /// Members that the hub looks after and that leave out a commit: the next pass takes them over it whatever else it holds.
        var leavingOut: [ObjectIdentifier: ObservationMember] = [:]
        /// Where the members of the groups stand; nil when there are none.
        var current: FixedView?
        var followerCount = 0
        var isProcessing = false
        var isDue = false
        /// How long the last pass took, in nanoseconds.
        var lastDuration: UInt64 = 0
        /// When it ended.
        var lastEnd: UInt64 = 0
    }

    /// What changed from one version to another, and the rows that were touched.
    struct Way {
        let first: UInt64
        let last: UInt64
        let changes: ChangeSet
        let rows = TouchedRows()
    }

    /// What is called behind each pass.
    ///
    /// A structure, because a lock (as anything generic) that holds a function itself wraps it once more each time that it lends
    /// it out: after a million passes it would be a million calls deep.
    struct Hook {
        var call: (@Sendable () -> Void)?
    }

}

extension ObservationHub.State {
    /// Whether anybody observes.
    var hasMembers: Bool { followerCount > 0 || !behind.isEmpty }

    /// Takes a member out of its place; false when it has none.
    mutating func remove(_ member: ObservationMember) -> Bool {
        switch member.place {
        case .none: return false
        case .behind(let index):
            behind.swapAt(index, behind.count - 1)
            behind[index].place = .behind(index)
            behind.removeLast()
        case .group(let number, let index):
            let last = groups[number].members.count - 1
            groups[number].members.swapAt(index, last)
            groups[number].members[index].place = .group(number, index)
            groups[number].members.removeLast()
            if groups[number].kind.place != nil {
                groups[number].bounds.swapAt(index, last)
                groups[number].bounds.removeLast()
            }
            followerCount -= 1
        }
        member.place = .none
        return true
    }

    /// Puts a member among those that hold a version of their own.
    mutating func moveBehind(_ member: ObservationMember) {
        guard case .group = member.place, remove(member) else { return }
        member.place = .behind(behind.count)
        behind.append(member)
    }

    /// Puts a member into the group of its kind.
    mutating func add(_ member: ObservationMember, _ tables: Set<UInt32>?) {
        let watch = member.check?.watch
        let kind = ObservationHub.Kind(tables: tables, place: watch?.place)
        let number = groupNumbers[kind] ?? groups.count
        if number == groups.count {
            groups.append(ObservationHub.Group(kind: kind))
            groupNumbers[kind] = number
        }
        if let watch { groups[number].bounds.append(watch.bound) }
        member.place = .group(number, groups[number].members.count)
        groups[number].members.append(member)
        followerCount += 1
    }
}
