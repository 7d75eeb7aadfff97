import ActorRealm
import Foundation
import Testing

/// `@distinctUnionOfObjects` and its relative have what `distinct(by:)` has.
@Suite("A distinct union has what is equal in a realm once")
struct DistinctUnionTests {
    @Test("Each value once, in values of any kind too: strings by their bytes, and NaN like itself")
    func distinctUnion() throws {
        let realm = try termRealm()
        try realm.write {
            for (number, value) in [
                AnyRealmValue.string(composed), .string(decomposed), .int(1), .double(1),
                .decimal128(Decimal128("NaN")),
                .decimal128(Decimal128("NaN")), .list(List()),
            ]
            .enumerated() {
                realm.add(Term("\(number)", free: value))
            }
        }
        let terms = realm.objects(Term.self)
        let values = terms.value(forKeyPath: "@distinctUnionOfObjects.free") as? [Any]
        #expect(values?.count == terms.distinct(by: ["free"]).count && values?.count == 5)
    }

    @Test("Objects of one row once, without a primary key too")
    func distinctObjects() throws {
        let realm = try memoryRealm()
        try realm.write {
            let puppy = realm.create(Puppy.self, value: ["name": "a"])
            for number in 0..<3 { realm.create(Keeper.self, value: ["id": number]).favourite = puppy }
        }
        let values = realm.objects(Keeper.self).value(forKeyPath: "@distinctUnionOfObjects.favourite") as? [Any]
        #expect(values?.count == 1)
    }
}
