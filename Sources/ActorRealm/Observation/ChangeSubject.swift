import RealmModel
import RealmQuery
import RealmStorage

/// What an observer follows from version to version: a collection, an object or a whole realm.
///
/// A subject is a description. What it knows of one version is its state, a value; so a version that turned out to be
/// the wrong one is simply forgotten.
protocol ChangeSubject: Sendable {
    associatedtype State: Sendable
    /// What there is to tell about the way from one version to another.
    associatedtype Delta: Sendable

    /// The classes that a realm has to declare so that changes can be delivered with it, by their names in the file.
    var requiredClasses: [String] { get }

    /// Whether an observer begins with what is there, or with the first change.
    var tellsInitialState: Bool { get }

    /// What there is at a version.
    func state(at view: FixedView) throws -> State

    /// Moves a state to a later version.
    ///
    /// - Returns: what there is to tell; nil for nothing.
    func advance(_ state: inout State, by step: ChangeStep, from old: FixedView) throws -> Delta?

    /// One change for two that follow each other; nil when nothing is left to tell.
    func merged(_ first: Delta, _ second: Delta) -> Delta?

    /// What is left to tell of `untold` when the observer shows the change behind it, `left`, already; nil for nothing.
    ///
    /// `view` is the version behind both. What is told leads there from what the observer shows: what it was told, with `left`.
    func leavingOut(_ left: Delta, from untold: Delta, upTo view: FixedView) -> Delta?

    /// Whether nothing will ever change again.
    func isFinal(_ state: State) -> Bool

    /// What tells of the end where nothing else is left to tell; nil where the end is a change of its own, or there is
    /// none.
    var ending: Delta? { get }

    /// What to tell an observer that begins anew, for subjects that do not tell the initial state.
    func resetDelta(_ state: State, at view: FixedView) -> Delta?

    /// The tables of which a change can concern the subject; nil for all.
    func tables(_ state: State, in model: ModelView) -> Set<UInt32>?

    /// What tells with little work that a commit does not concern the subject; nil where nothing does.
    ///
    /// `other` is what was made for an earlier state.
    func check(_ state: State, reusing other: FollowerCheck?) -> FollowerCheck?

    /// The state after a commit, and the change to tell; subjects that are the same may share both.
    func advanced(_ state: State, by commit: ObservedCommit) throws -> (State, ChangeHolding<Self>.Pending?)

    /// Whether a step takes so little work that it need not be spread over threads.
    func isQuick(_ state: State, _ step: ChangeStep) -> Bool
}

extension ChangeSubject {
    var requiredClasses: [String] { [] }
    var ending: Delta? { nil }
    func resetDelta(_ state: State, at view: FixedView) -> Delta? { nil }
    func check(_ state: State, reusing other: FollowerCheck?) -> FollowerCheck? { nil }
    func advanced(_ state: State, by commit: ObservedCommit) throws -> (State, ChangeHolding<Self>.Pending?) {
        try computed(state, by: commit)
    }

    /// The state after a commit, and the change to tell.
    func computed(_ state: State, by commit: ObservedCommit) throws -> (State, ChangeHolding<Self>.Pending?) {
        var state = state
        guard let delta = try advance(&state, by: commit.step, from: commit.old) else { return (state, nil) }
        let last = isFinal(state) ? commit.old : nil
        return (state, ChangeHolding<Self>.Pending(target: commit.new, state: state, delta: delta, last: last))
    }

    func isQuick(_ state: State, _ step: ChangeStep) -> Bool { step.isSmall }
}

extension ChangeStep {
    /// Whether so few rows changed that an observer gets over it in no time.
    var isSmall: Bool {
        var count = 0
        for changes in self.changes.tables.values {
            count += changes.inserted.count + changes.deleted.count + changes.modified.count
        }
        return count <= 256
    }
}
