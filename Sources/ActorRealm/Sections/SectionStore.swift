import RealmModel
import RealmQuery

/// The sections of results at the version that their realm stands on; what its sections share.
final class SectionStore<Key: _Persistable & Hashable, Element: RealmCollectionValue> {
    /// A key, equal to those that sorting puts beside it: by the bytes of a string, by the value of a number, and NaN to
    /// itself.
    enum Identity: Hashable {
        case value(StoredValue)
        /// An object in a value of any kind, or a list or dictionary with one, by its row: each realm has another accessor of it.
        case object(StoredValue)
        /// An object of another file or of none, what holds one, or what is stored as an object.
        case other(Key)

        init(_ key: Key, of backing: _CollectionBacking) {
            if let stored = Key._sectionKey(key) {
                self = .value(stored.value)
            } else {
                self = Key._linkingKey(key, of: backing).map { .object($0.value) } ?? .other(key)
            }
        }
    }

    /// A key as it is kept beyond the version and the isolation that it was read in.
    enum KeptKey {
        case value(Key)
        /// One that is or holds objects, each of which would hold its version, and belong to its isolation.
        case linking(StoredValue)

        init(_ key: Key, of backing: _CollectionBacking) {
            self = Key._linkingKey(key, of: backing).map { .linking($0.value) } ?? .value(Key._keptKey(key))
        }
    }

    /// The sections of one version.
    struct Contents {
        /// The numbers of the keys.
        var numbers: [Identity: Int] = [:]
        /// The keys by number.
        var keys: [KeptKey] = []
        var layout = SectionLayout([])

        /// The number of a key of results, which it keeps.
        mutating func number(of key: Key, in backing: _CollectionBacking) -> Int {
            let identity = Identity(key, of: backing)
            if let known = numbers[identity] { return known }
            numbers[identity] = keys.count
            keys.append(KeptKey(key, of: backing))
            return keys.count - 1
        }

        /// The place of the section with a key, which may come from another realm of the file; nil when no row has it.
        func section(of key: Key, in backing: _CollectionBacking) -> Int? {
            numbers[Identity(key, of: backing)].flatMap { layout.section(of: $0) }
        }
    }

    let results: Results<Element>
    let rule: SectionRule<Key, Element>
    private var cached: Contents?
    private var generation: UInt64 = 0
    private var writeCount: UInt64 = 0

    init(_ results: Results<Element>, _ rule: SectionRule<Key, Element>, contents: Contents? = nil) {
        self.results = results
        self.rule = rule
        if let contents {
            keep(contents)
        } else if results.isFrozen {
            // Several threads may ask later.
            keep(Self.evaluate(results, rule))
        }
    }

    private func keep(_ contents: Contents) {
        cached = contents
        generation = results.backing.core.model.generation.pointee
        writeCount = results.backing.core.registry.writeCount.pointee
    }

    /// The sections as they are now.
    var contents: Contents {
        let core = results.backing.core
        results.backing.checkReading()
        if let cached, core.isFrozen { return cached }
        if let cached, generation == core.model.generation.pointee,
            writeCount == core.registry.writeCount.pointee
        {
            return cached
        }
        let contents = Self.evaluate(results, rule)
        keep(contents)
        return contents
    }

    /// The sections as they are now; keys that `known` has numbered keep their numbers.
    static func evaluate(
        _ results: Results<Element>,
        _ rule: SectionRule<Key, Element>,
        known: Contents = Contents()
    ) -> Contents {
        var contents = known
        var rows: [Int] = []
        rows.reserveCapacity(results.count)
        for element in results { rows.append(contents.number(of: rule.key(element), in: results.backing)) }
        contents.layout = SectionLayout(rows)
        return contents
    }

    /// A key as it may be kept elsewhere.
    func kept(_ key: Key) -> KeptKey { KeptKey(key, of: results.backing) }

    /// A kept key as one of the results' realm; nil where that does not have its objects' classes.
    func key(_ kept: KeptKey) -> Key? {
        switch kept {
        case .value(let key): key
        case .linking(let stored): Key._key(linking: _Stored(stored), in: results.backing)
        }
    }

    /// The key of the section at a place.
    func key(ofSectionAt place: Int, in contents: Contents) -> Key {
        key(contents.keys[contents.layout.sections[place]]) ?? Key._defaultValue()
    }

    /// The section with a key, which may come from another realm of the file.
    func section(_ key: Key) -> ResultsSection<Key, Element> {
        ResultsSection(self, key: self.key(kept(key)) ?? key)
    }

    /// An element by its row in the results.
    func element(_ row: Int) -> Element { results[row] }
}
