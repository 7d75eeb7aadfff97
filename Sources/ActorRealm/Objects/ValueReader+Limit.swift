import FoundationEssentials

extension ValueReader {
    /// The first elements of a list or a sequence, of which no more is read; nil for other values.
    static func elements(of argument: Any, limit: Int) -> [Any?]? {
        guard let argument = unwrap(argument) else { return nil }
        if let collection = argument as? any RealmCollection, collection.count <= limit {
            return elements(of: collection)
        }
        if argument is String || argument is Data || argument is [AnyHashable: Any]
            || argument is any RealmKeyedCollection
        {
            return nil
        }
        guard let sequence = argument as? any Sequence else { return nil }
        func first<Elements: Sequence>(_ elements: Elements) -> [Any?] { elements.prefix(limit).map { unwrap($0) } }
        return first(sequence)
    }
}
