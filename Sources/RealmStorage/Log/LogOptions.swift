/// How commits are kept in a log.
///
/// A log is begun by a process that is alone, and has one writer: others read beside it, and one that is to write ends it first. With
/// durability `none` there is no log.
package struct LogOptions: Sendable {
    /// The length of the ring, a multiple of a block.
    package var ringByteCount = 4 << 20
    /// The longest content of a record: what changes more is kept as pages, and goes to the disk once.
    package var contentByteLimit = 64 << 10
    /// So many commits that follow each other are kept as pages before a log is made: it costs zeros and four flushes, and its end one more.
    package var pageCommitCount = 32
    /// So many commits that follow each other are kept as pages beside a log before it is ended: each flushes once more than without one.
    package var pageCommitLimit = 8
    /// Whether a commit that its record has made durable may stay without pages until somebody needs them, where one realm of one process
    /// has the file.
    package var pagesOnDemand = LogMode.standard.leavesPages
    /// So many commits may be without pages, one after the other, and so many bytes of their records.
    package var owedCommitLimit = 1_000
    package var owedByteLimit = 4 << 20
    /// What is done beside commits.
    package enum Work: Sendable {
        /// Making the space of a log ahead.
        case space
        /// Making a checkpoint.
        case checkpoint
        /// Ending a log that nobody has written to for a while.
        case end
    }

    /// Runs what is done beside commits, one after the other; in the way of the commit, unless it says otherwise.
    package var runBeside: @Sendable (Work, @escaping @Sendable () -> Void) -> Void = { $1() }
    /// Tells the time, and calls functions later, on no thread that a commit waits for.
    package struct Clock: Sendable {
        /// The time, in nanoseconds; never before the one that was told last.
        package var now: @Sendable () -> UInt64
        /// Calls a function in so many nanoseconds, and never within this call; false when it will not be called.
        package var wake: @Sendable (UInt64, @escaping @Sendable () -> Void) -> Bool

        package init(
            now: @escaping @Sendable () -> UInt64,
            wake: @escaping @Sendable (UInt64, @escaping @Sendable () -> Void) -> Bool
        ) {
            self.now = now
            self.wake = wake
        }
    }

    /// Without one nothing is done behind the last commit until the close.
    package var clock: Clock?
    /// So many nanoseconds behind the last commit the log says how far it is durable.
    package var notePatience: UInt64 = 20_000_000
    /// So many nanoseconds behind the last commit a checkpoint is begun.
    package var checkpointPatience: UInt64 = 1_000_000_000
    /// So many nanoseconds behind the last commit the log is ended, and commits follow each other no more; nil leaves it to the close.
    package var endPatience: UInt64? = 5_000_000_000
    /// Called once in the life of a file where a log is due and there can be none, with the reason, in the way of a commit.
    package var wasRefused: @Sendable (StorageError) -> Void = { _ in }
    /// Where the log of a realm file stands; another place in tests.
    package var makeDirectory: @Sendable (String) -> any LogDirectory = { LogFile(besides: $0) }
    /// Applies the records that an opening finds inside one transaction, and prepares its commit.
    package var replay: @Sendable ([CommitRecord], WriteTransaction) throws -> PreparedCommit
    package typealias PageVisitor =
        @Sendable (
            Snapshot, inout VisitedPages, (PageReference) throws(StorageError) -> Void
        ) throws(StorageError) -> Void
    /// Visits each run of pages that a version's catalog reaches and that the walk goes down into, once.
    package var forEachPage: PageVisitor

    package init(
        forEachPage: @escaping PageVisitor,
        replay: @escaping @Sendable ([CommitRecord], WriteTransaction) throws -> PreparedCommit
    ) {
        self.forEachPage = forEachPage
        self.replay = replay
    }
}
