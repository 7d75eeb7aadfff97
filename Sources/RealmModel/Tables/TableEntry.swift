import RealmStorage

/// The catalog's entry for a table (little-endian).
///
/// | offset | size | field |
/// |---|---|---|
/// | 0 | 32 | the rows: `ClusterTree` |
/// | 32 | 4 | number of trees `t` |
/// | 36 | 20 t | per tree: its number u32, `PageReference` of its root |
///
/// A tree is the index of a property, or for a link property the backlinks that it makes; its number is the property's
/// physical column. They stand in the order of the properties. The compound indexes follow in the order of the class;
/// their numbers are 80000000 (hexadecimal) and up.
enum TableEntry {
    static let treesOffset = 36
    static let treeByteCount = 20

    static func damaged(_ schema: ClassSchema) -> StorageError {
        StorageError(.corrupt, "The catalog's entry for the table of class '\(schema.name)' is damaged.")
    }

    /// Checks and reads the rows' root.
    static func clusters(
        _ bytes: UnsafeRawBufferPointer,
        orThrow failure: @autoclosure () -> StorageError
    ) throws(StorageError) -> ClusterTree {
        guard bytes.count >= treesOffset else { throw failure() }
        let tree = ClusterTree(load: bytes.baseAddress!)
        guard tree.rowCount >= 0, tree.nextKey >= Int64(tree.rowCount), tree.root.isNone || tree.root.checksum != 0
        else { throw failure() }
        return tree
    }

    /// Checks the number of trees and reads their columns and roots.
    static func forEachTree(
        _ bytes: UnsafeRawBufferPointer,
        orThrow failure: @autoclosure () -> StorageError,
        _ body: (Int, Int, PageReference) throws(StorageError) -> Void
    ) throws(StorageError) {
        guard bytes.count >= treesOffset else { throw failure() }
        let count = Int(UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: 32, as: UInt32.self)))
        guard bytes.count == treesOffset + count * treeByteCount else { throw failure() }
        for index in 0..<count {
            let start = treesOffset + index * treeByteCount
            let column = UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: start, as: UInt32.self))
            let root = PageReference(load: bytes.baseAddress! + start + 4)
            guard root.isNone || root.checksum != 0 else { throw failure() }
            try body(index, Int(column), root)
        }
    }

    /// The length of an entry.
    static func byteCount(trees count: Int) -> Int { treesOffset + count * treeByteCount }

    /// The bytes of an entry.
    static func bytes(clusters: ClusterTree, trees: [(column: Int, root: PageReference)]) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: byteCount(trees: trees.count))
        bytes.withUnsafeMutableBytes { buffer in
            let base = buffer.baseAddress!
            store(clusters, treeCount: trees.count, to: base)
            for (index, tree) in trees.enumerated() { store(tree.root, tag: tree.column, at: index, to: base) }
        }
        return bytes
    }

    /// Writes the beginning of an entry.
    static func store(_ clusters: ClusterTree, treeCount: Int, to base: UnsafeMutableRawPointer) {
        clusters.store(to: base)
        base.storeBytes(of: UInt32(treeCount).littleEndian, toByteOffset: 32, as: UInt32.self)
    }

    /// Writes the number and the root of a tree.
    static func store(_ root: PageReference, tag: Int, at index: Int, to base: UnsafeMutableRawPointer) {
        let start = treesOffset + index * treeByteCount
        base.storeBytes(of: UInt32(tag).littleEndian, toByteOffset: start, as: UInt32.self)
        root.store(to: base + start + 4)
    }
}
