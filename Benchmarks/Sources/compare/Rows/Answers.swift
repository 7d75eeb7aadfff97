import Figures

/// What the engines answered: they must all say the same, or what they did was not the same.
@MainActor
final class Answers {
    /// Two engines that disagree.
    struct Failure: Error, CustomStringConvertible {
        var description: String
    }

    private var known: [RowIdentifier: (name: String, answer: Int)] = [:]

    /// Compares an answer with that of whoever answered first.
    func compare(_ answer: Int, of name: String, in row: RowIdentifier) throws {
        guard let first = known[row] else {
            known[row] = (name, answer)
            return
        }
        guard first.answer == answer else {
            throw Failure(description: "\(row.rawValue): \(name) answers \(answer), \(first.name) \(first.answer).")
        }
    }
}
