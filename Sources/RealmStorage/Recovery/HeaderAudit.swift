import Glibc
import Synchronization

/// Checks the header pages of an open file: every copy, so that the redundancy is there when it is needed.
package enum HeaderAudit {
    /// Checks all copies of both slots.
    ///
    /// Writers go on meanwhile, so a copy that may be being written is looked at again: until it has been found damaged three
    /// times while nobody held the write lock, or for a fifth of a second.
    ///
    /// - Throws: `StorageError` with code `corrupt` and the page.
    package static func check(_ snapshot: Snapshot) throws(StorageError) {
        var problem: StorageError?
        var quietLooks = 0
        for attempt in 0..<100 where quietLooks < 3 {
            if attempt > 0 { usleep(2_000) }
            let before = snapshot.file.versionWhileNobodyWrites
            try requireLength(of: snapshot)
            problem = self.problem(snapshot)
            if problem == nil { return }
            let isQuiet = before != nil && snapshot.file.versionWhileNobodyWrites == before
            quietLooks = isQuiet ? quietLooks + 1 : 0
        }
        if let problem { throw problem }
    }

    /// Fails where the file is shorter than a version needs, whose pages are about to be read: asked again and again while they are.
    ///
    /// Pages that were free in it may have been cut off behind it, but never one that it uses, nor one of the newest version. A file that
    /// is cut between this and the read of a page that is gone ends the process all the same.
    package static func requireLength(of snapshot: Snapshot) throws(StorageError) {
        let file = snapshot.file
        while true {
            // Before the length: it is made larger before a version is published, and shorter behind that.
            let newest = file.state.withLock { $0.published }
            // One that was deleted tells no length.
            guard let byteCount = try? file.data.currentByteCount() else { return }
            let needed = max(min(snapshot.header.pageCount, newest.pageCount), UInt64(FileHeader.slotPageCount))
            if needed <= UInt64(byteCount / pageByteCount) { return }
            let version = file.newestVersion
            guard version > newest.version else { throw StorageFile.cutShort(byteCount, file.path) }
            try file.state.withLock { (state) throws(StorageError) in try file.refresh(&state, to: version) }
        }
    }

    private static func problem(_ snapshot: Snapshot) -> StorageError? {
        let path = snapshot.file.path
        var slots: [[FileHeader]] = [[], []]
        for page in 0..<FileHeader.slotPageCount {
            let bytes = snapshot.view.mapping + page * pageByteCount
            guard case .valid(let header) = FileHeader.read(bytes, page: PageNumber(page)) else {
                return .corrupt("A copy of the file's header is damaged", page: PageNumber(page), path: path)
            }
            slots[page / FileHeader.copiesPerSlot].append(header)
        }
        for (slot, copies) in slots.enumerated() {
            // The mark that follows a flush is written over the first copy only.
            let isMarked = copies[0].confirmedVersion == copies[0].version
            guard copies.allSatisfy({ ($0 == copies[0] || isMarked) && $0.fileID == snapshot.header.fileID }) else {
                return .corrupt(
                    "The copies of a file header differ",
                    page: PageNumber(slot * FileHeader.copiesPerSlot),
                    path: path
                )
            }
        }
        let headers = slots.joined().filter { !$0.isFormer }
        let isOrdered = headers.allSatisfy { one in
            headers.allSatisfy { one.version <= $0.version || one.sequence > $0.sequence }
        }
        guard isOrdered else {
            return .corrupt("The headers of the file are not in the order of their versions", page: 0, path: path)
        }
        // With a log open, headers are written by checkpoints only.
        let isBehind = slots.contains { $0.contains { $0.mark.isOpen } }
        guard isBehind || slots.contains(where: { $0[0].version >= snapshot.version }) else {
            return .corrupt("The file's header names an older version than the newest one", page: 0, path: path)
        }
        return nil
    }
}
