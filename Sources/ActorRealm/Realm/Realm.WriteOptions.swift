extension Realm {
    /// How a write is made.
    ///
    /// ```swift
    /// try await realm.asyncWrite(Realm.WriteOptions(timeout: .seconds(2))) { realm.add(order) }
    /// ```
    public struct WriteOptions: Sendable, Hashable {
        /// How long to wait for the write lock before the write throws `.timedOut`; nil for as long as
        /// ``Configuration/writeTimeout`` says.
        public var timeout: Duration?

        /// Describes a write.
        public init(timeout: Duration? = nil) {
            self.timeout = timeout
        }
    }
}
