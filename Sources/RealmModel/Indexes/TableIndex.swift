/// An index of a table, over one property or several.
package struct TableIndex: Sendable {
    let source: TreeSource

    init(_ source: TreeSource) { self.source = source }

    /// The ordinals of the properties, in order.
    package var ordinals: [Int] { source.ordinals }

    /// Whether it is over several properties.
    package var isCompound: Bool { source.isCompound }

    /// Whether no two rows have the same values, except where one is null.
    package var isUnique: Bool { source.isUnique }

    /// Whether it is the index of an int primary key, whose form is its own.
    package var isIntPrimaryKey: Bool { source.hasKeyRuns }

    /// Whether rows found by a value must be asked for it, because it does not stand whole in the keys of the index.
    package func isTruncated(_ value: StoredValue) -> Bool { source.isTruncated(value) }

    /// The same for the beginning of a string.
    package func isTruncated(prefix: [UInt8]) -> Bool { prefix.count > source.stringByteLimit }
}

/// The part of an index that is left when its first properties equal some values.
package enum IndexTail: Sendable, Hashable {
    case all
    /// The rows whose next property lies between two bounds.
    ///
    /// Null comes first and is meant only when the lower bound is `.unbounded` or `.including(.null)`.
    case range(IndexBound, IndexBound)
    /// The rows whose next property is a string that begins with these bytes of UTF-8.
    case prefix([UInt8])
}

extension TableView {
    /// Whether no two rows have the same value of a property, null apart: by its own index, or as the primary key.
    package func isUnique(_ property: Int) -> Bool {
        slots[property].isPrimaryKey || layout.uniqueSources.contains { !$0.isCompound && $0.ordinals[0] == property }
    }

    /// Whether no two rows have the same value of a unique property as things stand: in a transaction that assigned values
    /// to objects, two may have the same until it commits.
    package func holdsUniqueValues(of property: Int) -> Bool {
        slots[property].isPrimaryKey || isUnique(property) && writer?.uniqueness?.changed.isEmpty ?? true
    }

    /// Whether an index over several properties has a property.
    package func isInCompoundIndex(_ property: Int) -> Bool { slots[property].isInCompoundIndex }
}
