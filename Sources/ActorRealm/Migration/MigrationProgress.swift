/// How far `enumerateObjects` has got in a class.
public struct MigrationProgress: Sendable, Hashable {
    /// The class.
    public let className: String
    /// The number of objects that the block has seen, or that were deleted before their turn.
    public let visitedCount: Int
    /// The number of objects when the enumeration began.
    public let totalCount: Int
}
