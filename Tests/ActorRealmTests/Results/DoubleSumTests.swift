import ActorRealm
import Foundation
import Testing

@Suite struct DoubleSumTests {
    final class Reading: Object {
        @Persisted var value = 0.0
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
    }

    @Test func `doubles are added in the order of the objects, whatever is known of these`() throws {
        let values = (0..<5_000).map { 1 / Double($0 + 3) }
        let realm = try memoryRealm([Reading.self])
        try realm.write { for value in values { realm.create(Reading.self, value: ["value": value]) } }
        let sum = values.reduce(0, +)
        let all = realm.objects(Reading.self)
        let found = all.where { $0.value > 0 }
        func check(_ results: Results<Reading>, line: SourceLocation = #_sourceLocation) {
            let mean: Double? = results.average(of: \.value)
            #expect(results.sum(of: \.value) == sum, sourceLocation: line)
            #expect(mean == sum / 5_000, sourceLocation: line)
        }
        check(all)
        check(found)
        // From here on the keys of the results are known.
        #expect(found.map(\.value) == values)
        check(found)
    }
}
