import Synchronization

/// Pages that are owed, and that found no space.
///
/// The published version is whole, the records behind it are durable, and whoever asks for them reads them in memory. So writing goes on: the
/// next turn applies them to the file first, as whoever takes over the log of a process that died, and ends the log with that. Where there
/// is no space yet, the writer whose turn it is gets the error, and the turn behind it tries again. Another process that has the lock
/// meanwhile does the same.
extension StorageFile {
    /// Whether pages that are owed found no space, and the next turn to write makes them.
    var hasRefusedPages: Bool { refusedPages.withLock { $0 != nil } }

    /// Why pages that are owed are not made just now, and nobody is about to: there was no space for them, or writing has stopped; nil
    /// elsewhere.
    package var reasonOfMissingPages: StorageError? {
        guard isOwingPages else { return nil }
        forgetPagesMadeElsewhere()
        return isOwingPages ? reasonOfStop ?? refusedPages.withLock { $0 } : nil
    }

    /// Leaves pages to the next turn to write for which there was no space.
    ///
    /// To be called before the commits that were to have them are lost: whoever begins a transaction on the published version finds this.
    func leavePagesToNextTurn(because error: StorageError) {
        let refusal = StorageError(
            .full,
            "Commits that were acknowledged have no pages yet, since there was no space for these (\(error.message)). The log has them. Make "
                + "room: the next write brings them to the file",
            path: path,
            errorNumber: error.errorNumber
        )
        refusedPages.withLock { $0 = refusal }
        mayFollowLog.store(true, ordering: .sequentiallyConsistent)
    }

    /// Forgets what is owed: its pages are published.
    func forgetOwedPages() {
        refusedPages.withLock { refusal in
            refusal = nil
            owesPages.store(false, ordering: .sequentiallyConsistent)
            owed.removeAll()
        }
    }

    /// The same where another process has made pages that were left to this one's next turn.
    func forgetPagesMadeElsewhere() {
        refusedPages.withLock { refusal in
            // While there is a refusal nothing more is acknowledged.
            guard refusal != nil, newestVersion >= acknowledgedVersion.load(ordering: .relaxed) else { return }
            refusal = nil
            owesPages.store(false, ordering: .sequentiallyConsistent)
            owed.removeAll()
        }
    }
}
