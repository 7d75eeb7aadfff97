import RealmModel
import RealmQuery

/// The sections of results at the version that their realm stands on; what its sections share.
final class SectionStore<Key: _Persistable & Hashable, Element: RealmCollectionValue> {
    /// A key, equal to those that sorting puts beside it: by the bytes of a string, by the value of a number, and NaN to
    /// itself.
    enum Identity: Hashable {
        case value(StoredValue)
        /// An object in a value of any kind, or what is stored as an object.
        case other(Key)

        init(_ key: Key) {
            self = Key._sectionKey(key).map { .value($0.value) } ?? .other(key)
        }
    }

    /// The sections of one version.
    struct Contents {
        /// The numbers of the keys.
        var numbers: [Identity: Int] = [:]
        /// The keys by number.
        var keys: [Key] = []
        var layout = SectionLayout([])

        /// The number of a key, which it keeps.
        mutating func number(of key: Key) -> Int {
            let identity = Identity(key)
            if let known = numbers[identity] { return known }
            numbers[identity] = keys.count
            keys.append(Key._keptKey(key))
            return keys.count - 1
        }

        func section(of key: Key) -> Int? { numbers[Identity(key)].flatMap { layout.section(of: $0) } }
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
        core.checkAccess()
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
        for element in results { rows.append(contents.number(of: rule.key(element))) }
        contents.layout = SectionLayout(rows)
        return contents
    }

    /// An element by its row in the results.
    func element(_ row: Int) -> Element { results[row] }
}
