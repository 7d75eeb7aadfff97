extension StorageFile {
    /// Whether this is the process that opened the file, and not a child forked from it.
    package var isOfThisProcess: Bool { ForkDetector.generation == forkGeneration }

    /// Fails in a child that was forked from the process that opened the file.
    func checkProcess() throws(StorageError) {
        guard isOfThisProcess else {
            throw StorageError(
                .invalidArgument,
                "The realm was opened before this process was forked; open it again in the child",
                path: path
            )
        }
    }
}
