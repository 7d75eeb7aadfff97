/// How far the checkpoint is that is made beside the commits.
///
/// Whoever publishes chooses a candidate, and takes over what a finished checkpoint leaves of the log. Whoever makes the checkpoint
/// carries out one step after the other. A value that calls nothing, so that tests walk through it without threads.
struct CheckpointCourse {
    /// What is to be done next, in order.
    enum Step: Equatable {
        /// The pages of all versions up to the candidate come to the disk.
        case flushPages
        /// The candidate's header goes to the slot that does not hold the checkpoint before.
        case writeHeader
        /// It comes to the disk: a recovery begins there from now on.
        case flushHeader
    }

    /// What a checkpoint is being made of.
    struct Candidate: Equatable {
        /// The header as it is to be written; its mark says what a recovery needs of the log.
        var header: FileHeader
        var slot: Int
    }

    private enum State {
        case resting
        case making(Candidate, Step)
        /// A step failed: nobody knows what is on the disk, and no further checkpoint is made.
        case failed
    }

    private var state = State.resting
    /// Up to here nobody needs the log any more, as far as whoever appends has not been told.
    private var unneeded: LogPoint?

    /// Whether a checkpoint can be begun.
    var isResting: Bool { if case .resting = state { true } else { false } }

    /// What is to be done next; nil when nothing is.
    var next: (candidate: Candidate, step: Step)? {
        if case .making(let candidate, let step) = state { (candidate, step) } else { nil }
    }

    /// Begins a checkpoint; one is made at a time.
    ///
    /// - Returns: Whether it is begun: none is being made, and none has failed.
    mutating func choose(_ candidate: Candidate) -> Bool {
        guard isResting else { return false }
        state = .making(candidate, .flushPages)
        return true
    }

    /// Notes that the next step succeeded.
    mutating func advance() {
        guard case .making(let candidate, let step) = state else { return }
        switch step {
        case .flushPages: state = .making(candidate, .writeHeader)
        case .writeHeader: state = .making(candidate, .flushHeader)
        case .flushHeader:
            state = .resting
            unneeded = candidate.header.mark.point
        }
    }

    /// Notes that the next step failed.
    mutating func fail() { state = .failed }

    /// What a finished checkpoint made unnecessary, once.
    mutating func takeUnneeded() -> LogPoint? {
        defer { unneeded = nil }
        return unneeded
    }
}

#if DEBUG
extension CheckpointCourse {
    /// The candidate is a header that a recovery can begin at, and lies behind the checkpoint before.
    func checkInvariants() throws(BrokenInvariant) {
        guard case .making(let candidate, _) = state else { return }
        let header = candidate.header
        try Invariant.require(candidate.slot == 0 || candidate.slot == 1, "There is no slot \(candidate.slot)")
        try Invariant.require(header.mark.isOpen, "A checkpoint beside commits would close the log")
        try Invariant.require(
            header.isContentFlushed && header.extents.isEmpty,
            "The checkpoint vouches for what was flushed before it"
        )
        try Invariant.require(
            header.confirmedVersion < header.version,
            "The checkpoint says of itself that it is durable"
        )
        guard let unneeded else { return }
        try Invariant.require(
            unneeded.offset <= header.mark.point.offset,
            "The checkpoint lies before the one that was finished"
        )
    }
}
#endif
