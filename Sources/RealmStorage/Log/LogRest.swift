import Synchronization

/// What is done for a file with a log when no commit follows: by alarms, which do not keep the file open.
///
/// The log is ended on the thread of its other work, since that flushes.
final class LogRest: Sendable {
    /// What is done.
    enum Work: CaseIterable {
        /// The log says how far it is durable.
        case note
        /// A checkpoint is made.
        case checkpoint
        /// The log is ended.
        case end
    }

    private struct State {
        var note: CommitRest
        var checkpoint: CommitRest
        var end: CommitRest

        subscript(work: Work) -> CommitRest {
            get {
                switch work {
                case .note: note
                case .checkpoint: checkpoint
                case .end: end
                }
            }
            set {
                switch work {
                case .note: note = newValue
                case .checkpoint: checkpoint = newValue
                case .end: end = newValue
                }
            }
        }
    }

    private let clock: LogOptions.Clock
    private let runBeside: @Sendable (LogOptions.Work, @escaping @Sendable () -> Void) -> Void
    private let endsLog: Bool
    private let state: Mutex<State>
    /// The file, unless its last user has let go of it; held while something is done for it.
    private let file = Mutex<WeakReference<StorageFile>?>(nil)

    /// For a file that keeps its log so; nil where nobody tells the time.
    init?(_ log: LogOptions?) {
        guard let log, let clock = log.clock else { return nil }
        self.clock = clock
        runBeside = log.runBeside
        endsLog = log.endPatience != nil
        state = Mutex(
            State(
                note: CommitRest(patience: log.notePatience),
                checkpoint: CommitRest(patience: log.checkpointPatience),
                end: CommitRest(patience: log.endPatience ?? 0)
            )
        )
    }

    /// Notes a commit to a file with a log, for whoever publishes.
    ///
    /// - Parameters:
    ///   - file: The file.
    ///   - isKeptAsPages: Whether the commit is a checkpoint of its own version, and needs neither of the first two.
    func commit(to file: StorageFile, keptAsPages isKeptAsPages: Bool = false) {
        let now = clock.now()
        let (note, checkpoint, end) = state.withLock { state -> (UInt64?, UInt64?, UInt64?) in
            let end = endsLog ? state.end.commit(at: now) : nil
            if isKeptAsPages {
                state.note.forget()
                state.checkpoint.forget()
                return (nil, nil, end)
            }
            return (state.note.commit(at: now), state.checkpoint.commit(at: now), end)
        }
        if note == nil, checkpoint == nil, end == nil { return }
        // An alarm that is being looked at finds that somebody has the turn to write, and keeps nobody waiting.
        self.file.withLock { $0 = WeakReference(file) }
        if let note { ask(for: .note, in: note) }
        if let checkpoint { ask(for: .checkpoint, in: checkpoint) }
        if let end { ask(for: .end, in: end) }
    }

    /// Does something beside which nothing is done by an alarm; waits for what is being done just now.
    ///
    /// It is to publish nothing to a log: a commit is noted here.
    func withoutWork(_ body: () -> Void) { file.withLock { _ in body() } }

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
        // The thread that the log is ended on goes with the file, and not with the last alarm.
        let rest = WeakReference(self)
        if clock.wake(pause, { rest.object?.alarm(for: work) }) { return }
        state.withLock { $0[work].disarm() }
    }

    private func alarm(for work: Work) {
        guard work == .end else { return look(for: work) }
        let rest = WeakReference(self)
        runBeside(.end) { rest.object?.look(for: work) }
    }

    /// Does what an alarm is for; waits only for the end of the log, which has a thread of its own.
    private func look(for work: Work) {
        if work == .end { return file.withLock { look(for: work, in: $0) } }
        if file.withLockIfAvailable({ look(for: work, in: $0) }) != nil { return }
        // The log is being ended, or a commit noted. On this thread come the alarms of other files, so there is to be another one here, unless
        // that end forgets what it is for.
        let now = clock.now()
        let pause = state.withLock { state -> UInt64? in
            switch state[work].look(at: now) {
            case .nothing: return nil
            case .wake(let pause): return pause
            case .due: return state[work].commit(at: now)
            }
        }
        if let pause { ask(for: work, in: pause) }
    }

    /// Does it to a file that is kept where it is meanwhile.
    private func look(for work: Work, in reference: WeakReference<StorageFile>?) {
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
