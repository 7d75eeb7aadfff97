import ActorRealm
import Dispatch
import Foundation
import Testing

class Harbor: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var name: String
    @Persisted var ships: List<Ship>
    @Persisted var depths: List<Int>
    @Persisted var codes: MutableSet<String>
    @Persisted var visitors: MutableSet<Ship>
    @Persisted var prices: Map<String, Int>
    @Persisted var berths: Map<String, Ship?>
    @Persisted var address: HarborAddress?
    @Persisted var addresses: List<HarborAddress>

    /// An observer that the object makes for itself.
    func observeName(_ block: @escaping (String) -> Void) -> NotificationToken {
        observe(keyPaths: [\Harbor.name]) { (change: ObjectChange<Harbor>) in
            if case .change(let harbor, _) = change { block(harbor.name) }
        }
    }
}

class Ship: Object {
    @Persisted var name: String
    @Persisted var tons: Int
    @Persisted(originProperty: "ships") var harbors: LinkingObjects<Harbor>
}

class HarborAddress: EmbeddedObject {
    @Persisted var street: String
}

class HarborCard: Projection<Harbor> {
    @Projected(\Harbor.name) var title
    @Projected(\Harbor.address?.street) var street
    @Projected(\Harbor.ships.projectTo.name) var shipNames: ProjectedCollection<String>
}

/// Every spelling of observing: blocks as code written for RealmSwift has them, and the sequences of this library.
@Suite("Observing is spelled as in RealmSwift, and as sequences", .timeLimit(.minutes(60)))
@MainActor
struct ObservationSpellingTests {
    let file: TemporaryRealm

    init() throws {
        file = try TemporaryRealm(objectTypes: [Harbor.self, Ship.self, HarborAddress.self])
    }

    private func harbor(in realm: Realm) throws -> Harbor {
        try realm.write {
            realm.create(
                Harbor.self,
                value: [
                    "id": 1, "name": "Ostend", "ships": [["name": "Ada", "tons": 3]], "depths": [4, 5],
                    "codes": ["OST"], "prices": ["day": 20], "address": ["street": "Quay"],
                ] as [String: Any]
            )
        }
    }

    private func end(_ tokens: [NotificationToken]) {
        for token in tokens { #expect(token.invalidate()) }
    }

    @Test("Collections with blocks")
    func collections() async throws {
        let realm = try await Realm(configuration: file.configuration)
        let harbor = try harbor(in: realm)
        let ship = try #require(harbor.ships.first)
        let queue = DispatchQueue(label: "harbors")
        let any = AnyRealmCollection(harbor.ships)
        end([
            realm.objects(Harbor.self).observe { (changes: RealmCollectionChange<Results<Harbor>>) in _ = changes },
            realm.objects(Harbor.self).sorted(byKeyPath: "name").observe { [weak realm] _ in _ = realm },
            realm.objects(Ship.self).filter("tons > 2").observe(keyPaths: ["name", "harbors.name"]) { _ in },
            realm.objects(Ship.self).where { $0.tons > 2 }.observe(keyPaths: [\.name, \.tons]) { _ in },
            realm.objects(Ship.self).observe(keyPaths: nil, on: queue) { _ in },
            harbor.ships.observe { (change: RealmCollectionChange<List<Ship>>) in
                if case .update(let ships, deletions: _, insertions: let places, modifications: _) = change {
                    _ = places.map { ships[$0].name }
                }
            },
            harbor.depths.observe { (change: RealmCollectionChange<List<Int>>) in _ = change },
            harbor.depths.observe(on: queue) { _ in },
            harbor.codes.observe { (change: RealmCollectionChange<MutableSet<String>>) in _ = change },
            harbor.visitors.observe(keyPaths: [\Ship.name], on: queue) { _ in },
            ship.harbors.observe { (change: RealmCollectionChange<LinkingObjects<Harbor>>) in _ = change },
            ship.harbors.observe(keyPaths: ["name"], on: queue) { _ in },
            any.observe { (change: RealmCollectionChange<AnyRealmCollection<Ship>>) in _ = change },
            harbor.addresses.observe { _ in },
        ])
        let actor = BackgroundActor.shared
        await end([
            harbor.ships.observe(on: actor) { actor, change in
                actor.assertIsolated()
                _ = change
            },
            harbor.ships.observe(keyPaths: [\Ship.tons], on: actor) { _, _ in },
            harbor.depths.observe(on: actor) { _, _ in },
            harbor.codes.observe(on: actor) { (_, change: RealmCollectionChange<MutableSet<String>>) in _ = change },
            ship.harbors.observe(keyPaths: ["name"], on: actor) { _, _ in },
            any.observe(on: actor) { _, _ in },
        ])
    }

    @Test("Maps with blocks")
    func maps() async throws {
        let realm = try await Realm(configuration: file.configuration)
        let harbor = try harbor(in: realm)
        let queue = DispatchQueue(label: "harbors")
        end([
            harbor.prices.observe { (change: RealmMapChange<Map<String, Int>>) in
                switch change {
                case .initial(let prices): _ = prices["day"]
                case .update(let prices, let deletions, let insertions, let modifications):
                    let names: [String] = deletions + insertions + modifications
                    _ = (prices.count, names)
                case .error(let error): _ = error
                }
            },
            harbor.prices.observe(on: queue) { _ in },
            harbor.berths.observe(keyPaths: ["name"]) { _ in },
            harbor.berths.observe(keyPaths: [\Ship.name], on: queue) { _ in },
        ])
        await end([
            harbor.prices.observe(on: BackgroundActor.shared) { _, change in _ = change },
            harbor.berths.observe(keyPaths: ["tons"], on: BackgroundActor.shared) { _, _ in },
            harbor.berths.observe(keyPaths: [\Ship.tons], on: BackgroundActor.shared) { _, _ in },
        ])
    }

    @Test("Sections with blocks")
    func sections() async throws {
        let realm = try await Realm(configuration: file.configuration)
        _ = try harbor(in: realm)
        let queue = DispatchQueue(label: "harbors")
        let sections = realm.objects(Ship.self).sectioned(by: \.tons)
        end([
            sections.observe { change in
                switch change {
                case .initial(let sections): _ = sections.count
                case .update(
                    let sections,
                    let deletions,
                    let insertions,
                    let modifications,
                    let sectionsToInsert,
                    let sectionsToDelete
                ):
                    let paths: [IndexPath] = deletions + insertions + modifications
                    let all: IndexSet = sectionsToInsert.union(sectionsToDelete)
                    _ = (sections.count, paths, all)
                }
            },
            sections.observe(keyPaths: ["name"], on: queue) { _ in },
            sections.observe(keyPaths: [\Ship.name]) { _ in },
            sections[0].observe { _ in },
            sections[0].observe(on: queue) { _ in },
        ])
        await end([
            sections.observe(on: BackgroundActor.shared) { _, _ in },
            sections[0].observe(keyPaths: ["name"], on: BackgroundActor.shared) { _, _ in },
        ])
    }

    @Test("Objects, embedded objects and projections with blocks")
    func objects() async throws {
        let realm = try await Realm(configuration: file.configuration)
        let harbor = try harbor(in: realm)
        let address = try #require(harbor.address)
        let card = try #require(realm.objects(HarborCard.self).first)
        let queue = DispatchQueue(label: "harbors")
        end([
            harbor.observeName { _ in },
            harbor.observe { (change: ObjectChange<Harbor>) in
                switch change {
                case .change(let harbor, let properties):
                    _ = (harbor.name, properties.first { $0.name == "name" }?.newValue as? String)
                case .error(let error):
                    let error: NSError = error
                    _ = error.localizedDescription
                case .deleted: break
                }
            },
            harbor.observe { (change: ObjectChange<Object>) in _ = change },
            harbor.observe(keyPaths: ["ships.name", "address.street"], on: queue) { _ in },
            address.observe { (change: ObjectChange<HarborAddress>) in _ = change },
            address.observe(on: queue) { _ in },
            card.observe { (change: ObjectChange<HarborCard>) in
                if case .change(let card, _) = change { _ = card.title }
            },
            card.observe(keyPaths: ["title"]) { _ in },
            card.observe(keyPaths: [\HarborCard.title], on: queue) { _ in },
            card.shipNames.observe { _ in },
            realm.objects(HarborCard.self).observe { _ in },
        ])
        await end([
            harbor.observe(keyPaths: [\Harbor.name], on: BackgroundActor.shared) { actor, _ in actor.assertIsolated() },
            address.observe(on: BackgroundActor.shared) { _, _ in },
            card.observe(keyPaths: ["title"], on: BackgroundActor.shared) { _, change in _ = change },
        ])
    }

    @Test("Writes that leave out observers")
    func withoutNotifying() async throws {
        let realm = try await Realm(configuration: file.configuration)
        let harbor = try harbor(in: realm)
        let token = realm.objects(Harbor.self).observe { _ in }
        try realm.write(withoutNotifying: [token]) { harbor.name = "Oostende" }
        realm.beginWrite()
        harbor.name = "Ostende"
        try realm.commitWrite(withoutNotifying: [token])
        #expect(harbor.name == "Ostende")
        try await realm.asyncWrite(withoutNotifying: [token]) { harbor.name = "Ostend" }
        #expect(realm.objects(Harbor.self).map(\.name) == ["Ostend"])
        token.invalidate()
    }

    @Test("Sequences")
    func sequences() async throws {
        let realm = try await Realm(configuration: file.configuration)
        let harbor = try harbor(in: realm)
        let ship = try #require(harbor.ships.first)
        for await change in realm.objects(Harbor.self).where({ $0.name == "Ostend" }).changes() {
            guard case .initial(let harbors) = change else { break }
            #expect(harbors.count == 1 && harbors.realm === realm)
            break
        }
        for await change in harbor.ships.changes(keyPaths: [\.name]) {
            #expect(change.collection?.count == 1)
            break
        }
        for await change in harbor.depths.changes() {
            #expect(change.collection?.count == 2)
            break
        }
        for await change in harbor.codes.changes() {
            #expect(change.collection?.count == 1)
            break
        }
        for await change in harbor.prices.changes() {
            #expect(change.collection?.count == 1)
            break
        }
        for await change in harbor.berths.changes(keyPaths: [\Ship.name]) {
            #expect(change.collection?.count == 0)
            break
        }
        for await change in ship.harbors.changes(keyPaths: ["name"]) {
            #expect(change.collection?.count == 1)
            break
        }
        for await change in realm.objects(Ship.self).sectioned(by: \.tons).changes() {
            if case .initial(let sections) = change { #expect(sections.count == 1) }
            break
        }
        let sequences = (
            object: harbor.changes(), named: harbor.changes(keyPaths: ["name"]),
            typed: harbor.changes(keyPaths: [\.name]),
            embedded: harbor.address?.changes(), card: realm.objects(HarborCard.self).first?.changes(),
            realm: realm.changes
        )
        let sendable: any Sendable = sequences
        _ = sendable
    }
}
