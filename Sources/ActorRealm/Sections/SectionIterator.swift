import RealmModel

/// Goes over the elements of a section.
public struct SectionIterator<Element: RealmCollectionValue>: IteratorProtocol {
    private var rows: IndexingIterator<ArraySlice<Int>>
    private let backing: _CollectionBacking
    private let keys: [Int64]
    private let values: [StoredValue]

    init(rows: ArraySlice<Int>, backing: _CollectionBacking) {
        self.rows = rows.makeIterator()
        self.backing = backing
        keys = backing.elements == nil ? [] : backing.keys()
        values = backing.elements == nil ? backing.values() : []
    }

    /// The next element; nil at the end.
    public mutating func next() -> Element? {
        guard let row = rows.next() else { return nil }
        return Element._element(_Stored(backing.elements == nil ? values[row] : .link(keys[row])), in: backing)
    }
}

@available(
    *,
    unavailable,
    message: "An iterator reads a live section: send `section.frozen` or `ThreadSafeReference(to: section)`."
)
extension SectionIterator: Sendable {}
