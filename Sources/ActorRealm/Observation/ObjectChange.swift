public import Foundation

/// A change of an observed object, as `observe` and `changes()` deliver it.
@frozen
public enum ObjectChange<T> {
    /// Observing came to an end because the file could not be read.
    case error(_ error: NSError)
    /// Properties of the object were written; the object, and what changed in it.
    case change(_: T, _: [PropertyChange])
    /// The object was deleted. Nothing follows.
    case deleted
}

@available(
    *,
    unavailable,
    message: "A change holds what belongs to its observer's isolation. Send frozen values, or what you read from it."
)
extension ObjectChange: Sendable {}
