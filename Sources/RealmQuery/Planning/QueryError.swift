/// Why a predicate does not fit the schema it is asked of.
///
/// Raised when the query is made, never while it runs.
package struct QueryError: Error, Sendable, Equatable, CustomStringConvertible {
    /// What does not fit, in a sentence.
    package var message: String
    /// The place in the predicate's text where what does not fit begins: the number of UTF-8 bytes before it; nil when
    /// the predicate was no text.
    package var position: Int?

    package init(_ message: String) {
        self.message = message
    }

    package var description: String {
        guard let position else { return message }
        return "\(message) (at position \(position))"
    }

    /// Runs a part of what prepares a query; its errors are told to be at that position unless they know a better one.
    package static func locating<Result>(_ position: Int?, _ body: () throws -> Result) throws -> Result {
        guard let position else { return try body() }
        do {
            return try body()
        } catch var error as QueryError {
            error.position = error.position ?? position
            throw error
        }
    }
}
