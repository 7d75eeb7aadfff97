extension SequenceTree {
    /// Takes every run of the sequence through a mapper, overflow runs included.
    ///
    /// The tree must be sealed, and is sealed afterwards. When the mapper was cut short, do the sequence again.
    package mutating func map(through mapper: inout some RunMapper) throws(StorageError) {
        guard !root.isNone else { return }
        guard root.checksum != 0 else {
            throw .corrupt("The root of a sequence has no checksum", page: root.page)
        }
        try mapper.enter(root)
        let (page, level) = try SequencePage.root(root, in: mapper.view)
        root = try SequenceTree.mapped(page, root, level: level, &mapper)
    }

    private static func mapped(
        _ page: UnsafeRawPointer,
        _ reference: PageReference,
        level: Int,
        _ mapper: inout some RunMapper
    ) throws(StorageError) -> PageReference {
        var changes: [(offset: Int, reference: PageReference)] = []
        if level == 0 {
            let leaf = SequenceLeaf(page)
            for index in 0..<leaf.count {
                guard let overflow = leaf.overflowReference(at: index) else { continue }
                try mapper.enter(overflow)
                let moved = try mapper.mapped(overflow, [])
                if moved != overflow { changes.append((leaf.offset(at: index), moved)) }
            }
        } else {
            let inner = SequenceInner(page)
            for child in 0..<inner.count where !mapper.isCutShort {
                let old = inner.reference(at: child)
                try mapper.enter(old)
                let moved = try mapped(inner.childPage(at: child, in: mapper.view), old, level: level - 1, &mapper)
                if moved != old { changes.append((SequenceInner.offset(child), moved)) }
            }
        }
        return try mapper.mapped(reference, changes)
    }
}
