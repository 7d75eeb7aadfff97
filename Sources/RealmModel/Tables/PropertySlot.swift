/// What a row operation must know of a property, in one flat word per property.
@frozen
@usableFromInline
package struct PropertySlot: BitwiseCopyable, Sendable {
    /// The physical column, -1 for computed properties.
    @usableFromInline package var column: Int32
    @usableFromInline package var kind: PropertyKind
    @usableFromInline package var collection: CollectionKind
    @usableFromInline package var isNullable: Bool
    @usableFromInline package var isPrimaryKey: Bool
    /// The slot of the index tree, or of the backlink tree of a link property; -1 without one.
    @usableFromInline package var tree: Int32
    /// Whether `tree` holds backlinks of a collection, so that it is not derived from one column value per row.
    @usableFromInline package var isCollectionTree: Bool
    /// Whether the linked class is embedded: its rows live and die with the link.
    @usableFromInline package var ownsTarget: Bool
    /// The table of the linked class; 0 for other kinds.
    @usableFromInline package var targetTable: UInt32
}
