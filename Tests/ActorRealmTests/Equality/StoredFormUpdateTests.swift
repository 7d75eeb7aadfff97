import ActorRealm
import Foundation
import Testing

/// An update with `.modified` writes what is stored in another form, even where it has the same place in the order.
@Suite("An update that writes what differs writes values that are equal and not the same")
struct StoredFormUpdateTests {
    private func updated(_ before: [String: Any], _ after: [String: Any]) throws -> Term {
        let realm = try termRealm()
        return try realm.write {
            realm.create(Term.self, value: before.merging(["id": "a"]) { $1 })
            return realm.create(Term.self, value: after.merging(["id": "a"]) { $1 }, update: .modified)
        }
    }

    @Test("Numbers: the sign of zero, digits behind the point, and the type of a value of any kind")
    func numbers() throws {
        #expect(try updated(["weight": 0.0], ["weight": -0.0]).weight.sign == .minus)
        #expect(try updated(["weight": -0.0], ["weight": 0.0]).weight.sign == .plus)
        #expect(try updated(["maybe": 0.0], ["maybe": -0.0]).maybe?.sign == .minus)
        let price = try updated(["price": Decimal128("1.0")], ["price": Decimal128("1.00")]).price
        #expect("\(price)" == "1.00")
        let free = try updated(["free": AnyRealmValue.int(1)], ["free": AnyRealmValue.double(1)]).free
        #expect(free == .double(1) && free != .int(1))
        let inside = try updated(
            ["free": AnyRealmValue.fromArray([.int(1)])],
            ["free": AnyRealmValue.fromArray([.double(1)])]
        )
        #expect(inside.free.listValue?.first == .double(1))
    }

    @Test("Elements of lists, sets and maps")
    func elements() throws {
        #expect(try updated(["weights": [0.0]], ["weights": [-0.0]]).weights.first?.sign == .minus)
        let list = try updated(["anys": [AnyRealmValue.int(1)]], ["anys": [AnyRealmValue.double(1)]])
        #expect(list.anys.first == .double(1))
        let set = try updated(["anySet": [AnyRealmValue.int(1)]], ["anySet": [AnyRealmValue.double(1)]])
        #expect(Array(set.anySet) == [.double(1)])
        #expect(try updated(["scores": ["a": 0.0]], ["scores": ["a": -0.0]]).scores["a"]?.sign == .minus)
    }
}
