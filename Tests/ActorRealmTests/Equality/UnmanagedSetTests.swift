import ActorRealm
import Foundation
import Testing

/// A set keeps the same elements before and behind the moment in which its object is added.
@Suite struct UnmanagedSetTests {
    private let values: [AnyRealmValue] = [
        .int(1), .double(1), .float(1), .decimal128("1.00"), .double(.nan), .float(.nan), .double(-.nan),
        .decimal128(.nan),
        .double(0), .double(-0.0), .int(0), .bool(false), .int(1 << 53 + 1), .double(0x1p53), .none, .none,
        .string(composed), .string(decomposed), .string("1"), .date(Date(timeIntervalSinceReferenceDate: .nan)),
        .date(Date(timeIntervalSinceReferenceDate: .nan)), .date(Date(timeIntervalSinceReferenceDate: 1)),
    ]

    @Test func `values of any kind are kept once by the one order`() throws {
        let realm = try termRealm()
        let term = Term("managed")
        try realm.write {
            realm.add(term)
            for value in values { term.anySet.insert(value) }
        }
        let set = MutableSet<AnyRealmValue>()
        for value in values { set.insert(value) }
        #expect(set.count == 12 && term.anySet.count == 12)
        for value in values { #expect(set.contains(value) && term.anySet.contains(value), "\(value)") }
        for value: AnyRealmValue in [.int(2), .bool(true), .string(""), .double(0x1p54)] {
            #expect(!set.contains(value) && !term.anySet.contains(value), "\(value)")
        }
        // Of equal ones the first is kept.
        #expect(set.first == .int(1))
        set.remove(.float(1))
        #expect(set.count == 11 && !set.contains(.int(1)))
        set.remove(.float(.nan))
        #expect(set.count == 10 && !set.contains(.double(.nan)))
    }

    @Test func `numbers are kept once, NaN and both zeros among them`() {
        let numbers = MutableSet<Double>()
        numbers.insert(objectsIn: [.nan, -.nan, 0, -0.0, 1, .nan])
        #expect(numbers.count == 3 && numbers.contains(.nan) && numbers.contains(-0.0))
        let others = MutableSet<Double>()
        others.insert(objectsIn: [1, -0.0, .nan])
        #expect(numbers == others)
        let maybe = MutableSet<Float?>()
        maybe.insert(objectsIn: [nil, .nan, nil, .nan])
        #expect(maybe.count == 2)
        maybe.remove(.nan)
        #expect(maybe.count == 1 && maybe.contains(nil))
    }
}
