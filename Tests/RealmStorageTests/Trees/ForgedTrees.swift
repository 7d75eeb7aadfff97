@testable import RealmStorage

/// Pages of trees that no writer makes, each of them right by itself.
extension WriteTransaction {
    /// A leaf of keys that ascend, with values of so many bytes.
    func forgeLeaf(_ keys: [[UInt8]], valueByteCount: Int = 1) throws -> PageReference {
        let page = try allocate(pageCount: 1, kind: .byteTreeLeaf)
        let leaf = MutableKeyedPage(page.bytes)
        leaf.reset(prefix: KeyBytes(start: page.bytes, count: 0))
        for (index, key) in keys.enumerated() {
            key.withUnsafeBytes { key in
                let room = leaf.reserve(at: index, suffix: KeyBytes(key), payloadByteCount: 2 + valueByteCount)!
                PageBytes.store16(valueByteCount, room, 0)
                (room + 2).initializeMemory(as: UInt8.self, repeating: 7, count: valueByteCount)
            }
        }
        return seal(page.reference)
    }

    /// An inner page of children behind separators that ascend; the first one's counts for nothing.
    func forgeInner(
        level: Int,
        _ children: [(separator: String, child: PageReference, count: UInt64)]
    ) throws -> PageReference {
        let page = try allocate(pageCount: 1, kind: .byteTreeInner, level: level)
        let inner = MutableKeyedPage(page.bytes)
        inner.reset(prefix: KeyBytes(start: page.bytes, count: 0))
        for (index, entry) in children.enumerated() {
            let separator = index == 0 ? [] : [UInt8](entry.separator.utf8)
            separator.withUnsafeBytes { separator in
                let size = KeyedPage.childPayloadByteCount
                let room = inner.reserve(at: index, suffix: KeyBytes(separator), payloadByteCount: size)!
                entry.child.store(to: room)
                PageBytes.store64(entry.count, room, PageReference.byteCount)
            }
        }
        return seal(page.reference)
    }

    /// A leaf of words.
    func forgeLeaf(_ keys: String..., valueByteCount: Int = 1) throws -> PageReference {
        try forgeLeaf(keys.map { [UInt8]($0.utf8) }, valueByteCount: valueByteCount)
    }
}
