/// What is done to a log when no commit follows.
extension StorageFile {
    /// Has the log say how far it is durable.
    func noteDurableOffset() {}
}
