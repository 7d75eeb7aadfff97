import ActorRealm
import Foundation
import Testing

/// Embedded objects behind collections, compared property by property.
@Suite struct EmbeddedMembershipTests {
    final class Shop: Object {
        @Persisted var id = 0
        @Persisted var spots: List<Spot>
        @Persisted var branches: List<Outlet>
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
    }

    final class Outlet: Object {
        @Persisted var spot: Spot?
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
    }

    final class Spot: EmbeddedObject {
        @Persisted var name: String?
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
    }

    private func spot(_ name: String?) -> Spot {
        let spot = Spot()
        spot.name = name
        return spot
    }

    private func shopRealm() throws -> Realm { try memoryRealm([Shop.self, Outlet.self, Spot.self]) }

    @Test func `one of some embedded objects is asked for with all and none`() throws {
        let realm = try shopRealm()
        try realm.write {
            for (id, names) in [["a"], ["a", "b"], ["c"], [], ["a", "c"]].enumerated() {
                let shop = realm.create(Shop.self, value: ["id": id])
                for name in names { shop.spots.append(spot(name)) }
            }
        }
        let shops = realm.objects(Shop.self)
        func ids(_ query: (Query<Shop>) -> Query<Bool>) -> [Int] { shops.where(query).map(\.id) }
        let wanted = [spot("a"), spot("b")]
        #expect(ids { $0.spots.containsAny(in: wanted) } == [0, 1, 4])
        #expect(ids { $0.spots.none.containsAny(in: wanted) } == [2, 3])
        #expect(ids { $0.spots.all.containsAny(in: wanted) } == [0, 1, 3])
        #expect(ids { ($0.spots.containsAny(in: wanted)).count == 2 } == [1])
        #expect(ids { !$0.spots.all.containsAny(in: wanted) } == [2, 4])
        // Objects of the realm are asked for by their identity.
        let mixed = [shops[1].spots[0], spot("b")]
        #expect(ids { $0.spots.containsAny(in: mixed) } == [1])
        #expect(ids { $0.spots.none.containsAny(in: mixed) } == [0, 2, 3, 4])
        #expect(ids { $0.spots.all.containsAny(in: mixed) } == [1, 3])
    }

    @Test func `one of some embedded objects or nil is asked for behind a collection`() throws {
        let branches: [[String?]] = [[nil], ["a", nil], ["b"], []]
        let realm = try shopRealm()
        try realm.write {
            for (id, names) in branches.enumerated() {
                let shop = realm.create(Shop.self, value: ["id": id])
                for name in names {
                    let outlet = realm.create(Outlet.self)
                    if let name { outlet.spot = spot(name) }
                    shop.branches.append(outlet)
                }
            }
        }
        let shops = realm.objects(Shop.self)
        func ids(_ query: (Query<Shop>) -> Query<Bool>) -> [Int] { shops.where(query).map(\.id) }
        let wanted = [nil, spot("a")]
        #expect(ids { $0.branches.spot.in(wanted) } == [0, 1])
        #expect(ids { $0.branches.none.spot.in(wanted) } == [2, 3])
        #expect(ids { $0.branches.all.spot.in(wanted) } == [0, 1, 3])
    }

    @Test func `a link that is nil equals no embedded object`() throws {
        let realm = try shopRealm()
        try realm.write {
            let shop = realm.create(Shop.self, value: ["id": 1])
            shop.branches.append(realm.create(Outlet.self))
        }
        let shops = realm.objects(Shop.self)
        #expect(shops.where { $0.branches.spot == Spot() }.count == 0)
        #expect(shops.where { $0.branches.spot != Spot() }.count == 1)
        #expect(shops.where { $0.branches.none.spot == Spot() }.count == 1)
        try realm.write {
            shops[0].branches[0].spot = Spot()
            shops[0].spots.append(Spot())
        }
        #expect(shops.where { $0.branches.spot == Spot() }.count == 1)
        #expect(shops.where { $0.branches.spot != Spot() }.count == 0)
        #expect(shops.where { $0.spots == Spot() }.count == 1)
    }
}
