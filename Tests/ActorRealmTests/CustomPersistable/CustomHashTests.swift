import ActorRealm
import Foundation
import RealmTestSupport
import Testing

/// Types of the program's own: closed realms, and equality beside hashes.
@Suite("Equal values of the program's own types hash alike, and neither ends the process", .timeLimit(.minutes(60)))
struct CustomHashTests {
    enum Level: Int, PersistableEnum {
        case low = 1
        case high
    }
    enum Word: String, PersistableEnum { case yes, no }

    /// Stored as a case of an enum which has no case for 0.
    struct Rating: CustomPersistable {
        var level: Level
        init(persistedValue: Level) { level = persistedValue }
        var persistableValue: Level { level }
    }

    struct Reply: CustomPersistable {
        var word: Word
        init(persistedValue: Word) { word = persistedValue }
        var persistableValue: Word { word }
    }

    struct Heat: CustomPersistable {
        var degrees: Double
        init(persistedValue: Double) { degrees = persistedValue }
        var persistableValue: Double { degrees }
    }

    struct Narrowed: CustomPersistable {
        var degrees: Float
        init(persistedValue: Float) { degrees = persistedValue }
        var persistableValue: Float { degrees }
    }

    struct Amount: CustomPersistable {
        var number: Decimal128
        init(persistedValue: Decimal128) { number = persistedValue }
        var persistableValue: Decimal128 { number }
    }

    class Sheet: Object {
        @Persisted var rating: Rating
        @Persisted var reply: Reply
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
    }

    class Knot: EmbeddedObject {
        @Persisted var next: Knot?
        @Persisted var number: Int
    }

    struct Rope: CustomPersistable, Sendable {
        nonisolated(unsafe) let knot: Knot
        init(persistedValue: Knot) { knot = persistedValue }
        var persistableValue: Knot { knot }
    }

    @Test("Of a closed realm they are their defaults, as close() says", arguments: [false, true])
    func closed(isOfText: Bool) async {
        await #expect(processExitsWith: .success) { [isOfText = isOfText as Bool] in
            let realm = try memoryRealm([Sheet.self])
            let sheet = try realm.write { realm.create(Sheet.self, value: ["rating": 2, "reply": "no"]) }
            #expect(sheet.rating.level == .high && sheet.reply.word == .no)
            realm.close()
            if isOfText {
                #expect(sheet.reply.word == .yes)
            } else {
                #expect(sheet.rating.level == .low)
            }
        }
    }

    @Test("Equal ones hash alike: what is no number, too")
    func hashes() throws {
        let (one, other) = (Heat(persistedValue: .nan), Heat(persistedValue: -.nan))
        #expect(one != other || one.hashValue == other.hashValue)
        #expect(one != other || Set([one, other]).count == 1)
        let loaded = Heat(persistedValue: Double(nan: 5, signaling: false))
        #expect(one != loaded || one.hashValue == loaded.hashValue)
        let (small, negative) = (Narrowed(persistedValue: .nan), Narrowed(persistedValue: -.nan))
        #expect(small != negative || small.hashValue == negative.hashValue)
        let decimals = try ["NaN", "-NaN", "sNaN", "0", "-0", "1", "1.00", "Infinity", "-Infinity"]
            .map { Amount(persistedValue: try Decimal128(parsing: $0)) }
        for left in decimals {
            for right in decimals where left == right {
                #expect(left.hashValue == right.hashValue, "\(left.number) \(right.number)")
            }
        }
        let pallets = [Double.nan, -.nan].map { Pallet(["weight": $0]) }
        #expect(pallets[0] != pallets[1] || pallets[0].hashValue == pallets[1].hashValue)
    }

    enum Ring: String, CaseIterable, Codable, Sendable {
        case hash, equality, chain

        func use() {
            func ring() -> Rope {
                let (first, second) = (Knot(), Knot())
                first.next = second
                second.next = first
                return Rope(persistedValue: first)
            }
            func chain() -> Rope {
                var knot = Knot()
                for number in 0..<20_000 {
                    let next = Knot()
                    next.number = number
                    next.next = knot
                    knot = next
                }
                return Rope(persistedValue: knot)
            }
            switch self {
            case .hash: _ = ring().hashValue
            case .equality: _ = ring() == ring()
            case .chain:
                // Not released, since that is another recursion.
                let (one, other) = (chain(), chain())
                _ = Unmanaged.passRetained(one.knot)
                _ = Unmanaged.passRetained(other.knot)
                _ = one == other
            }
        }
    }

    @Test("Embedded objects that lead back to themselves, or far, end no process", arguments: Ring.allCases)
    func rings(ring: Ring) async {
        await #expect(processExitsWith: .success) { [ring = ring as Ring] in ring.use() }
    }

    @Test("A set in an embedded object is compared in less than a square of its elements")
    func largeSets() {
        let numbers = (0..<60_000).map { "tag \($0)" }
        let (one, other) = (Pallet(["tags": numbers]), Pallet(["tags": Array(numbers.reversed())]))
        // Element by element that takes longer than the suite may.
        #expect(one == other)
    }
}
