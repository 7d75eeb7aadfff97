/// One property of an observed object that was written.
///
/// Unlike RealmSwift, old values are there for writes of the observing realm too: both versions of the file are at hand.
@frozen
public struct PropertyChange {
    /// The name of the property in the model class.
    public let name: String
    /// The value before the write; nil for collections and linking objects, and for null.
    ///
    /// A linked object is a frozen one of the version before.
    public let oldValue: Any?
    /// The value now; nil for collections and linking objects, and for null.
    ///
    /// A linked object is one of the observer's own realm.
    public let newValue: Any?
}

@available(
    *,
    unavailable,
    message: "A change holds what belongs to its observer's isolation. Send frozen values, or what you read from it."
)
extension PropertyChange: Sendable {}
