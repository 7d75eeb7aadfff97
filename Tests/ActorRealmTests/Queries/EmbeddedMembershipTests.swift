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

    final class Chain: Object {
        @Persisted var id = 0
        @Persisted var shops: List<Shop>
        @Persisted var named: Map<String, Shop?>
        @Persisted var owned: List<Chain>
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

    final class Fleet: Object {
        @Persisted var yards: List<Yard>
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
    }

    final class Yard: Object {
        @Persisted var ships: List<Ship>
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
    }

    final class Ship: EmbeddedObject {
        @Persisted var name = ""
        @Persisted var size = 0
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
    }

    private func spot(_ name: String?) -> Spot {
        let spot = Spot()
        spot.name = name
        return spot
    }

    private func shopRealm() throws -> Realm { try memoryRealm([Shop.self, Outlet.self, Spot.self]) }

    /// Chains numbered from zero, of shops with spots of these names.
    private func chainRealm(_ chains: [[[String]]]) throws -> Realm {
        let realm = try memoryRealm([Chain.self, Shop.self, Outlet.self, Spot.self])
        try realm.write {
            for (id, shops) in chains.enumerated() {
                let chain = realm.create(Chain.self, value: ["id": id])
                for (number, names) in shops.enumerated() {
                    let shop = realm.create(Shop.self)
                    for name in names { shop.spots.append(spot(name)) }
                    chain.shops.append(shop)
                    chain.named["\(number)"] = shop
                }
                chain.owned.append(chain)
            }
        }
        return realm
    }

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

    @Test func `All and none are kept behind two collections, where embedded objects are compared`() throws {
        let realm = try chainRealm([[["a"]], [["b"]], [[]], [["a", "b"]], [["a"], ["c"]], []])
        let chains = realm.objects(Chain.self)
        func ids(_ query: (Query<Chain>) -> Query<Bool>) -> [Int] { chains.where(query).map(\.id) }
        let a = spot("a")
        let wanted = [a, spot("b")]
        #expect(ids { $0.shops.spots == a } == [0, 3, 4])
        #expect(ids { $0.shops.spots.none == a } == [1, 2, 5])
        #expect(ids { $0.shops.none.spots == a } == [1, 2, 5])
        #expect(ids { $0.shops.spots.all == a } == [0, 2, 5])
        #expect(ids { $0.shops.spots != a } == [1, 3, 4])
        #expect(ids { $0.shops.spots.none != a } == [0, 2, 5])
        #expect(ids { $0.shops.spots.containsAny(in: wanted) } == [0, 1, 3, 4])
        #expect(ids { $0.shops.spots.none.containsAny(in: wanted) } == [2, 5])
        #expect(ids { $0.shops.spots.all.containsAny(in: wanted) } == [0, 1, 2, 3, 5])
        // Objects of the realm are asked for by their identity.
        let mixed = [chains[3].shops[0].spots[0], spot("b")]
        #expect(ids { $0.shops.spots.containsAny(in: mixed) } == [1, 3])
        #expect(ids { $0.shops.spots.none.containsAny(in: mixed) } == [0, 2, 4, 5])
        #expect(ids { $0.shops.spots.all.containsAny(in: mixed) } == [1, 2, 3, 5])
        // Ways that go through a map, and through one of its entries.
        #expect(ids { $0.named.values.spots == a } == [0, 3, 4])
        #expect(ids { $0.named.values.spots.none == a } == [1, 2, 5])
        #expect(ids { $0.owned.named["1"].spots == spot("c") } == [4])
        #expect(ids { $0.owned.named["1"].spots.none == spot("c") } == [0, 1, 2, 3, 5])
    }

    @Test func `Conditions on embedded objects behind two collections are counted`() throws {
        let realm = try chainRealm([[["a"]], [["b"]], [["a", "b"], ["a"]], []])
        let chains = realm.objects(Chain.self)
        func ids(_ query: (Query<Chain>) -> Query<Bool>) -> [Int] { chains.where(query).map(\.id) }
        let a = spot("a")
        #expect(ids { ($0.shops.spots == a).count == 1 } == [0])
        #expect(ids { ($0.shops.spots == a).count == 2 } == [2])
        #expect(ids { ($0.shops.spots.containsAny(in: [a, spot("b")])).count == 1 } == [0, 1])
        #expect(ids { ($0.named.values.spots == a).count == 2 } == [2])
        // A count in a count is about the elements of one element.
        #expect(ids { ($0.shops.id == 0 && ($0.shops.spots.name == "b").count == 1).count == 1 } == [1, 2])
    }

    @Test func `Embedded objects of two properties are equal as one element, also behind two collections`() throws {
        let realm = try memoryRealm([Fleet.self, Yard.self, Ship.self])
        try realm.write {
            let fleet = realm.create(Fleet.self)
            let yard = realm.create(Yard.self)
            fleet.yards.append(yard)
            for (name, size) in [("a", 1), ("b", 2)] {
                let ship = Ship()
                ship.name = name
                ship.size = size
                yard.ships.append(ship)
            }
        }
        let fleets = realm.objects(Fleet.self)
        let mingled = Ship()
        mingled.name = "a"
        mingled.size = 2
        #expect(fleets.where { $0.yards.ships == mingled }.isEmpty)
        #expect(fleets.where { $0.yards.ships.none == mingled }.count == 1)
        mingled.size = 1
        #expect(fleets.where { $0.yards.ships == mingled }.count == 1)
        #expect(fleets.where { $0.yards.ships.none == mingled }.isEmpty)
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
