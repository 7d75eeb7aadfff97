/// Why a text is not a predicate, and where.
package struct PredicateParseError: Error, Sendable, Equatable, CustomStringConvertible {
    /// What is wrong, in a sentence.
    package var message: String
    /// The place in the text: the number of UTF-8 bytes before it.
    package var position: Int
    /// The predicate's text, shortened.
    package var text: String

    package init(_ message: String, position: Int, text: String) {
        self.message = message
        self.position = position
        self.text = text.utf8.count <= 200 ? text : String(text.prefix(200)) + "…"
    }

    package var description: String {
        "Unable to parse the predicate \"\(text)\": \(message) (at position \(position))"
    }
}
