extension Realm {
    /// What verification in the background has found; see ``Configuration/Verification/inBackground``.
    public struct VerificationReport: Sendable, CustomStringConvertible {
        /// The file.
        public let path: String
        /// The version that was read.
        public let version: UInt64
        /// The pages that were read.
        public let checkedPageCount: Int
        /// How long it took.
        public let duration: Duration
        /// What is damaged, with the page, or why reading ended early; nil when all pages are whole.
        public let error: Error?

        /// The above in a sentence.
        public var description: String {
            let outcome = error.map { "ended with \($0)" } ?? "found all whole"
            return
                "verification of version \(version) of \(path) read \(checkedPageCount) pages in \(duration) and \(outcome)"
        }
    }
}
