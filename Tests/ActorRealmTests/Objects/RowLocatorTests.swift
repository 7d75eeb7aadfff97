import RealmModel
import Testing

@testable import ActorRealm

@Suite("Where rows were found before")
struct RowLocatorTests {
    /// Looks for all rows, and returns those for which another one was found, or none.
    private func misses(_ keys: Range<Int64>, _ locator: inout RowLocator) throws -> [Int64] {
        try keys.filter { key in
            let location = try locator.locate(key)
            return location.map { $0.leaf.key(at: $0.row) } != key
        }
    }

    private func check(_ locator: inout RowLocator, finds keys: Range<Int64>, capacity: Int) throws {
        let missed = try misses(keys, &locator)
        let found = locator.capacity
        #expect(missed.isEmpty)
        #expect(found == capacity, "for \(keys.count) rows")
    }

    @Test("There is room for as many leaves as the table has, also when it grows, and what is there is found")
    func growth() throws {
        let realm = try memoryRealm()
        let table = try #require(realm.core.accessor(for: Puppy.self)).table
        try realm.write { for _ in 0..<10 { _ = try table.insert() } }
        var locator = RowLocator(table, isFrozen: false)
        try check(&locator, finds: 0..<10, capacity: 16)
        // Each leaf that is remembered has 512 keys.
        for (count, capacity) in [(8_192, 16), (8_193, 32), (20_000, 64)] as [(Int64, Int)] {
            try realm.write { while table.count < count { _ = try table.insert() } }
            for _ in 0..<2 { try check(&locator, finds: 0..<count, capacity: capacity) }
            let beyond = try locator.locate(count)
            #expect(beyond == nil)
        }
        // Most leaves are what they were, below nodes that are not.
        try realm.write { try table.delete(key: 700) }
        let missed = try misses(0..<20_000, &locator)
        #expect(missed == [700])
        // Who looks for one row needs no more than a little.
        var new = RowLocator(table, isFrozen: false)
        for _ in 0..<3 { try check(&new, finds: 19_000..<19_100, capacity: 16) }
        try check(&new, finds: 0..<700, capacity: 16)
        try check(&new, finds: 8_000..<8_700, capacity: 64)
    }
}
