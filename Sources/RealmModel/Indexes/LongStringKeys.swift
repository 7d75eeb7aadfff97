import RealmStorage

/// How strings that do not stand whole in an index are told apart there.
struct LongStringKeys: Sendable, Equatable {
    /// Whether a hash of the whole string stands behind its beginning; not in the indexes of a class that a release before stored.
    var isHashed = true
    /// The file's own key, which is read with its schema.
    var key = SipHash.Key.none

    /// How the class's indexes are stored; every file has another key.
    static func == (left: Self, right: Self) -> Bool { left.isHashed == right.isHashed }

    /// The key with which strings are hashed; none where they are not.
    var hashKey: SipHash.Key { isHashed ? key : .none }
}
