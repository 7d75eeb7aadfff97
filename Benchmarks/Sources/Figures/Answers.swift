/// What the engines answered: they must all say the same, or what they did was not the same.
@MainActor
package final class Answers {
    /// Two engines that disagree, or one that disagrees with plain Swift.
    package struct Failure: Error, CustomStringConvertible {
        package var description: String
    }

    private var known: [RowIdentifier: (name: String, answer: Int)] = [:]

    package init() {}

    /// Compares an answer with that of whoever answered first.
    package func compare(_ answer: Int, of name: String, in row: RowIdentifier) throws {
        guard let first = known[row] else {
            known[row] = (name, answer)
            return
        }
        guard first.answer == answer else {
            throw Failure(description: "\(row.rawValue): \(name) answers \(answer), \(first.name) \(first.answer).")
        }
    }

    /// Compares what is there after a write with what plain Swift says must be, and so with what the others have.
    package nonisolated static func require<Answer: Equatable>(
        _ answer: Answer,
        is expected: Answer,
        of name: String,
        in row: RowIdentifier
    ) throws {
        guard answer == expected else {
            throw Failure(description: "\(row.rawValue): \(name) has \(answer), and \(expected) must be there.")
        }
    }
}
