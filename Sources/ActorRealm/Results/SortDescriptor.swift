/// One criterion of an order: a property, possibly across to-one links, and a direction.
///
/// A string literal is an ascending descriptor: `results.sorted(by: ["age", "name"])`.
public struct SortDescriptor: Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// The property names, joined by dots.
    public let keyPath: String
    /// Whether smaller values come first.
    public let ascending: Bool

    /// Sorts by a property named by its key path string.
    public init(keyPath: String, ascending: Bool = true) {
        self.keyPath = keyPath
        self.ascending = ascending
    }

    /// Sorts by a property named by a key path.
    public init<Root: KeypathSortable>(keyPath: PartialKeyPath<Root>, ascending: Bool = true) {
        self.init(keyPath: Root._name(of: keyPath), ascending: ascending)
    }

    /// Sorts ascending by a property.
    public init(stringLiteral value: String) { self.init(keyPath: value) }

    /// The same property in the other direction.
    public func reversed() -> SortDescriptor { SortDescriptor(keyPath: keyPath, ascending: !ascending) }

    /// The property and the direction.
    public var description: String {
        "SortDescriptor(keyPath: \(keyPath), direction: \(ascending ? "ascending" : "descending"))"
    }
}
