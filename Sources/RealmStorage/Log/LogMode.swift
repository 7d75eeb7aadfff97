import Glibc

/// Whether there is a log, and whether pages are made on demand, where nobody says so: this decides it, and nothing else does.
///
/// The project's own tests, benchmarks and campaigns say it with a variable of the environment. Programs have no other way to it, and
/// without the variable there is no log.
package enum LogMode: String, CaseIterable, Sendable {
    /// Commits are made durable by their pages.
    case off
    /// Commits are made durable by their records in a log, and each makes its pages.
    case log
    /// Commits are made durable by their records in a log, and their pages are made when somebody needs them.
    case ondemand

    /// The variable of the environment.
    package static let variable = "ACTOR_REALM_LOG"

    /// What the variable said when it was first asked for; nil where the environment has none.
    private static let word = getenv(variable).map { String(cString: $0) }

    /// How commits are kept where nobody says so: as the environment has it, and without a log where that says nothing, or something unknown.
    package static let standard: LogMode = (try? stated()) ?? .off

    /// What the environment asks for, for programs that refuse a word that is none.
    ///
    /// - Returns: The mode; `off` where the variable is not there.
    /// - Throws: `StorageError`: `invalidArgument` where the variable has another word.
    package static func stated() throws(StorageError) -> LogMode { try named(word) }

    /// The mode that a word stands for.
    ///
    /// - Parameter word: What the variable says; nil and an empty text say nothing.
    /// - Returns: The mode; `off` where nothing is said.
    /// - Throws: `StorageError`: `invalidArgument` for any other word, with those that there are.
    package static func named(_ word: String?) throws(StorageError) -> LogMode {
        guard let word, !word.isEmpty else { return .off }
        if let mode = LogMode(rawValue: word) { return mode }
        let words = allCases.map(\.rawValue).joined(separator: ", ")
        throw StorageError(
            .invalidArgument,
            "The variable \(variable) of the environment is \"\(word)\", and must be one of: \(words)"
        )
    }

    /// Whether there is a log.
    package var keepsLog: Bool { self != .off }

    /// Whether pages are made on demand.
    package var leavesPages: Bool { self == .ondemand }
}
