import Synchronization

/// What a thread is given that is to make a checkpoint: it keeps the file open as long as there is something to do.
final class CheckpointErrand: Sendable {
    private let file: Mutex<StorageFile?>

    init(_ file: StorageFile) { self.file = Mutex(file) }

    /// Finishes the checkpoint, and lets go of the file.
    func run() {
        file.withLock { file in
            file?.finishCheckpoint()
            file = nil
        }
    }

    /// Has it let go of the file, behind whatever it is at: its caller keeps the file, and closes it when he likes.
    func giveUp() { file.withLock { $0 = nil } }
}
