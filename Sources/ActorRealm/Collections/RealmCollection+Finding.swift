/// Looking for elements as ``RealmCollection/index(of:)`` does, where the standard library's own functions would take Swift's equality.
extension RealmCollection {
    /// Whether the collection holds an element.
    ///
    /// Elements of a managed collection are compared as ``index(of:)`` compares them: strings by their bytes, and objects by their rows.
    public func contains(_ element: Element) -> Bool { index(of: element) != nil }

    /// The position of an element; nil when the collection does not hold it.
    ///
    /// Elements of a managed collection are compared as ``index(of:)`` compares them: strings by their bytes, and objects by their rows.
    public func firstIndex(of element: Element) -> Int? { index(of: element) }

    /// The last position of an element; nil when the collection does not hold it.
    ///
    /// Elements of a managed collection are compared as ``index(of:)`` compares them: strings by their bytes, and objects by their rows.
    public func lastIndex(of element: Element) -> Int? {
        guard let backing = _backing else { return lastIndex { $0 == element } }
        if let (object, key) = Element._elementKey(element) {
            guard object.core === backing.core, object.tableAccessor === backing.elements else { return nil }
            return backing.keys().lastIndex(of: key)
        }
        if backing.elements != nil {
            return backing.values().lastIndex { Element._element(_Stored($0), in: backing) == element }
        }
        guard let stored = Element._storedElement(element, in: backing) else { return nil }
        return backing.values().lastIndex(of: stored.value)
    }
}
