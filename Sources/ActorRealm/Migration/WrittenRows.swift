import RealmStorage

/// The rows of which a migration block has written one property.
///
/// A block that goes through the objects writes them in the order of their keys, which takes a few bytes for all of them.
struct WrittenRows {
    private var ascending = RowKeys()
    private var others: Set<Int64> = []

    mutating func insert(_ key: Int64) {
        if let last = ascending.last, key <= last {
            if !ascending.contains(key) { others.insert(key) }
        } else {
            ascending.append(key)
        }
    }

    func contains(_ key: Int64) -> Bool { ascending.contains(key) || others.contains(key) }
}
