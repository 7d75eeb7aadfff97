import ActorRealm
import Foundation
import RealmTestSupport
import Testing

/// Integers are stored in 64 bits, so that another program may have written what a narrower type does not hold.
@Suite("An integer that does not fit in the declared type is never another number", .timeLimit(.minutes(60)))
struct NarrowIntegerTests {
    enum Step: Int8, PersistableEnum {
        case one = 1
        case two
    }
    enum Word: String, PersistableEnum { case yes, no }

    /// Stored in eight bits, as it says.
    struct Rank: CustomPersistable {
        var number: Int8
        init(persistedValue: Int8) { number = persistedValue }
        var persistableValue: Int8 { number }
    }

    class Wide: Object {
        @Persisted var small: Int
        @Persisted var maybe: Int?
        @Persisted var step: Int
        @Persisted var rank: Int
        @Persisted var maybeRank: Int?
        @Persisted var list: List<Int>
        @Persisted var maybes: List<Int?>
        @Persisted var ranks: List<Int>
        @Persisted var map: Map<String, Int>
        @Persisted var words: List<String>
        override class func _realmObjectName() -> String? { "Gauge" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
    }

    class Narrow: Object {
        @Persisted var small: Int8
        @Persisted var maybe: Int8?
        @Persisted var step: Step
        @Persisted var rank: Rank
        @Persisted var maybeRank: Rank?
        @Persisted var list: List<Int16>
        @Persisted var maybes: List<Int32?>
        @Persisted var ranks: List<Rank>
        @Persisted var map: Map<String, Int8>
        @Persisted var words: List<Word>
        override class func _realmObjectName() -> String? { "Gauge" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
    }

    /// The object that another program wrote, as one with narrower types sees it.
    private static func narrow(_ value: [String: Any], in directory: TemporaryDirectory) throws -> Narrow {
        var configuration = Realm.Configuration(fileURL: URL(fileURLWithPath: directory.path("gauge.realm")))
        configuration.objectTypes = [Wide.self]
        let values = ["step": 1, "rank": 1].merging(value) { $1 }
        let writing = try Realm(configuration: configuration)
        try writing.write { _ = writing.create(Wide.self, value: values) }
        writing.close()
        configuration.objectTypes = [Narrow.self]
        return try Realm(configuration: configuration).objects(Narrow.self)[0]
    }

    private static var misfits: [String: Any] {
        [
            "small": 300, "maybe": 300, "step": 257, "rank": 300, "maybeRank": 300, "list": [1, 70_000],
            "maybes": [1, 1 << 40],
            "ranks": [300], "map": ["a": 300], "words": ["perhaps"],
        ]
    }

    @Test("Optional properties and elements read nil, and what throws says the value")
    func misfits() throws {
        let directory = TemporaryDirectory()
        let narrow = try Self.narrow(Self.misfits, in: directory)
        #expect(narrow.maybe == nil && narrow.maybeRank == nil && Array(narrow.maybes) == [1, nil])
        for (word, body) in [
            ("300", { _ = try narrow.value(of: \.small) }), ("257", { _ = try narrow.value(of: \.step) }),
            ("300", { _ = try narrow.value(of: \.rank) }), ("70000", { try narrow.list.requireReadable() }),
            ("300", { try narrow.ranks.requireReadable() }), ("300", { try narrow.map.requireReadable() }),
            ("'perhaps'", { try narrow.words.requireReadable() }),
        ] as [(String, () throws -> Void)] {
            let error = #expect(throws: Realm.Error.self) { try body() }
            #expect(error?.code == .invalidInput && error?.message.contains(word) == true, "\(error?.message ?? "")")
        }
        let realm = try #require(narrow.realm)
        #expect(realm.objects(Narrow.self).where { $0.small == 44 }.isEmpty)
        #expect(realm.objects(Narrow.self).filter("small == 300").count == 1)
        #expect(realm.objects(Narrow.self).sum(ofProperty: "small") as Int == 300)
        #expect("\(narrow)".contains("unreadable"))
        realm.close()
    }

    @Test("What fits is read as it is")
    func fitting() throws {
        let directory = TemporaryDirectory()
        let narrow = try Self.narrow(
            [
                "small": -128, "maybe": 127, "step": 2, "rank": 5, "list": [32_767, -32_768], "map": ["a": 7],
                "words": ["no"],
            ],
            in: directory
        )
        #expect(narrow.small == -128 && narrow.maybe == 127 && narrow.step == .two && narrow.rank.number == 5)
        #expect(Array(narrow.list) == [32_767, -32_768] && narrow.map["a"] == 7 && Array(narrow.words) == [.no])
        #expect(narrow.list.min() == -32_768 && narrow.list.sum() == -1)
        narrow.realm?.close()
    }

    @Test("A sum is had in a wider type, and decimals in whole numbers and the other way round")
    func sums() throws {
        let realm = try memoryRealm([Narrow.self, Term.self])
        let narrow = try realm.write {
            realm.add(Term("a", free: .int(3)))
            realm.add(Term("b", free: .decimal128(Decimal128("1e1"))))
            for term in realm.objects(Term.self) { term.price = Decimal128("2.75") }
            return realm.create(
                Narrow.self,
                value: ["step": 1, "small": 100, "list": [30_000, 30_000], "map": ["a": 100, "b": 100]]
            )
        }
        #expect(
            narrow.list.sum(ofProperty: "self") as Int == 60_000 && narrow.map.sum(ofProperty: "self") as Int == 200
        )
        #expect(realm.objects(Narrow.self).sum(of: \.small) == 100)
        #expect(realm.objects(Narrow.self).sum(ofProperty: "small") as Decimal128 == 100)
        let terms = realm.objects(Term.self)
        #expect(terms.sum(ofProperty: "free") as Int == 13 && terms.sum(ofProperty: "price") as Int == 5)
        #expect(terms.max(ofProperty: "price") as Int? == 2)
    }

    enum Misuse: String, CaseIterable, Codable, Sendable {
        case getter, enumGetter, customGetter, element, mapValue, customElement, unknownElement, listSum, mapSum,
            minimum

        var sentence: String {
            switch self {
            case .getter: "The stored value 300 of 'Gauge.small' does not fit in Int8."
            case .enumGetter: "The stored value 257 of 'Gauge.step' does not fit in Int8."
            case .customGetter: "The stored value of 'Gauge.rank' is none of Int8"
            case .element: "The stored value 70000 of a collection is none of Int16"
            case .mapValue, .customElement: "The stored value 300 of a collection is none of Int8"
            case .unknownElement: "The stored value 'perhaps' of a collection is none of Word"
            case .listSum: "The result 60000 does not fit in Int16"
            case .mapSum: "The result 200 does not fit in Int8"
            case .minimum: "The result 300 does not fit in Int8"
            }
        }

        func commit() throws {
            let directory = TemporaryDirectory()
            defer { withExtendedLifetime(directory) {} }
            let narrow = try NarrowIntegerTests.narrow(NarrowIntegerTests.misfits, in: directory)
            let realm = narrow.realm!
            switch self {
            case .getter: _ = narrow.small
            case .enumGetter: _ = narrow.step
            case .customGetter: _ = narrow.rank
            case .element: _ = narrow.list[1]
            case .mapValue: _ = narrow.map["a"]
            case .customElement: _ = narrow.ranks.first
            case .unknownElement: _ = narrow.words[0]
            case .listSum:
                try realm.write {
                    narrow.list.removeAll()
                    narrow.list.append(objectsIn: [30_000, 30_000])
                }
                _ = narrow.list.sum()
            case .mapSum:
                let map = Map<String, Int8>()
                for name in ["a", "b"] { map[name] = 100 }
                _ = map.sum()
            case .minimum: _ = realm.objects(Narrow.self).min(of: \.small)
            }
        }
    }

    @Test("What does not fit ends the process where nil is no answer", arguments: Misuse.allCases)
    func ends(misuse: Misuse) async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            [misuse = misuse as Misuse] in
            try misuse.commit()
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains(misuse.sentence), "\(text.suffix(400))")
    }
}
