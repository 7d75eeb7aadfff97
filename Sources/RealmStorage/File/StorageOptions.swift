/// How a file is opened.
package struct StorageOptions: Sendable {
    /// When a commit counts as done.
    package enum Durability: Sendable {
        /// After one `fdatasync` that covers the commit.
        case flushed
        /// When the operating system has it; a power cut may lose it. For tests and caches only. What others have left unflushed is flushed
        /// by the opening all the same.
        case none
    }

    package var isReadOnly = false
    package var createsIfMissing = true
    /// What a new file begins with.
    package var beginning = FileBeginning()
    package var durability = Durability.flushed
    /// Commits refuse to start beyond this many pinned versions; nil for no limit.
    package var maximumNumberOfActiveVersions: Int?
    /// The number of newest versions whose change log is kept even when no reader stands there.
    package var changeLogRetention: UInt64 = 0

    /// Puts a device of the caller's before the real one; for tests of failures.
    package var makeDevice: (@Sendable (any StorageDevice) -> any StorageDevice)?
    /// The most versions that this process may read at once; less in tests.
    package var readerLimit = 4096
    /// The address space to reserve; nil for what the machine allows.
    package var reservedByteCount: Int?
    /// Has steps fail that no device reaches; for the same tests.
    package var failures: StepFailures?
    /// Called with what is found where the structures of the write path are checked after each step, in debug builds; nil where they
    /// are not checked.
    package var invariantWasBroken: (@Sendable (BrokenInvariant) -> Void)? = Invariant.environmentHandler
    /// How much of them is checked then.
    package var invariantScope = Invariant.environmentScope ?? .whole

    /// How long whoever ends another process's log waits until that one has made its checkpoint; a flush of all pages at most, unless
    /// the process is dead and a child of it lives, which keeps its locks.
    package var checkpointWait = Duration.seconds(60)
    /// How long an opening waits for pages that another process owes, where it cannot read them in memory.
    ///
    /// One that is alive makes them when its transaction ends. So long waits one, too, that reads without a lock file, beside a log
    /// that another process has open.
    package var owedPagesWait = Duration.seconds(60)
    /// How commits are kept in a log; nil for files without one.
    package var log: LogOptions?
    /// How a log is applied that whoever keeps none finds; nil where a file with one is refused that holds newer commits.
    package var recovery: LogOptions?

    package init() {}
}
