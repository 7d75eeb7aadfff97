import Glibc
import Synchronization

/// Whether there is a log, and whether pages are made on demand, where nobody says so: this decides it, and nothing else does.
///
/// The project's own tests, benchmarks and campaigns say it with a variable of the environment. In a release build it counts only where the
/// program has asked what it says, as these do: whoever has the environment of a server cannot change how its realms are kept.
package enum LogMode: String, CaseIterable, Sendable {
    /// Commits are made durable by their pages.
    case off
    /// Commits are made durable by their records in a log, and each makes its pages.
    case log
    /// Commits are made durable by their records in a log, and their pages are made when somebody needs them.
    case ondemand

    /// How commits are kept by every program that says nothing else.
    package static let usual = LogMode.ondemand

    /// The variable of the environment.
    package static let variable = "ACTOR_REALM_LOG"

    /// What the variable said when it was first asked for; nil where the environment has none.
    private static let word = getenv(variable).map { String(cString: $0) }

    /// Whether the program has asked what the environment says.
    private static let isAsked = Atomic<Bool>(false)

    /// How commits are kept where nobody says so: as the environment has it, and as usual where that says nothing, or something unknown.
    package static var standard: LogMode {
        #if DEBUG
        said
        #else
        isAsked.load(ordering: .relaxed) ? said : .usual
        #endif
    }

    private static let said: LogMode = (try? named(word)) ?? .usual

    /// What the environment asks for, for programs that refuse a word that is none.
    ///
    /// - Returns: The mode; the usual one where the variable is not there.
    /// - Throws: `StorageError`: `invalidArgument` where the variable has another word.
    package static func stated() throws(StorageError) -> LogMode {
        isAsked.store(true, ordering: .relaxed)
        return try named(word)
    }

    /// The mode that a word stands for.
    ///
    /// - Parameter word: What the variable says; nil and an empty text say nothing.
    /// - Returns: The mode; the usual one where nothing is said.
    /// - Throws: `StorageError`: `invalidArgument` for any other word, with those that there are.
    package static func named(_ word: String?) throws(StorageError) -> LogMode {
        guard let word, !word.isEmpty else { return .usual }
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
