/// How the key of an element's section is found.
struct SectionRule<Key: _Persistable & Hashable, Element: RealmCollectionValue> {
    /// The rule as it may be sent to other isolations; nil for a closure that belongs to this one.
    let sendable: SendableSectionRule<Key, Element>?
    let key: (Element) -> Key

    init(_ keyPath: KeyPath<Element, Key>) {
        self.init(SendableSectionRule(keyPath))
    }

    init(_ key: @escaping (Element) -> Key) {
        sendable = nil
        self.key = key
        Self.check()
    }

    init(_ rule: SendableSectionRule<Key, Element>) {
        sendable = rule
        key = rule.key
        Self.check()
    }

    /// The key path that gives the key; nil for a closure.
    var keyPath: AnyKeyPath? { sendable?.keyPath?.keyPath }

    private static func check() {
        if Key._shape.target != nil {
            misuse("Links are not supported as section keys. Section by a property of the linked object.")
        }
    }
}

/// How the key of an element's section is found in any isolation.
struct SendableSectionRule<Key: _Persistable & Hashable, Element: RealmCollectionValue>: Sendable {
    /// The key path that gives it; nil for a closure.
    let keyPath: SectionKeyPath<Key, Element>?
    let key: @Sendable (Element) -> Key

    init(_ keyPath: KeyPath<Element, Key>) {
        let sent = SectionKeyPath(keyPath: keyPath)
        self.keyPath = sent
        key = { $0[keyPath: sent.keyPath] }
    }

    init(_ key: @escaping @Sendable (Element) -> Key) {
        keyPath = nil
        self.key = key
    }
}

/// A key path on its way between isolations; unchecked because key paths never change.
struct SectionKeyPath<Key, Element>: @unchecked Sendable {
    let keyPath: KeyPath<Element, Key>
}

/// The key of one section on its way between isolations; unchecked because kept keys hold no objects of a realm.
struct SectionKeyValue: @unchecked Sendable {
    /// A kept key of the sections' store.
    let key: Any
}
