/// What holds for the block of a write that is being called.
struct BlockRules {
    /// Whether what it was built on is waited for behind it, without blocking the thread.
    var settlesLater = false
    /// Whether that write throws where it is lost.
    var throwsBase = false
    /// Whether the block may share its commit with other writers.
    var isGrouped = false
}
