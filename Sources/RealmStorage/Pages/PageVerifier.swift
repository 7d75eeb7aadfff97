import Synchronization

/// Verifies a run of pages on this process's first touch of it.
@usableFromInline
package final class PageVerifier: Sendable {
    private let reservation: Reservation
    private let path: String
    private let readahead = Readahead()

    init(reservation: Reservation, path: String) {
        self.reservation = reservation
        self.path = path
    }

    /// The bytes of a run that was not verified before: from the writer's buffers when it stands there, else from the
    /// mapping, once its place, checksum and structure have been found right.
    func pointer(to reference: PageReference, in view: PageView) throws(StorageError) -> UnsafeRawPointer {
        if let bytes = try privateBytes(of: reference) { return bytes }
        let page = Int(reference.page)
        try reservation.failures?.step(.pageRead, path: path, page: reference.page)
        let limit = Int(reservation.verified[0].load(ordering: .acquiring))
        if let window = readahead.window(
            touching: reference.page,
            pageCount: reference.pageCount,
            limit: PageNumber(limit)
        ) {
            reservation.willNeed(window)
        }
        let bytes = view.mapping + page * pageByteCount
        let byteCount = Int(reference.pageCount) * pageByteCount
        // The header first: a reference that lies about the length must not cost as many pages as it likes.
        guard PageVerifier.isHeaded(bytes, by: reference) else {
            throw .corrupt("A page does not know its own number: the file is damaged", page: reference.page, path: path)
        }
        guard reference.checksum != 0, PageChecksum.of(bytes, byteCount: byteCount) == reference.checksum else {
            throw .corrupt("A page fails its checksum: the file is damaged", page: reference.page, path: path)
        }
        if let reason = PageValidator.reason(UnsafeRawBufferPointer(start: bytes, count: byteCount)) {
            throw .corrupt("A page is malformed: \(reason)", page: reference.page, path: path)
        }
        reservation.verified[page].store(UInt32(truncatingIfNeeded: reference.checksum), ordering: .relaxed)
        return bytes
    }

    /// The bytes of a run that stands in the writer's buffers; nil for one that has its place in the file.
    ///
    /// - Throws: `StorageError` with code `corrupt` when there is no such place, or the buffer holds another run than the one that
    ///   was referred to.
    func privateBytes(of reference: PageReference) throws(StorageError) -> UnsafeRawPointer? {
        let page = Int(reference.page)
        guard page >= FileHeader.slotPageCount, reference.pageCount != 0, page < reservation.pageCapacity else {
            throw .corrupt("A reference points outside the file", page: reference.page, path: path)
        }
        if let buffer = reservation.buffer(of: page) {
            let bytes = UnsafeRawPointer(buffer)
            guard PageVerifier.isHeaded(bytes, by: reference),
                reference.checksum == 0 || reservation.seal(of: page) == reference.checksum
            else {
                throw .corrupt("A reference points into another run", page: reference.page, path: path)
            }
            return bytes
        }
        let limit = Int(reservation.verified[0].load(ordering: .acquiring))
        guard page + Int(reference.pageCount) <= limit else {
            throw .corrupt(
                "A reference points to page \(page), beyond the \(limit) pages of the file",
                page: reference.page,
                path: path
            )
        }
        return nil
    }

    /// Whether a run's header has the number and the length that its reference says.
    private static func isHeaded(_ bytes: UnsafeRawPointer, by reference: PageReference) -> Bool {
        bytes.little(UInt32.self, at: PageHeader.pageOffset) == reference.page
            && bytes.little(UInt32.self, at: PageHeader.pageCountOffset) == reference.pageCount
    }
}
