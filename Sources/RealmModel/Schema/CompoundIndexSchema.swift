/// An index over several properties of a class, in order.
package struct CompoundIndexSchema: Sendable, Hashable {
    /// The names of the properties, two to eight.
    package var properties: [String]
    /// Whether no two objects may have the same values; objects with null in one of the properties may.
    package var isUnique: Bool

    package init(_ properties: [String], isUnique: Bool = false) {
        self.properties = properties
        self.isUnique = isUnique
    }

    /// The numbers of properties that an index can have.
    package static let propertyCounts = 2...8

    /// The index in messages: `(lastName, firstName)`.
    package var description: String { "(" + properties.joined(separator: ", ") + ")" }
}
