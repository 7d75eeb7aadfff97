import Synchronization

/// What is done for a file with a log when no commit follows: by alarms, which do not keep the file open.
final class LogRest: Sendable {
    /// What is done.
    enum Work: CaseIterable {
        /// The log says how far it is durable.
        case note
        /// A checkpoint is made.
        case checkpoint
    }

    private struct State {
        var note: CommitRest
        var checkpoint: CommitRest

        subscript(work: Work) -> CommitRest {
            get {
                switch work {
                case .note: note
                case .checkpoint: checkpoint
                }
            }
            set {
                switch work {
                case .note: note = newValue
                case .checkpoint: checkpoint = newValue
                }
            }
        }
    }

    private let clock: LogOptions.Clock
    private let state: Mutex<State>
    /// The file, unless its last user has let go of it; held while something is done for it.
    private let file = Mutex<WeakReference<StorageFile>?>(nil)

    /// For a file that keeps its log so; nil where nobody tells the time.
    init?(_ log: LogOptions?) {
        guard let log, let clock = log.clock else { return nil }
        self.clock = clock
        state = Mutex(
            State(
                note: CommitRest(patience: log.notePatience),
                checkpoint: CommitRest(patience: log.checkpointPatience)
            )
        )
    }

    /// Notes a commit that is in the log of a file, for whoever publishes.
    func commit(to file: StorageFile) {
        let now = clock.now()
        let (note, checkpoint) = state.withLock { ($0.note.commit(at: now), $0.checkpoint.commit(at: now)) }
        if note == nil, checkpoint == nil { return }
        // An alarm that is being looked at finds that somebody publishes, and keeps nobody waiting.
        self.file.withLock { $0 = WeakReference(file) }
        if let note { ask(for: .note, in: note) }
        if let checkpoint { ask(for: .checkpoint, in: checkpoint) }
    }

    /// Notes that the last commit needs nothing more.
    func forget() {
        state.withLock { state in
            for work in Work.allCases { state[work].forget() }
        }
    }

    /// Has nobody call anything of the file any more until somebody commits to it, and waits for whoever does just now.
    func silence() {
        file.withLock { file in
            file = nil
            state.withLock { state in
                for work in Work.allCases {
                    state[work].forget()
                    state[work].disarm()
                }
            }
        }
    }

    private func ask(for work: Work, in pause: UInt64) {
        if clock.wake(pause, { [self] in look(for: work) }) { return }
        state.withLock { $0[work].disarm() }
    }

    /// What an alarm does.
    private func look(for work: Work) {
        file.withLock { reference in
            // It is let go of in here: the last user, who waits for this, closes the file himself.
            guard let file = reference?.object else { return }
            let now = clock.now()
            switch state.withLock({ $0[work].look(at: now) }) {
            case .nothing: break
            case .wake(let pause): ask(for: work, in: pause)
            case .due:
                if file.perform(work) { break }
                // Whoever is at the log counts as one more commit.
                if let pause = state.withLock({ $0[work].commit(at: now) }) { ask(for: work, in: pause) }
            }
        }
    }
}
