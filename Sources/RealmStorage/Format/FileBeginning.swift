/// What a new file begins with.
package struct FileBeginning: Sendable {
    /// The version at which it begins.
    package var version: UInt64
    /// Its identifier; nil for a new one.
    package var identifier: FileIdentifier?
    package var numbers: CommitNumbers
    /// Whether its commits are kept as history.
    package var keepsHistory: Bool

    /// A file that takes over nothing but, perhaps, the number of a version.
    package init(version: UInt64 = 1) {
        self.version = version
        identifier = nil
        numbers = CommitNumbers()
        keepsHistory = false
    }

    /// A copy of a version of another file: a realm of its own, which knows how far it had come when it was one with the other.
    package init(copyOf snapshot: Snapshot) throws(StorageError) {
        // Its pages would be copied as if they were all.
        try snapshot.header.features.requireWritable(snapshot.file.path)
        self.init(version: snapshot.version)
        numbers = snapshot.header.numbers
    }

    /// A file that takes the place of the one that a version was read from: the same realm.
    init(replacementOf snapshot: Snapshot) throws(StorageError) {
        try self.init(copyOf: snapshot)
        identifier = snapshot.header.identifier.completed
        keepsHistory = snapshot.header.keepsHistory
    }
}
