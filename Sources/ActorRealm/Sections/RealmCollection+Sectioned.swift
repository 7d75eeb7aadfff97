extension RealmCollection where Element: KeypathSortable {
    /// The elements sorted by a property and divided into sections of equal values of it.
    ///
    /// - Precondition: The collection is managed: look at ``ThreadConfined/realm``.
    public func sectioned<Key: _Persistable & Hashable>(
        by keyPath: KeyPath<Element, Key>,
        ascending: Bool = true
    ) -> SectionedResults<Key, Element> {
        let rule = SectionRule(keyPath)
        let name = Element._name(of: keyPath)
        return SectionedResults(sorted(by: [SortDescriptor(keyPath: name, ascending: ascending)]), rule)
    }

    /// The elements in an order, divided into sections of equal values of a property.
    ///
    /// - Precondition: The first descriptor is for the same property.
    ///   The collection is managed: look at ``ThreadConfined/realm``.
    public func sectioned<Key: _Persistable & Hashable>(
        by keyPath: KeyPath<Element, Key>,
        sortDescriptors: [SortDescriptor]
    ) -> SectionedResults<Key, Element> {
        let rule = SectionRule(keyPath)
        guard let primary = sortDescriptors.first else { noSortDescriptor() }
        // A descriptor may have the name of the program or that of the file.
        let name = Element._name(of: keyPath)
        func inFile(_ path: String) -> String { _backing?.columnName(path) ?? path }
        if inFile(primary.keyPath) != inFile(name) {
            misuse(
                "The section key path must match the primary sort descriptor: '\(name)' is not "
                    + "'\(primary.keyPath)'. Section by a closure to order the sections otherwise."
            )
        }
        return SectionedResults(sorted(by: sortDescriptors), rule)
    }
}

extension RealmCollection {
    /// The elements in an order, divided into sections by what a closure says of each.
    ///
    /// The closure must depend on the element alone. It is called when the sections are read, and again for elements that
    /// changed. The sections cannot be sent to other isolations and their ``RealmSectionedResult/changes(keyPaths:file:line:)-([String]?,_,_)``
    /// can be iterated on the realm's own actor only, because the closure may hold what belongs here:
    /// ``sectioned(bySendable:sortDescriptors:)`` knows neither limit.
    ///
    /// - Precondition: There is a descriptor.
    ///   The collection is managed: look at ``ThreadConfined/realm``.
    public func sectioned<Key: _Persistable & Hashable>(
        by block: @escaping (Element) -> Key,
        sortDescriptors: [SortDescriptor]
    ) -> SectionedResults<Key, Element> {
        if sortDescriptors.isEmpty { noSortDescriptor() }
        return SectionedResults(sorted(by: sortDescriptors), SectionRule(block))
    }

    /// The values in order, divided into sections by what a closure says of each.
    ///
    /// - Precondition: The elements are values; for objects give sort descriptors.
    ///   The collection is managed: look at ``ThreadConfined/realm``.
    public func sectioned<Key: _Persistable & Hashable>(
        by block: @escaping (Element) -> Key,
        ascending: Bool = true
    ) -> SectionedResults<Key, Element> {
        if Element._elementShape.target != nil { noSortDescriptor() }
        return SectionedResults(sorted(ascending: ascending), SectionRule(block))
    }

    /// The elements in an order, divided into sections by what a closure says of each that may be called in any isolation.
    ///
    /// The closure must depend on the element alone.
    ///
    /// - Precondition: There is a descriptor.
    ///   The collection is managed: look at ``ThreadConfined/realm``.
    public func sectioned<Key: _Persistable & Hashable>(
        bySendable block: @escaping @Sendable (Element) -> Key,
        sortDescriptors: [SortDescriptor]
    ) -> SectionedResults<Key, Element> {
        if sortDescriptors.isEmpty { noSortDescriptor() }
        return SectionedResults(sorted(by: sortDescriptors), SectionRule(SendableSectionRule(block)))
    }

    /// The values in order, divided into sections by what a closure says of each that may be called in any isolation.
    ///
    /// - Precondition: The elements are values; for objects give sort descriptors.
    ///   The collection is managed: look at ``ThreadConfined/realm``.
    public func sectioned<Key: _Persistable & Hashable>(
        bySendable block: @escaping @Sendable (Element) -> Key,
        ascending: Bool = true
    ) -> SectionedResults<Key, Element> {
        if Element._elementShape.target != nil { noSortDescriptor() }
        return SectionedResults(sorted(ascending: ascending), SectionRule(SendableSectionRule(block)))
    }

    private func noSortDescriptor() -> Never {
        misuse(
            "Can not section Results with empty sortDescriptor parameter. Give a descriptor that puts the sections in order."
        )
    }
}

/// Elements whose properties can be named by key paths: objects and projections.
public protocol KeypathSortable: RealmCollectionValue {
    /// The name of the stored property, dotted across links.
    static func _name(of keyPath: AnyKeyPath) -> String
}

extension ObjectBase: KeypathSortable {}

extension KeypathSortable where Self: ObjectBase {
    /// The name of the stored property, dotted across links.
    public static func _name(of keyPath: AnyKeyPath) -> String {
        guard let keyPath = keyPath as? PartialKeyPath<Self> else {
            misuse("The key path \(keyPath) does not begin at \(Self.self).")
        }
        return PathRecorder.name(of: keyPath)
    }
}
