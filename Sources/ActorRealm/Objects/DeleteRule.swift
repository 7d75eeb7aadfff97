import RealmModel

/// What becomes of the objects that a property links to when the object that has the property is deleted.
///
/// ```swift
/// class Person: Object {
///     @Persisted(onDelete: .cascade) var dogs: List<Dog>
///     @Persisted(onDelete: .deny) var accounts: List<Account>
/// }
/// ```
/// The rule works from the object to those it links to, and only when it is deleted: taking a dog out of the list, or
/// deleting a dog, is nobody else's end. Links *to* a deleted object become nil, and lists lose it, whatever the rule.
/// Embedded objects always go with their owner.
public enum DeleteRule: Sendable, CaseIterable {
    /// They stay: the default.
    case nullify
    /// They are deleted as well, with all that goes with them in turn, even when other objects link to them.
    case cascade
    /// The object cannot be deleted while the property links to objects that are not deleted with it.
    ///
    /// The transaction then fails with `Realm.Error.deletionDenied` when it commits, and changes nothing.
    case deny

    init(_ rule: RealmModel.DeleteRule) {
        switch rule {
        case .nullify: self = .nullify
        case .cascade: self = .cascade
        case .deny: self = .deny
        }
    }

    /// The rule as the model layer has it.
    var stored: RealmModel.DeleteRule {
        switch self {
        case .nullify: .nullify
        case .cascade: .cascade
        case .deny: .deny
        }
    }
}

/// A property of links, to which ``Persisted`` can give a ``DeleteRule``.
public protocol _HasDeleteRule {}

extension Optional: _HasDeleteRule where Wrapped: Object {}
extension List: _HasDeleteRule where Element: Object {}
extension MutableSet: _HasDeleteRule where Element: Object {}
extension Map: _HasDeleteRule where Value: OptionalProtocol, Value.Wrapped: Object {}
