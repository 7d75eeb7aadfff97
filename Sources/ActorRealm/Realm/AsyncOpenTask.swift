import Synchronization

extension Realm {
    /// An opening that goes on in the background.
    public final class AsyncOpenTask: Sendable {
        private let cancelled = Atomic(false)

        init() {}

        var isCancelled: Bool { cancelled.load(ordering: .acquiring) }

        /// Stops the opening as far as the caller is concerned: its callback will not be called.
        public func cancel() {
            cancelled.store(true, ordering: .releasing)
        }
    }
}
