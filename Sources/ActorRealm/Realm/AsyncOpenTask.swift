extension Realm {
    /// An opening that goes on in the background.
    public final class AsyncOpenTask: Sendable {
        let cancellation = OpeningCancellation()

        init() {}

        /// Gives the opening up: its callback will not be called, a migration that it runs is rolled back, and it waits for the
        /// write lock no longer.
        public func cancel() {
            cancellation.cancel()
        }
    }
}
