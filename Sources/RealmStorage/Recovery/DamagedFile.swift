import Synchronization

/// A file that is read whatever is wrong with it: nothing is recovered, locked, or written.
package final class DamagedFile: Sendable {
    /// A version that one of the header pages names.
    package struct Root: Sendable {
        package let version: UInt64
        package let catalog: ByteTree
        /// The header that it is of, or that it was made on top of.
        let header: FileHeader
    }

    /// Where its pages are read; each one is checked against the checksum in its parent on the first touch.
    package let view: PageView
    /// The versions that can be tried, the best first.
    package let roots: [Root]
    /// Header pages that are damaged.
    package let damagedHeaderPages: [PageNumber]
    /// The size of the file in whole pages.
    package let pageCount: Int

    /// The page that opening the file names, when it refuses to.
    package let refusedPage: PageNumber?

    /// What the log beside the file holds behind the best version.
    package let log: Log

    let data: DataFile
    let reservation: Reservation
    private let verifier: PageVerifier

    /// Opens a file that nobody else has open.
    ///
    /// - Throws: `alreadyOpen`, `permissionDenied` when the lock file may not be read, which would tell, `notADatabase` when no header page is
    ///   left, or the system's error.
    package init(path: String) throws(StorageError) {
        if try LockFile.isInUse(path: path + ".lock") {
            throw StorageError(.alreadyOpen, "The realm is open: close it everywhere before salvaging it", path: path)
        }
        data = try DataFile.open(path: path, isReadOnly: true)
        let byteCount = try data.currentByteCount()
        reservation = try Reservation(descriptor: data.descriptor, byteCount: byteCount, path: path)
        verifier = PageVerifier(reservation: reservation, path: path)
        pageCount = byteCount / pageByteCount
        DamagedFile.limitReferences(to: pageCount, in: reservation)
        view = PageView(
            mapping: reservation.mapping,
            buffers: reservation.buffers,
            verified: reservation.verified,
            verifier: Unmanaged.passUnretained(verifier)
        )
        let past = try LockFile.past(at: path + ".lock", of: LockFile.identity(of: data))
        var headers: [FileHeader] = []
        var damaged: [PageNumber] = []
        for page in 0..<min(pageCount, FileHeader.slotPageCount) {
            switch FileHeader.read(reservation.mapping + page * pageByteCount, page: PageNumber(page)) {
            case .valid(let header): headers.append(header)
            case .unsupported(let what):
                throw StorageError(.unsupportedFormat, "The realm file has \(what)", path: path)
            case .damaged, .foreign: damaged.append(PageNumber(page))
            }
        }
        guard !headers.isEmpty else {
            throw StorageError(
                .notADatabase,
                "No page of the file's header is intact: nothing can be salvaged",
                path: path
            )
        }
        headers.sort { ($0.version, $0.sequence) > ($1.version, $1.sequence) }
        // One whose commit failed is no version of the file, and opening does not believe it: it is for what nothing else has.
        let isRefused = { (header: FileHeader) in past.refused != 0 && header.fingerprint == past.refused }
        headers = headers.filter { !isRefused($0) } + headers.filter(isRefused)
        var refusedPage: PageNumber?
        // What opening would take comes first: a newest version that is whole, or the one before a torn commit.
        if pageCount >= FileHeader.slotPageCount {
            do throws(StorageError) {
                let recovered = try HeaderRecovery.recover(
                    mapping: reservation.mapping,
                    byteCount: byteCount,
                    path: path,
                    refused: past.refused
                )
                headers.insert(recovered.header, at: 0)
            } catch {
                refusedPage = error.page
            }
        }
        self.refusedPage = refusedPage
        var roots: [Root] = []
        for header in headers where !roots.contains(where: { $0.catalog.root == header.catalog }) {
            roots.append(
                Root(
                    version: header.version,
                    catalog: ByteTree(root: header.catalog),
                    header: header
                )
            )
        }
        self.roots = roots
        damagedHeaderPages = damaged
        log = DamagedFile.readLog(behind: roots[0].header, of: data, past: past.log)
    }

    /// Follows the change log of the best version to where it ends or is damaged.
    package func checkLog(_ damage: (PageNumber) -> Void) {
        var next = roots[0].header.spaceSegment
        var bound = UInt64.max
        while !next.isNone {
            guard let segment = try? SpaceSegment.read(next, in: view), segment.version < bound else {
                damage(next.page)
                return
            }
            bound = segment.version
            // A picture goes on naming the one before it when nobody can ask for that any more, and it was given up.
            if segment.isPicture, segment.previousVersion <= roots[0].header.oldestLogVersion { return }
            next = segment.previous
        }
    }
}
