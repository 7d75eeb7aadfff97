/// How realms kept commits while figures were taken: a run with a log is another one than a run without, and says so.
///
/// The library reads it from the variable `ACTOR_REALM_LOG` of the environment.
package enum LogSetting: String, Codable, CaseIterable, Sendable {
    case off
    case log
    case ondemand

    /// The setting that the library says it has.
    package init(word: String) throws {
        guard let setting = Self(rawValue: word) else {
            throw Options.Failure(description: "The library keeps commits in a way that is not known here: \(word).")
        }
        self = setting
    }

    /// What realms had, in a few words.
    package var words: String {
        switch self {
        case .off: "without a log"
        case .log: "with a log, pages in each commit"
        case .ondemand: "with a log, pages on demand"
        }
    }

    /// What stands behind figures.
    package var sentence: String { "Realms \(words) (`ACTOR_REALM_LOG=\(rawValue)`)." }

    /// What is said of two builds in turns; one that knows no such setting keeps no log.
    package static func words(ofThis this: LogSetting, other: LogSetting?) -> String {
        let other = other ?? .off
        return this == other ? this.words : "this build \(this.words), the other one \(other.words)"
    }
}
