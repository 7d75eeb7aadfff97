/// The order of a query's results: one or more properties, reached through to-one links.
package struct SortOrder: Sendable, Hashable {
    /// One property to order by.
    package struct Key: Sendable, Hashable {
        /// The property; every step before it is a to-one link.
        package var path: PropertyPath
        package var ascending: Bool

        package init(_ path: PropertyPath, ascending: Bool = true) {
            self.path = path
            self.ascending = ascending
        }
    }

    /// The properties, the most significant first.
    ///
    /// Rows equal in all of them keep the order they had.
    package var keys: [Key]

    package init(_ keys: [Key]) {
        self.keys = keys
    }

    /// The order of properties by their dotted names.
    package init(_ keys: [(path: String, ascending: Bool)]) {
        self.keys = keys.map { Key(PropertyPath($0.path), ascending: $0.ascending) }
    }
}
