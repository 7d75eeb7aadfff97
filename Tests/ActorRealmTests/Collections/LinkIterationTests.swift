import Foundation
import Testing

@testable import ActorRealm

/// Going through the links to one object after another: collections and cursors that are used again must show what they
/// are asked for, and none that the program kept may change.
@Suite struct LinkIterationTests {
    final class Crate: Object {
        @Persisted var number: Int
        @Persisted var ship: Ship?
    }

    final class Ship: Object {
        @Persisted var id: Int
        @Persisted(originProperty: "ship") var crates: LinkingObjects<Crate>
    }

    // Only frozen results are in it.
    private struct Shared<Value>: @unchecked Sendable { let value: Value }

    private static let shipCount = 60

    /// As many crates as ships have numbers: none for the first one, beyond what a cursor has room for in itself for most.
    private func filled() throws -> Realm {
        let realm = try Realm(
            configuration: Realm.Configuration(
                inMemoryIdentifier: UUID().uuidString,
                objectTypes: [Crate.self, Ship.self]
            )
        )
        try realm.write {
            for id in 0..<Self.shipCount {
                let ship = Ship()
                ship.id = id
                realm.add(ship)
                for number in 0..<(id % 20) {
                    let crate = Crate()
                    crate.number = id * 100 + number
                    crate.ship = ship
                    realm.add(crate)
                }
            }
        }
        return realm
    }

    private func numbers(of id: Int) -> [Int] { (0..<(id % 20)).map { id * 100 + $0 } }

    @Test func `frozen links that an observer was told of are what it was told`() throws {
        let ship = try #require(try filled().objects(Ship.self).last).freeze()
        let crates = ship.crates
        let backing = try #require(crates._backing)
        #expect(Array(crates).count == 19)
        // As of a class that is gone: the version before has its rows, and the change says that there are none.
        backing.adopt(.list([]))
        backing.delivered = .init()
        #expect(Array(crates).isEmpty)
        #expect(crates.count == 0)
        // Nobody asks for the count here.
        var iterator = crates.makeIterator()
        #expect(iterator.next() == nil)
    }

    @Test func `each object in a loop has its own links`() throws {
        let realm = try filled()
        for _ in 0..<2 {
            var seen = 0
            for ship in realm.objects(Ship.self) {
                var found: [Int] = []
                for crate in ship.crates { found.append(crate.number) }
                #expect(found == numbers(of: ship.id))
                #expect(ship.crates.count == ship.id % 20 && ship.crates.map(\.number) == found)
                #expect(ship.crates.first?.number == found.first)
                seen += 1
            }
            #expect(seen == Self.shipCount)
        }
    }

    @Test func `links that the program kept stay those of their object`() throws {
        let realm = try filled()
        var kept: [LinkingObjects<Crate>] = []
        var iterators: [RealmIterator<Crate>] = []
        for ship in realm.objects(Ship.self) {
            if ship.id % 3 == 0 { kept.append(ship.crates) }
            if ship.id % 3 == 1 {
                var iterator = ship.crates.makeIterator()
                _ = iterator.next()
                iterators.append(iterator)
            }
            for crate in ship.crates { #expect(crate.ship?.id == ship.id) }
        }
        for (place, crates) in kept.enumerated() { #expect(crates.map(\.number) == numbers(of: 3 * place)) }
        for (place, iterator) in iterators.enumerated() {
            let rest = IteratorSequence(iterator).map(\.number)
            #expect(rest == Array(numbers(of: 3 * place + 1).dropFirst()))
        }
    }

    @Test func `iterations over the same links at the same time do not disturb each other`() throws {
        let realm = try filled()
        let ship = try #require(realm.objects(Ship.self).where { $0.id == 19 }.first)
        for _ in 0..<2 {
            var pairs = 0
            for one in ship.crates {
                for other in ship.crates where one.number <= other.number { pairs += 1 }
                for other in ship.crates where other.number == one.number { break }
            }
            #expect(pairs == 19 * 20 / 2)
        }
        var first = ship.crates.makeIterator()
        while first.next() != nil {}
        // At its end, it is not what the next one uses.
        var second = ship.crates.makeIterator()
        #expect(second.next()?.number == 1_900 && first.next() == nil && second.next()?.number == 1_901)
    }

    @Test func `an iterator at its end gives nothing more, whatever becomes of the realm`() throws {
        func ended() throws -> RealmIterator<Crate> {
            let realm = try filled()
            let ship = try #require(realm.objects(Ship.self).where { $0.id == 5 }.first)
            var iterator = ship.crates.makeIterator()
            var count = 0
            while iterator.next() != nil { count += 1 }
            #expect(count == 5)
            return iterator
        }
        var iterator = try ended()
        #expect(iterator.next() == nil && iterator.next() == nil)
    }

    @Test func `links follow writes made between two loops over the same collection`() throws {
        let realm = try filled()
        let ship = try #require(realm.objects(Ship.self).where { $0.id == 7 }.first)
        let crates = ship.crates
        #expect(Array(crates).count == 7)
        try realm.write {
            let crate = Crate()
            crate.number = 1
            crate.ship = ship
            realm.add(crate)
            #expect(crates.map(\.number) == numbers(of: 7) + [1])
            // What is added in the loop is not in it.
            var count = 0
            for crate in crates {
                count += 1
                if crate.number % 2 == 0 { realm.delete(crate) }
                let another = Crate()
                another.number = 2
                another.ship = ship
                realm.add(another)
            }
            #expect(count == 8)
        }
        var found: [Int] = []
        for crate in crates { found.append(crate.number) }
        #expect(found == [701, 703, 705, 1] + Array(repeating: 2, count: 8))
    }

    @Test func `frozen objects are gone through by several tasks at once`() async throws {
        let ships = Shared(value: try filled().objects(Ship.self).freeze())
        let expected = (0..<Self.shipCount).flatMap { numbers(of: $0) }
        let found = await withTaskGroup(of: [Int].self, returning: [[Int]].self) { group in
            for _ in 0..<4 {
                group.addTask { () -> [Int] in
                    var found: [Int] = []
                    for ship in ships.value { for crate in ship.crates { found.append(crate.number) } }
                    return found
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(found == Array(repeating: expected, count: 4))
    }
}
