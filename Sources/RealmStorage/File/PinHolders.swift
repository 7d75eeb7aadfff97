import Synchronization

/// Who stands at versions of a file through snapshots that several share, and can say where each began.
package final class PinHolders: Sendable {
    /// Lists them.
    package typealias Listing = @Sendable () -> [(version: UInt64, origin: ReaderOrigin)]

    private let listing = Mutex<Listing?>(nil)

    /// Sets who lists them; it is called outside all locks of the file.
    package func attach(_ listing: @escaping Listing) {
        self.listing.withLock { $0 = listing }
    }

    var all: [(version: UInt64, origin: ReaderOrigin)] { listing.withLock { $0 }?() ?? [] }
}
