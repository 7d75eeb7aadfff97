import RealmStorage

extension WriteQueue {
    /// A place in the queue.
    struct Ticket: Hashable, Sendable {
        let number: UInt64
    }

    /// Whether a writer's thread waits, or only its task.
    enum Kind: Sendable {
        case synchronous
        case asynchronous
    }

    /// What to do with the inter-process lock.
    enum LockAction: Equatable, Sendable {
        /// Try it without blocking; report ``lockAcquired(at:)``, ``lockBusy()`` or ``lockFailed()``.
        case acquire
        /// Wait for it on the dedicated thread; report ``lockAcquired(at:)`` or ``lockFailed()``.
        case wait
        /// Give it back.
        case release
        /// Give it back, let other processes have it, and wait for it on the dedicated thread.
        case yield
        /// Keep it, and report ``lingerEnded(at:)`` after ``lingerStep``.
        case linger
        /// Keep it, and report ``keepEnded(at:)`` after ``keepStep``, or ``keepRefused()`` where that cannot be.
        case keep
    }

    /// Who writes and flushes the prepared commits.
    enum FlushPlace: Equatable, Sendable {
        case caller
        case ioThread
    }

    /// What the owner has to do, in the order of the fields.
    struct Actions: Equatable, Sendable {
        var lock: LockAction?
        /// It is this writer's turn now.
        var grant: Ticket?
        /// This writer gets the error of the lock.
        var fail: Ticket?
        /// Start flushing there.
        ///
        /// When ``isSealing`` seal and report ``sealFinished(at:)``; call ``takeForFlush(_:)``, flush, and report ``flushFinished(at:)``. When
        /// ``isFlushingRecords`` call ``takeRecords()`` instead of both, and flush these.
        var flush: FlushPlace?
    }

    typealias Waiter = WriterLine<Isolation>.Writer

    /// Who keeps a waiting writer waiting.
    enum Holder: Equatable, Sendable {
        /// A writer of this process, whose turn began at this time.
        case writer(origin: ReaderOrigin?, since: UInt64)
        /// The commits of this process, which are on their way to the disk; the last of them was begun there and then.
        case flush(origin: ReaderOrigin?, since: UInt64)
        /// Another process.
        case otherProcess
        /// Nobody any more.
        case nobody
    }

    /// What this process has of the inter-process lock.
    enum LockState: Equatable {
        case free
        case acquiring
        case held(since: UInt64)
        /// Held, with nobody who wants it, since a time.
        case lingering(since: UInt64, idle: UInt64)
        /// Held, with nobody who wants it, and no other process that has the file open, since a time.
        case kept(idle: UInt64)
    }

    /// How a writer's turn ends.
    enum Ending: Equatable, Sendable {
        /// Without a commit.
        case nothing
        /// With a commit that was sealed, and with it those that joined before.
        case prepared
        /// With such a commit, for whose flush the writer blocks its thread: it may as well make it itself.
        case preparedBlocking
        /// With such a commit, which costs less to bring to the file than to hand over: the writer does it itself.
        case preparedBrief
        /// With a commit that is left to be sealed together with later ones.
        case joined
        /// With a commit that is durable, and left without pages until somebody asks for them (``askForPages(at:)``), or the lock is given back.
        case acknowledged
        /// With a commit that is durable once its record is, and is left without pages from then on.
        case recorded
    }

    /// Whose turn it is.
    enum Turn {
        case none
        /// The flusher seals what joined.
        case sealing
        /// Chosen, not started: its task is on the way to its actor.
        case granted(Waiter)
        case running(Waiter)
    }
}
