/// The two words that every access to a live object compares with the current thread.
///
/// `(thread ^ ownerThread) & threadMask == 0` means: go on. A mismatch asks for the executor, which either makes the
/// current thread the owner or traps. The mask is 0 for frozen realms, which may be read anywhere.
@usableFromInline
@frozen
struct RealmAccessState {
    /// The thread that last proved to run the realm's isolation; 1, no thread's word, when none has.
    @usableFromInline var ownerThread: UInt
    /// All ones for a live realm, 0 for a frozen one.
    @usableFromInline var threadMask: UInt

    @usableFromInline
    init(ownerThread: UInt, threadMask: UInt) {
        self.ownerThread = ownerThread
        self.threadMask = threadMask
    }

    /// The word that no thread has.
    static var noThread: UInt { 1 }
}
