public import CRealmShims

/// The word that every access to a live object compares with the place where the caller runs.
///
/// Isolation is executor identity: the place of an actor's code is its executor, whatever thread runs it. Nothing is
/// remembered of earlier proofs, so that what ran on the thread before, or runs there next, does not matter.
@usableFromInline
@frozen
struct RealmPlace {
    @usableFromInline var word: UInt

    @inlinable
    init(word: UInt) { self.word = word }

    /// Of frozen realms.
    @inlinable static var everywhere: RealmPlace { RealmPlace(word: 0) }

    /// No caller's: each access is looked at, and goes on or traps.
    @inlinable static var nowhere: RealmPlace { RealmPlace(word: 1) }

    /// Whether the caller is known to be there; if not, the isolation has to be asked.
    @inlinable @inline(__always)
    var isCaller: Bool { word == 0 || crealm_current_place() == word }

    /// The place in memory to which its owner may be writing just now, for who asks from elsewhere; an access reads it plainly.
    @inlinable @inline(__always)
    static func loaded(from memory: UnsafeMutablePointer<RealmPlace>) -> RealmPlace {
        RealmPlace(word: crealm_load_place(memory))
    }

    /// Writes the place to memory that somebody may be reading from elsewhere.
    @inline(__always)
    func store(to memory: UnsafeMutablePointer<RealmPlace>) { crealm_store_place(memory, word) }
}
