/// One operation of a `txn` request.
enum Operation {
    case read(String)
    case write(String, String)
    case delete(String)
    case append(String, String)
    case add(String, Int64)

    /// Reads `r:K`, `w:K:V`, `d:K`, `a:K:V` or `+:K:N`.
    init(_ word: String) throws {
        let parts = word.utf8.split(separator: 0x3A, omittingEmptySubsequences: false).map { String(Substring($0)) }
        switch (parts[0], parts.count) {
        case ("r", 2): self = .read(parts[1])
        case ("d", 2): self = .delete(parts[1])
        case ("w", 3): self = .write(parts[1], parts[2])
        case ("a", 3): self = .append(parts[1], parts[2])
        case ("+", 3):
            guard let number = Int64(parts[2]) else { throw Driver.Failure.usage("\(word): N is an integer") }
            self = .add(parts[1], number)
        default: throw Driver.Failure.usage("\(word) is no operation")
        }
    }

    var isRead: Bool {
        if case .read = self { true } else { false }
    }
}
