import ActorRealm
import Foundation
import Testing

/// Projections where RealmSwift takes them.
@Suite("Projections are observed by their own properties, and looked for", .timeLimit(.minutes(10)))
struct ProjectionPortingTests {
    let file = PortingFile()

    /// Changes of a realm on a queue, as texts.
    private func changes(
        expecting count: Int,
        _ observe: @escaping @Sendable (Realm, @escaping (String) -> Void) throws -> [NotificationToken],
        writes: [@Sendable (Harbour) -> Void]
    ) async throws -> [String] {
        let configuration = file.configuration
        let queue = DispatchQueue(label: "projections")
        nonisolated(unsafe) var texts: [String] = []
        nonisolated(unsafe) var tokens: [NotificationToken] = []
        nonisolated(unsafe) var realm: Realm!
        try queue.sync {
            realm = try Realm(configuration: configuration, queue: queue)
            try realm.write {
                let harbour = Harbour(id: 1, name: "Rotterdam")
                harbour.position = Position(1, 2)
                harbour.ships.append(Ship(name: "one"))
                realm.add(harbour)
            }
            tokens = try observe(realm) { texts.append($0) }
        }
        for (index, write) in writes.enumerated() {
            try queue.sync {
                try realm.write {
                    let harbour = realm.objects(Harbour.self)[0]
                    write(harbour)
                    // The mark by which the test knows that everybody was told.
                    harbour.depth = Float(index)
                }
            }
            await queue.settled(realm, configuration)
        }
        defer {
            queue.sync {
                for token in tokens { token.invalidate() }
                realm = nil
            }
        }
        return queue.sync { texts }
    }

    @Test("an object's, by names and by key paths")
    func objects() async throws {
        let texts = try await changes(
            expecting: 2,
            { realm, tell in
                let projection = realm.objects(HarbourProjection.self)[0]
                func told(_ who: String) -> (ObjectChange<HarbourProjection>) -> Void {
                    { change in
                        if case .change(_, let properties) = change {
                            tell(
                                "\(who): "
                                    + properties.map { "\($0.name)=\($0.newValue ?? "nil")" }.joined(separator: ",")
                            )
                        }
                    }
                }
                return [
                    projection.observe(keyPaths: ["title"], told("names")),
                    projection.observe(keyPaths: [\HarbourProjection.latitude], told("paths")),
                    projection.observe(keyPaths: [\HarbourProjection.shipNames], told("ships")),
                    projection.observe(told("all")),
                ]
            },
            writes: [
                { $0.name = "Europoort" },
                { $0.position?.latitude = 3 },
                { $0.isOpen = false },
                { $0.ships[0].name = "two" },
            ]
        )
        #expect(
            texts.sorted() == [
                "all: latitude=3.0", "all: shipNames=nil", "all: title=Europoort", "names: title=Europoort",
                "paths: latitude=3.0", "ships: shipNames=nil",
            ]
        )
    }

    @Test("a collection's, by names and by key paths")
    func collections() async throws {
        let texts = try await changes(
            expecting: 2,
            { realm, tell in
                let projections = realm.objects(HarbourProjection.self)
                func told(_ who: String) -> (RealmCollectionChange<Results<HarbourProjection>>) -> Void {
                    { change in
                        if case .update(let projections, _, _, let modifications) = change {
                            tell("\(who): \(modifications) \(projections[0].title)")
                        }
                    }
                }
                return [
                    projections.observe(keyPaths: ["title"], told("names")),
                    projections.observe(keyPaths: [\HarbourProjection.title], told("paths")),
                    projections.observe(keyPaths: ["latitude"], told("latitude")),
                    projections.observe(keyPaths: [\HarbourProjection.latitude], told("latitude path")),
                ]
            },
            writes: [
                { _ in },
                { $0.name = "Europoort" },
                { $0.isOpen = false },
                { $0.position?.latitude = 3 },
                { $0.position?.longitude = 3 },
            ]
        )
        #expect(
            texts.sorted() == [
                "latitude path: [0] Europoort", "latitude: [0] Europoort", "names: [0] Europoort",
                "paths: [0] Europoort",
            ]
        )
    }

    @Test("index(matching:), with a condition and with a predicate, and index(of:)")
    func positions() throws {
        try onNewThread { [self] in
            let realm = try Realm(configuration: file.configuration)
            try realm.write {
                for id in 0..<5 {
                    let harbour = Harbour(id: id, name: "h\(id)")
                    harbour.position = Position(Double(id), 0)
                    realm.add(harbour)
                }
            }
            let projections = realm.objects(HarbourProjection.self)
            #expect(projections.index(matching: { $0.title == "h3" }) == 3)
            #expect(projections.index(matching: { $0.title == "none" }) == nil)
            #expect(projections.index(matching: "name == %@", "h2") == 2)
            #expect(projections.index(matching: "name == 'none'") == nil)
            #expect(projections.index(of: projections[4]) == 4)
            let sorted = projections.sorted(by: \.title, ascending: false)
            #expect(sorted.index(matching: { $0.latitude == 3 }) == 1)
            #expect(AnyRealmCollection(projections).index(matching: { $0.title == "h1" }) == 1)
        }
    }
}

extension DispatchQueue {
    /// Waits until an observer of the realm that is registered now knows the newest version: those that were registered before
    /// know it as well.
    fileprivate func settled(_ realm: Realm, _ configuration: Realm.Configuration) async {
        nonisolated(unsafe) var token: NotificationToken?
        defer { self.sync { _ = token?.invalidate() } }
        await withCheckedContinuation { continuation in
            self.async {
                let realm = try! Realm(configuration: configuration, queue: self)
                token = realm.objects(Harbour.self)
                    .observe { change in
                        if case .initial = change { continuation.resume() }
                    }
            }
        }
        for _ in 0..<3 { self.sync {} }
    }
}
