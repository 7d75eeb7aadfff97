/// What is done for a file with a log when no commit follows.
final class LogRest: Sendable {
    /// What is done.
    enum Work: CaseIterable {
        /// The log says how far it is durable.
        case note
        /// A checkpoint is made.
        case checkpoint
    }

    /// Has nobody call anything of the file any more.
    func silence() {}
}
