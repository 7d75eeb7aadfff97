/// Why a predicate does not fit the schema it is asked of.
///
/// Raised when the query is made, never while it runs.
package struct QueryError: Error, Sendable, Equatable, CustomStringConvertible {
    /// What does not fit, in a sentence.
    package var message: String

    package init(_ message: String) {
        self.message = message
    }

    package var description: String { message }
}
