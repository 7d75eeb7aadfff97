package import RealmStorage

/// Checks a whole version of a file.
package enum FileVerifier {
    /// Reads every page that the version uses and checks its checksum and structure, checks that every other page is
    /// free, and checks tables, indexes and links against each other.
    ///
    /// - Parameters:
    ///   - snapshot: The version.
    ///   - checksContent: Whether to go beyond pages and space, to rows, indexes and links.
    ///   - progress: Called with the number of pages checked so far, and with the number of pages in the file.
    /// - Throws: `StorageError` with code `corrupt` that names the page, or the class and property.
    package static func verify(
        _ snapshot: Snapshot,
        checksContent: Bool = true,
        progress: (Int, Int) -> Void = { _, _ in }
    ) throws(StorageError) {
        try HeaderAudit.check(snapshot)
        var audit = try SpaceAudit(snapshot)
        var checked = 0
        var asked = 0
        try ModelVerifier.forEachReachablePage(in: snapshot) { (reference) throws(StorageError) in
            if checked - asked >= 64 {
                asked = checked
                try HeaderAudit.requireLength(of: snapshot)
            }
            try audit.checkVersion(of: snapshot.view.verifiedPointer(to: reference), reference)
            try audit.enter(reference)
            checked += Int(reference.pageCount)
            progress(checked, audit.pageCount)
        }
        try audit.finish()
        guard checksContent else { return }
        try HeaderAudit.requireLength(of: snapshot)
        try CatalogVerifier.verify(snapshot)
        try ModelVerifier.verify(try ModelView(snapshot: snapshot))
    }

    /// Reads every page that a version uses, as an opening does that has to find damage before a property meets it; an opening
    /// that may write also checks that no page is free that is in use.
    ///
    /// What a writer takes for free it writes over, while others read it. That trees share no page is checked in any case.
    ///
    /// - Parameters:
    ///   - snapshot: The version.
    ///   - isThorough: Whether to look at pages that this process has verified before.
    /// - Throws: `StorageError` with code `corrupt` that names the page.
    /// - Complexity: O(the pages of the version).
    package static func examine(_ snapshot: Snapshot, isThorough: Bool) throws(StorageError) {
        let free = FreeSpace(of: snapshot)
        var visited = VisitedPages()
        for segment in free?.segments ?? [] {
            try free?.require(segment)
            try visited.enter(segment, in: snapshot.view)
        }
        var examination = Examination(of: snapshot, isThorough: isThorough)
        try ModelVerifier.forEachReachablePage(in: snapshot, &visited) { (run) throws(StorageError) in
            try free?.require(run)
            try examination.look(at: run)
        }
        examination.letGo()
    }
}
