extension Realm.Configuration {
    /// When pages are read only to see whether they are whole.
    ///
    /// Every page is checked against the checksum in its parent when it is touched first, whatever is chosen here. But a property
    /// cannot throw: where it meets a damaged page, it ends the process with a message that names the page. Who reads before finds
    /// out by an error.
    ///
    /// ```swift
    /// var configuration = Realm.Configuration.defaultConfiguration
    /// configuration.verification = [.onOpen, .inBackground]
    /// configuration.verificationRate = 64 << 20                           // bytes per second
    /// configuration.verificationReport = { report in
    ///     if let error = report.error { print("Restore a backup: \(error)") }
    /// }
    /// ```
    ///
    /// Files up to 16 MiB are always verified when a process opens them.
    public struct Verification: OptionSet, Sendable, Hashable {
        /// The choices, as a number.
        public let rawValue: Int

        /// A set of choices, by its number.
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// Reads the whole file, of whatever size, when the process opens it; the opening throws what is damaged.
        ///
        /// Where the realm may write, the opening also throws when the file calls a page free that is in use, as a file from a stranger
        /// can: a writer would write over it.
        ///
        /// - Complexity: O(the size of the file), once in a process as long as the file stays open there.
        public static let onOpen = Verification(rawValue: 1)

        /// Reads the whole file once behind its opening, on a thread of its own, at ``Realm/Configuration/verificationRate``, and
        /// reports what it found.
        ///
        /// Also finds what was damaged since pages were read first. Holds the version at which it began as long as it takes.
        public static let inBackground = Verification(rawValue: 2)
    }
}
