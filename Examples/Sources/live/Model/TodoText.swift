import Foundation

/// The text of a todo, checked: one line of 1 to 500 characters without spaces around it.
struct TodoText: Sendable {
    static let characterLimit = 500

    let value: String

    /// Why a text is not one for a todo.
    struct Unfit: Error, CustomStringConvertible {
        let description: String
    }

    init(_ text: String) throws(Unfit) {
        value = text.trimmingCharacters(in: .whitespacesAndNewlines)
        if value.isEmpty { throw Unfit(description: "The text is empty.") }
        if value.count > TodoText.characterLimit {
            throw Unfit(
                description: "The text has \(value.count) characters; \(TodoText.characterLimit) are the most."
            )
        }
        let unfit: Set<Unicode.GeneralCategory> = [.control, .lineSeparator, .paragraphSeparator]
        if value.unicodeScalars.contains(where: { unfit.contains($0.properties.generalCategory) }) {
            throw Unfit(description: "The text must be one line without control characters.")
        }
    }
}
