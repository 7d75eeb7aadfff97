import Synchronization

/// Who stands at versions of a file through snapshots that several share, and can say where each began.
package final class PinHolders: Sendable {
    /// Lists them.
    package typealias Listing = @Sendable () -> [(version: UInt64, origin: ReaderOrigin)]

    /// A structure, because a lock (as anything generic) that holds a function itself wraps it once more each time that it lends
    /// it out.
    private struct Holder {
        var listing: Listing?
    }

    private let holder = Mutex(Holder())

    /// Sets who lists them; it is called outside all locks of the file.
    package func attach(_ listing: @escaping Listing) {
        holder.withLock { $0.listing = listing }
    }

    var all: [(version: UInt64, origin: ReaderOrigin)] { holder.withLock { $0.listing }?() ?? [] }
}
