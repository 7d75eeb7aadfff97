import ActorRealm
import Foundation
import RealmTestSupport
import Testing

/// Sections, distinct values, positions, `IN` and look-ups of unique texts over values at the edges, in a transaction and after it,
/// against groups that are made in plain Swift.
///
/// `REALM_EQUALITY_CASES` sets the number of cases, `REALM_EQUALITY_SEED` the first seed.
@Suite struct RandomEqualityTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let caseCount = environment["REALM_EQUALITY_CASES"].flatMap { Int($0) } ?? 400
    private static let firstSeed = environment["REALM_EQUALITY_SEED"].flatMap { UInt64($0) } ?? .random(in: 0..<1 << 40)

    private static let texts: [String] = [
        "", "\0", "a", "a\0", composed, decomposed, "\u{E9}", "e\u{301}", String(repeating: "x", count: 253) + "\u{E9}",
        String(repeating: "x", count: 253) + "e\u{301}",
        // Alike in what stands in an index, and different behind that: a keyed hash tells them apart.
        long + "\u{E9}", long + "e\u{301}", long + "e", long + "\u{E9}\0",
        String(repeating: long, count: 40) + "\u{E9}",
        String(repeating: long, count: 40) + "e\u{301}",
    ]
    /// As long as what of a text stands in an index.
    private static let long = String(repeating: "long", count: 64)
    private static let numbers = [
        .nan, 0.0, -0.0, .infinity, -.infinity, 0x1p53, 0x1p53 + 2, 0x1p63, -0x1p63, 1, 0.5, .leastNonzeroMagnitude,
    ]
    private static let integers = [.min, .max, .max - 1, 1 << 53, 1 << 53 + 1, 0, 1]

    /// What is the same for two values that are equal in a realm, and for no others.
    private enum Plain: Hashable {
        case nothing
        case text([UInt8])
        case integer(Int)
        case number(UInt64)

        init(_ text: String) { self = .text(Array(text.utf8)) }

        init(_ number: Double) {
            if number.isNaN {
                self = .number(.max)
            } else if let integer = Int(exactly: number) {
                self = .integer(integer)
            } else {
                self = .number(number.bitPattern)
            }
        }

        init(_ value: AnyRealmValue) {
            switch value {
            case .int(let value): self = .integer(value)
            case .double(let value): self.init(value)
            case .string(let value): self.init(value)
            default: self = .nothing
            }
        }
    }

    private func randomValue(_ random: inout SplitMix64) -> AnyRealmValue {
        switch Int.random(in: 0..<4, using: &random) {
        case 0: .none
        case 1: .int(Self.integers.randomElement(using: &random)!)
        case 2: .double(Self.numbers.randomElement(using: &random)!)
        default: .string(Self.texts.randomElement(using: &random)!)
        }
    }

    /// The positions of equal elements, in the order in which their groups first appear.
    private func groups(_ keys: [Plain]) -> [[Int]] {
        var places: [Plain: Int] = [:]
        var groups: [[Int]] = []
        for (index, key) in keys.enumerated() {
            if let place = places[key] {
                groups[place].append(index)
            } else {
                places[key] = groups.count
                groups.append([index])
            }
        }
        return groups
    }

    private func check(_ realm: Realm, _ term: Term, _ random: inout SplitMix64, _ context: String) throws -> Int {
        let terms = realm.objects(Term.self)
        var cases = 0
        func compare<Key: Hashable>(
            _ sections: SectionedResults<Key, Term>,
            _ sorted: Results<Term>,
            _ property: String,
            _ plain: (Term) -> Plain
        ) throws {
            let elements = Array(sorted)
            let expected = groups(elements.map(plain)).map { $0.map { elements[$0].id } }
            try #require(sections.map { $0.map(\.id) } == expected, "\(context), sections by \(property)")
            let firsts = groups(terms.map(plain)).map { terms[$0[0]].id }
            try #require(Array(terms.distinct(by: [property]).map(\.id)) == firsts, "\(context), distinct \(property)")
            cases += 2
        }
        try compare(terms.sectioned(by: \.name), terms.sorted(byKeyPath: "name"), "name") { Plain($0.name) }
        try compare(terms.sectioned(by: \.weight), terms.sorted(byKeyPath: "weight"), "weight") { Plain($0.weight) }
        try compare(terms.sectioned(by: \.maybe), terms.sorted(byKeyPath: "maybe"), "maybe") {
            $0.maybe.map { Plain($0) } ?? .nothing
        }
        try compare(terms.sectioned(by: \.free), terms.sorted(byKeyPath: "free"), "free") { Plain($0.free) }
        let anys = Array(term.anys)
        let firsts = groups(anys.map { Plain($0) })
        try #require(
            term.anys.distinct(by: ["self"]).map { Plain($0) } == firsts.map { Plain(anys[$0[0]]) },
            "\(context)"
        )
        for value in anys {
            try #require(
                term.anys.index(of: value) == anys.firstIndex { Plain($0) == Plain(value) },
                "\(context), \(value)"
            )
        }
        let members = Set(anys.map { Plain($0) })
        try #require(Set(term.anySet.map { Plain($0) }) == members && term.anySet.count == members.count, "\(context)")
        let asked = (0..<3).map { _ in Self.texts.randomElement(using: &random)! }
        let plainAsked = Set(asked.map { Plain($0) })
        try #require(
            Set(terms.where { $0.name.in(asked) }.map { Plain($0.id) })
                == Set(terms.filter { plainAsked.contains(Plain($0.name)) }.map { Plain($0.id) }),
            "\(context), IN \(asked)"
        )
        let byKey = Set(terms.where { $0.id.in(asked) }.map { Plain($0.id) })
        try #require(byKey == plainAsked.intersection(terms.map { Plain($0.id) }), "\(context), keys IN \(asked)")
        for text in Self.texts {
            let found = Set(terms.where { $0.code == text }.map { Plain($0.id) })
            let plain = Set(terms.filter { $0.code.map { Plain($0) } == Plain(text) }.map { Plain($0.id) })
            try #require(found == plain && found.count <= 1, "\(context), unique \(text.suffix(4))")
            let named = terms.where { $0.name == text }.count
            try #require(named == terms.count { Plain($0.name) == Plain(text) }, "\(context), \(text.suffix(4))")
        }
        return cases + 3 + anys.count + 2 * Self.texts.count
    }

    /// Gives each text to one object, in another way each time.
    private func exchangeCodes(_ realm: Realm, _ random: inout SplitMix64) {
        let codes = Self.texts.shuffled(using: &random)
        for (index, object) in realm.objects(Term.self).enumerated() {
            object.code = index < codes.count ? codes[index] : nil
        }
    }

    /// A text that an object has is no other one's, however it is long; another spelling of it is another text.
    private func checkUniqueness(_ realm: Realm, _ random: inout SplitMix64, _ context: String) throws -> Int {
        for text in Self.texts {
            let isTaken = realm.objects(Term.self).contains { $0.code.map { Plain($0) } == Plain(text) }
            let isKey = realm.objects(Term.self).contains { Plain($0.id) == Plain(text) }
            var code: Realm.Error.Code?
            do {
                try realm.write {
                    try realm.insert(Term.self, value: ["id": "another", "code": text])
                    realm.cancelWrite()
                }
            } catch { code = (error as? Realm.Error)?.code }
            try #require(code == (isTaken ? .duplicateValue : nil), "\(context), unique \(text.suffix(4))")
            code = nil
            do {
                try realm.write {
                    try realm.insert(Term.self, value: ["id": text])
                    realm.cancelWrite()
                }
            } catch { code = (error as? Realm.Error)?.code }
            try #require(code == (isKey ? .duplicatePrimaryKey : nil), "\(context), key \(text.suffix(4))")
        }
        return 2 * Self.texts.count
    }

    @Test func `values are grouped, found and kept as plain Swift says`() throws {
        var cases = 0
        var seed = Self.firstSeed
        while cases < Self.caseCount {
            var random = SplitMix64(seed: seed)
            let realm = try termRealm()
            let context = "seed \(seed)"
            let term = try realm.write {
                for text in Self.texts.shuffled(using: &random).dropFirst(2) { realm.add(Term(text)) }
                for number in 0..<Int.random(in: 0...20, using: &random) { realm.add(Term("key \(number)")) }
                let term = Term("list")
                realm.add(term)
                return term
            }
            for _ in 0..<3 {
                try realm.write {
                    for object in realm.objects(Term.self) {
                        object.name = Self.texts.randomElement(using: &random)!
                        object.weight = Self.numbers.randomElement(using: &random)!
                        object.maybe = Bool.random(using: &random) ? nil : Self.numbers.randomElement(using: &random)!
                        object.free = randomValue(&random)
                    }
                    exchangeCodes(realm, &random)
                    term.anys.removeAll()
                    term.anySet.removeAll()
                    for _ in 0..<Int.random(in: 0...9, using: &random) {
                        let value = randomValue(&random)
                        term.anys.append(value)
                        term.anySet.insert(value)
                    }
                    cases += try check(realm, term, &random, "\(context), in a transaction")
                }
                cases += try check(realm, term, &random, context)
            }
            cases += try checkUniqueness(realm, &random, context)
            realm.close()
            seed &+= 1
        }
        CampaignRecord.add("equality", seeds: Self.firstSeed..<seed, cases: cases, violations: 0)
    }
}
