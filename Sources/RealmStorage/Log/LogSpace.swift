import CRealmShims
import Glibc
import Synchronization

/// Space for a log, which is made ahead, beside commits, by a thread that has this and not the file.
final class LogSpace: Sendable {
    /// What is there for a log.
    enum Answer {
        /// The caller is to have it made.
        case none
        case beingMade
        /// It can be taken, or there can be none before the log.
        case made
        /// It could not be made: the disk may be full. This is said once.
        case failed
    }

    private enum State {
        case none
        case beingMade
        /// Nothing, where it can only be made with the log.
        case made(UnnamedFile?)
        case failed
        /// No log is begun any more.
        case ended
    }

    private let state = Mutex(State.none)

    /// Whether there is some, or there can be none before the log.
    var isMade: Bool { state.withLock { if case .made = $0 { true } else { false } } }

    /// Asks for space; who is answered that there is none has it made.
    func ask() -> Answer {
        state.withLock { state in
            switch state {
            case .none:
                state = .beingMade
                return .none
            case .beingMade, .ended: return .beingMade
            case .made: return .made
            case .failed:
                state = .none
                return .failed
            }
        }
    }

    /// Makes it, unless nobody waits for it any more.
    func make(_ log: LogOptions, besides path: String) {
        let made: State
        do throws(StorageError) {
            made = .made(try log.makeDirectory(path).prepare(ringByteCount: log.ringByteCount))
        } catch {
            // Without space for it, deleting must stay possible.
            made = .failed
        }
        state.withLock { if case .beingMade = $0 { $0 = made } }
    }

    /// The space, once; none is there behind this.
    func take() -> UnnamedFile? {
        state.withLock { state in
            let before = state
            if case .ended = state { return nil }
            state = .none
            if case .made(let space) = before { return space }
            return nil
        }
    }

    /// Gives it back, and whatever is being made, for good.
    func end() { state.withLock { $0 = .ended } }
}

#if DEBUG
extension LogSpace {
    /// Space that waits for a log is as long as one, and has no name.
    func checkInvariants(ringByteCount: Int) throws(BrokenInvariant) {
        // It stays open meanwhile, whoever takes it.
        let space = state.withLock { state -> UnnamedFile? in
            if case .made(let space) = state { return space }
            return nil
        }
        guard let space else { return }
        var status = stat()
        try Invariant.require(fstat(space.descriptor, &status) == 0, "The space of a log is not open")
        try Invariant.require(status.st_nlink == 0, "The space of a log has a name before there is a log")
        let byteCount = LogHeader.blockByteCount + ringByteCount
        try Invariant.require(
            Int(status.st_size) == byteCount,
            "The space of a log has \(status.st_size) bytes, and a log has \(byteCount)"
        )
    }
}
#endif
