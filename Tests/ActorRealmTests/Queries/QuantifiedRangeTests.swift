import ActorRealm
import Foundation
import Testing

/// What `all` and `none` stand before is asked of one and the same element.
@Suite struct QuantifiedRangeTests {
    final class Ledge: Object {
        @Persisted var id = 0
        @Persisted var marks: Map<String, Int>
        @Persisted var maybe: Map<String, Int?>
        @Persisted var numbers: List<Double>
        @Persisted var price: Decimal128
        @Persisted var date: Date
        @Persisted var rank: Rank
        @Persisted var ledges: List<Ledge>
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
    }

    struct Rank: CustomPersistable, Comparable {
        typealias PersistedType = Int
        let place: Int
        init(_ place: Int) { self.place = place }
        init(persistedValue: Int) { place = persistedValue }
        var persistableValue: Int { place }
        static func < (left: Rank, right: Rank) -> Bool { left.place < right.place }
    }

    private static let numbers = [[1, 2, 3], [3, 4], [], [5], [2, 9]]

    private func keepers() throws -> Results<Keeper> {
        let realm = try memoryRealm()
        try realm.write {
            for (id, numbers) in Self.numbers.enumerated() {
                let puppies = numbers.map { ["age": $0] }
                realm.create(
                    Keeper.self,
                    value: ["id": id, "scores": numbers, "puppies": puppies] as [String: Any]
                )
            }
        }
        return realm.objects(Keeper.self)
    }

    /// A ledge for each number, which has it in all of its properties, and ledges that hold some of them.
    private func ledges(_ held: [[Int]]) throws -> Results<Ledge> {
        let realm = try memoryRealm([Ledge.self])
        try realm.write {
            var single: [Int: Ledge] = [:]
            for number in Set(held.joined()) {
                let ledge = realm.create(
                    Ledge.self,
                    value: ["id": -1, "maybe": ["a": number, "b": nil] as [String: Int?]] as [String: Any]
                )
                ledge.price = Decimal128(number)
                ledge.date = Date(timeIntervalSince1970: Double(number))
                ledge.rank = Rank(number)
                ledge.marks["a"] = number
                single[number] = ledge
            }
            for (id, numbers) in held.enumerated() {
                let ledge = realm.create(Ledge.self, value: ["id": id])
                for number in numbers {
                    ledge.marks["m\(number)"] = number
                    ledge.numbers.append(Double(number))
                    if let one = single[number] { ledge.ledges.append(one) }
                }
            }
        }
        return realm.objects(Ledge.self).where { $0.id >= 0 }
    }

    @Test func `both bounds of a half-open range are about one element`() throws {
        let all = try keepers()
        func ids(_ query: (Query<Keeper>) -> Query<Bool>) -> [Int] { all.where(query).map(\.id) }
        #expect(ids { $0.puppies.age.contains(3..<5) } == [0, 1])
        #expect(ids { !$0.puppies.age.contains(3..<5) } == [2, 3, 4])
        #expect(ids { $0.puppies.none.age.contains(3..<5) } == [2, 3, 4])
        #expect(ids { $0.puppies.none.age.contains(3..<4) } == [2, 3, 4])
        #expect(ids { $0.puppies.all.age.contains(1..<4) } == [0, 2])
        #expect(ids { $0.puppies.age.contains(3..<3) }.isEmpty)
        #expect(ids { $0.puppies.age.contains(Int.min..<Int.min) }.isEmpty)
        #expect(ids { ($0.puppies.age.contains(2..<4)).count == 2 } == [0])
        // Of whole numbers, both kinds of ranges say the same.
        for lower in 0..<10 {
            for upper in lower..<10 {
                let (half, whole) = (lower..<upper + 1, lower...upper)
                #expect(
                    ids { $0.puppies.age.contains(half) }
                        == Self.numbers.indices.filter { Self.numbers[$0].contains { half.contains($0) } }
                )
                #expect(ids { $0.puppies.age.contains(half) } == ids { $0.puppies.age.contains(whole) })
                #expect(ids { $0.puppies.all.age.contains(half) } == ids { $0.puppies.all.age.contains(whole) })
                #expect(ids { $0.puppies.none.age.contains(half) } == ids { !$0.puppies.age.contains(whole) })
            }
        }
    }

    @Test func `a half-open range behind a collection holds every type that has ranges`() throws {
        let all = try ledges([[0, 5], [0, 2], [3], []])
        func ids(_ query: (Query<Ledge>) -> Query<Bool>) -> [Int] { all.where(query).map(\.id) }
        func date(_ seconds: Double) -> Date { Date(timeIntervalSince1970: seconds) }
        #expect(ids { $0.ledges.price.contains(1..<3) } == [1])
        #expect(ids { $0.ledges.date.contains(date(1)..<date(3)) } == [1])
        #expect(ids { $0.ledges.rank.contains(Rank(1)..<Rank(3)) } == [1])
        #expect(ids { $0.ledges.none.rank.contains(Rank(1)..<Rank(3)) } == [0, 2, 3])
        #expect(ids { $0.marks.values.contains(1..<3) } == [1])
        #expect(ids { $0.ledges.maybe.values.contains(1..<3) } == [1])
        #expect(ids { $0.ledges.none.maybe.values.contains(1..<3) } == [0, 2, 3])
        // A value that is nil is in no range.
        #expect(ids { $0.ledges.all.maybe.values.contains(0..<9) } == [3])
    }

    @Test func `a range behind a collection can be read in an explanation`() throws {
        let list = try #require(try ledges([[1]]).first).ledges
        let access = list.where { $0.ledges.id.contains(3..<5) }.explain().access
        #expect(access.hasSuffix("where ANY ledges.id IN 3 ..< 5"), "\(access)")
    }

    @Test func `all and none count before the range of a collection`() throws {
        let all = try keepers()
        let realm = try #require(all.realm)
        try realm.write {
            _ = realm.create(Keeper.self, value: ["id": 5, "scores": [nil, 4] as [Int?]] as [String: Any])
        }
        func ids(_ query: (Query<Keeper>) -> Query<Bool>) -> [Int] { all.where(query).map(\.id) }
        #expect(ids { $0.scores.none.contains(3...5) } == [2, 4])
        #expect(ids { $0.scores.none.contains(3..<5) } == [2, 3, 4])
        #expect(ids { $0.scores.all.contains(3...5) } == [1, 2, 3])
        #expect(ids { $0.scores.all.contains(3..<5) } == [1, 2])
        // Without them, nil is left out, and an empty collection has nothing in the range.
        #expect(ids { $0.scores.contains(3...5) } == [1, 3, 5])
        #expect(ids { $0.scores.contains(3..<5) } == [1, 5])
        let ledges = try ledges(Self.numbers)
        func found(_ query: (Query<Ledge>) -> Query<Bool>) -> [Int] { ledges.where(query).map(\.id) }
        #expect(found { $0.numbers.none.contains(3...5) } == [2, 4])
        #expect(found { $0.numbers.none.contains(3..<5) } == [2, 3, 4])
        #expect(found { $0.numbers.all.contains(3...5) } == [1, 2, 3])
        #expect(found { $0.numbers.all.contains(3..<5) } == [1, 2])
        #expect(found { $0.numbers.contains(3...5) } == [1, 3])
    }

    @Test func `all and none count before the range of a map`() throws {
        let all = try ledges(Self.numbers)
        func ids(_ query: (Query<Ledge>) -> Query<Bool>) -> [Int] { all.where(query).map(\.id) }
        #expect(ids { $0.ledges.none.marks.contains(3...5) } == [2, 4])
        #expect(ids { $0.ledges.none.marks.contains(3..<5) } == [2, 3, 4])
        #expect(ids { $0.ledges.all.marks.contains(3...5) } == [1, 2, 3])
        #expect(ids { $0.ledges.all.marks.contains(3..<5) } == [1, 2])
        #expect(ids { $0.ledges.none.maybe.contains(3...5) } == [2, 4])
        #expect(ids { $0.ledges.none.maybe.contains(3..<5) } == [2, 3, 4])
        // Each holds a nil, which is in no range.
        #expect(ids { $0.ledges.all.maybe.contains(3...5) } == [2])
        #expect(ids { $0.ledges.all.maybe.contains(3..<5) } == [2])
    }

    @Test func `all and none before an aggregate mean what they mean in text`() throws {
        let all = try keepers()
        func ids(_ query: (Query<Keeper>) -> Query<Bool>) -> [Int] { all.where(query).map(\.id) }
        func found(_ text: String) -> [Int] { all.filter(text).map(\.id) }
        #expect(ids { $0.scores.none.min > 2 } == [0, 2, 4])
        #expect(ids { $0.scores.none.min > 2 } == found("NONE scores.@min > 2"))
        #expect(ids { $0.scores.all.min > 2 } == [1, 3])
        #expect(ids { $0.scores.all.min > 2 } == found("ALL scores.@min > 2"))
        #expect(ids { $0.puppies.none.age.max >= 5 } == [0, 1, 2])
        #expect(ids { $0.puppies.none.age.max >= 5 } == found("NONE puppies.@max.age >= 5"))
        #expect(ids { $0.puppies.none.count >= 2 } == [2, 3])
        #expect(ids { $0.scores.none.min.contains(2..<4) } == [0, 2, 3])
        #expect(ids { $0.scores.none.min.contains(2...3) } == [0, 2, 3])
        #expect(ids { $0.scores.all.min.contains(2..<4) } == [1, 4])
        #expect(ids { $0.scores.min.contains(2..<4) } == [1, 4])
        // Here the aggregate is counted for each puppy's keepers.
        #expect(ids { ($0.puppies.keepers.none.age.min > 99).count == 2 } == [1, 4])
    }
}
