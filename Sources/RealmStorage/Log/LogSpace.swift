import Synchronization

/// Space for a log, which is made ahead, beside commits, by a thread that has this and not the file.
final class LogSpace: Sendable {
    private enum State {
        case none
        case beingMade
        /// Nothing, where it can only be made with the log.
        case made(UnnamedFile?)
    }

    private let state = Mutex(State.none)

    /// Whether there is some, or there can be none before the log.
    var isMade: Bool { state.withLock { if case .made = $0 { true } else { false } } }

    /// Notes that some is being made.
    ///
    /// - Returns: Whether it is the caller who is to have it made.
    func begin() -> Bool {
        state.withLock { state in
            guard case .none = state else { return false }
            state = .beingMade
            return true
        }
    }

    /// Makes it.
    func make(_ log: LogOptions, besides path: String) {
        // Without space for it, deleting must stay possible.
        let space = try? log.makeDirectory(path).prepare(ringByteCount: log.ringByteCount)
        state.withLock { $0 = .made(space) }
    }

    /// The space, once; none is there behind this.
    func take() -> UnnamedFile? {
        state.withLock { state in
            defer { state = .none }
            if case .made(let space) = state { return space }
            return nil
        }
    }
}
