import RealmModel
import RealmStorage

/// What an observer follows from version to version: a collection, an object or a whole realm.
///
/// A subject is a description. What it knows of one version is its state, a value; so a version that turned out to be
/// the wrong one is simply forgotten.
protocol ChangeSubject: Sendable {
    associatedtype State: Sendable
    /// What there is to tell about the way from one version to another.
    associatedtype Delta: Sendable

    /// Whether an observer begins with what is there, or with the first change.
    var tellsInitialState: Bool { get }

    /// What there is at a version.
    func state(at view: FixedView) throws -> State

    /// Moves a state to a later version.
    ///
    /// - Returns: what there is to tell; nil for nothing.
    func advance(
        _ state: inout State,
        by changes: ChangeSet,
        from old: FixedView,
        to new: FixedView
    ) throws -> Delta?

    /// Whether nothing will ever change again.
    func isFinal(_ state: State) -> Bool
}
