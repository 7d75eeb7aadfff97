extension SequenceTree {
    /// Moves pages of the sequence off the end of the file, overflow runs included, until a step has done enough.
    ///
    /// The tree must be sealed, and is sealed afterwards. When the step was cut short, do the sequence again: what was
    /// moved stays where it is.
    package mutating func relocate(
        _ relocation: inout Relocation,
        in transaction: WriteTransaction
    ) throws(StorageError) {
        guard !root.isNone else { return }
        let (page, level) = try SequencePage.root(root, in: transaction.view)
        root = try SequenceTree.relocated(page, root, level: level, &relocation, in: transaction)
    }

    private static func relocated(
        _ page: UnsafeRawPointer,
        _ reference: PageReference,
        level: Int,
        _ relocation: inout Relocation,
        in transaction: WriteTransaction
    ) throws(StorageError) -> PageReference {
        var changes: [(offset: Int, reference: PageReference)] = []
        if level == 0 {
            let leaf = SequenceLeaf(page)
            for index in 0..<leaf.count {
                guard let overflow = leaf.overflowReference(at: index) else { continue }
                let moved = try relocation.relocated(overflow, in: transaction)
                if moved != overflow { changes.append((leaf.offset(at: index), moved)) }
            }
        } else {
            let inner = SequenceInner(page)
            for child in 0..<inner.count where !relocation.isCutShort {
                let old = inner.reference(at: child)
                let moved = try relocated(
                    inner.childPage(at: child, in: transaction.view),
                    old,
                    level: level - 1,
                    &relocation,
                    in: transaction
                )
                if moved != old { changes.append((SequenceInner.offset(child), moved)) }
            }
        }
        guard relocation.moves(reference, in: transaction) || !changes.isEmpty else { return reference }
        let copy = try transaction.writable(reference)
        for change in changes { change.reference.store(to: copy.bytes + change.offset) }
        return transaction.seal(copy.reference)
    }
}
