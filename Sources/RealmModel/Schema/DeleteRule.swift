/// What becomes of the objects that a property links to when the object that has the property is deleted.
///
/// Embedded objects go with their owner in any case.
package enum DeleteRule: UInt8, Sendable, BitwiseCopyable, CaseIterable {
    /// They stay.
    case nullify = 0
    /// They are deleted as well, whoever else links to them.
    case cascade
    /// The object cannot be deleted while the property links to an object that stays.
    case deny
}
