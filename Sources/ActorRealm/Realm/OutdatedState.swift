import RealmStorage

/// What is left to a realm whose classes do not fit its file any more.
struct OutdatedState {
    /// Why the realm cannot follow the file any more; nil while it can.
    var reason: StorageError?
    /// Why no version can be read any more, in a realm that was closed for it: its classes fit none.
    var unreadableReason: StorageError?
    /// The version of such a realm that was invalidated.
    var lastVersion: Snapshot?
}
