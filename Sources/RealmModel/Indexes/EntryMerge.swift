import RealmStorage

/// Joins trees that share no key, and a sorted list, to one tree, freeing the pages of the old ones on the way.
struct EntryMerge: ~Copyable {
    private let transaction: WriteTransaction
    private var drains: [ByteTreeDrain] = []

    init(_ trees: [ByteTree], in transaction: WriteTransaction) {
        self.transaction = transaction
        for tree in trees where !tree.isEmpty { drains.append(ByteTreeDrain(tree, in: transaction)) }
    }

    /// The tree of everything, not sealed yet.
    mutating func merged(with list: borrowing KeyList) throws(StorageError) -> ByteTree {
        if drains.count == 1, list.count == 0 { return drains[0].tree }
        var builder = ByteTreeBuilder(in: transaction)
        var live: [ByteTreeDrain] = []
        for drain in drains where try drain.next() { live.append(drain) }
        var index = 0
        while !live.isEmpty {
            var least = 0
            for other in live.indices.dropFirst() where live[other].isBelow(live[least].key) { least = other }
            let drain = live[least]
            while index < list.count, !drain.isBelow(list.key(at: index)) {
                try builder.append(list.key(at: index), value: .none)
                index += 1
            }
            try builder.append(drain.key, value: drain.value)
            if try !drain.next() { live.remove(at: least) }
        }
        while index < list.count {
            try builder.append(list.key(at: index), value: .none)
            index += 1
        }
        return try builder.finish()
    }
}
