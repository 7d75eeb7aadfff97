/// How the key of an element's section is found.
struct SectionRule<Key: _Persistable & Hashable, Element: RealmCollectionValue> {
    /// The key path that gives it; nil for a closure.
    let keyPath: SectionKeyPath?
    let key: (Element) -> Key

    init(_ keyPath: KeyPath<Element, Key>) {
        self.keyPath = SectionKeyPath(keyPath: keyPath)
        key = { $0[keyPath: keyPath] }
        Self.check()
    }

    init(_ key: @escaping (Element) -> Key) {
        keyPath = nil
        self.key = key
        Self.check()
    }

    private static func check() {
        if Key._shape.target != nil {
            misuse("Links are not supported as section keys. Section by a property of the linked object.")
        }
    }
}

/// A key path on its way between isolations; unchecked because key paths never change.
struct SectionKeyPath: @unchecked Sendable {
    let keyPath: AnyKeyPath
}

/// The key of one section on its way between isolations; unchecked because keys are values.
struct SectionKeyValue: @unchecked Sendable {
    let key: AnyHashable
}
