extension Realm.Error {
    /// What a failure is about, as far as that is known; of several differences, the first.
    ///
    /// ```swift
    /// do {
    ///     _ = try await Realm(configuration: configuration)
    /// } catch let error as Realm.Error where error.code == .lossyMigration {
    ///     print(error.details?.className ?? "?", error.details?.propertyName ?? "?", error.details?.count ?? 0)
    /// }
    /// ```
    public struct Details: Sendable, Hashable {
        /// The class, by its name in the schema.
        public var className: String?
        /// The property, by its name in the class or in the file.
        public var propertyName: String?
        /// The value that is refused, as the message shows it: cut where it is long.
        public var value: String?
        /// How many objects are concerned.
        public var count: Int?
        /// Who holds what was waited for.
        public var holder: String?

        /// Creates details of which nothing else is known.
        public init(
            className: String? = nil,
            propertyName: String? = nil,
            value: String? = nil,
            count: Int? = nil,
            holder: String? = nil
        ) {
            self.className = className
            self.propertyName = propertyName
            self.value = value
            self.count = count
            self.holder = holder
        }
    }
}
