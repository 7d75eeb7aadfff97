import ActorRealm
import Foundation
import Testing

/// Projections where RealmSwift takes them.
@Suite("Projections are observed by their own properties, and looked for", .timeLimit(.minutes(60)))
struct ProjectionPortingTests {
    let file = PortingFile()

    /// What observers on a queue tell of some writes, the next of which comes when all has been told of the one before.
    private func check(
        _ writes: [(write: @Sendable (Harbour) -> Void, told: [String])],
        _ observe: @escaping @Sendable (Realm, @escaping (String) -> Void) throws -> [NotificationToken]
    ) async throws {
        let configuration = file.configuration
        let queue = DispatchQueue(label: "projections")
        let (texts, continuation) = AsyncStream.makeStream(of: String.self)
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
            tokens = try observe(realm) { continuation.yield($0) }
        }
        defer {
            queue.sync {
                for token in tokens { token.invalidate() }
                realm = nil
            }
        }
        var iterator = texts.makeAsyncIterator()
        for (index, (write, expected)) in writes.enumerated() {
            if index > 0 { try queue.sync { try realm.write { write(realm.objects(Harbour.self)[0]) } } }
            var told: [String] = []
            while told.count < expected.count { await told.append(iterator.next()!) }
            // What an observer was told too much is told before what it is told of the next write.
            #expect(told.sorted() == expected, "of write \(index)")
        }
    }

    @Test("an object's, by names and by key paths")
    func objects() async throws {
        try await check([
            ({ _ in }, []),
            ({ $0.name = "Europoort" }, ["all: title=Europoort", "names: title=Europoort"]),
            ({ $0.position?.latitude = 3 }, ["all: latitude=3.0", "paths: latitude=3.0"]),
            ({ $0.isOpen = false }, []),
            ({ $0.ships[0].name = "two" }, ["all: shipNames=nil", "ships: shipNames=nil"]),
            (
                {
                    $0.name = "last"
                    $0.position?.latitude = 4
                    $0.ships.removeAll()
                },
                [
                    "all: title=last,latitude=4.0,shipNames=nil", "names: title=last", "paths: latitude=4.0",
                    "ships: shipNames=nil",
                ]
            ),
        ]) { realm, tell in
            let projection = realm.objects(HarbourProjection.self)[0]
            func told(_ who: String) -> (ObjectChange<HarbourProjection>) -> Void {
                { change in
                    guard case .change(_, let properties) = change else { return }
                    let values = properties.map { "\($0.name)=\($0.newValue ?? "nil")" }
                    tell("\(who): \(values.joined(separator: ","))")
                }
            }
            return [
                projection.observe(keyPaths: ["title"], told("names")),
                projection.observe(keyPaths: [\HarbourProjection.latitude], told("paths")),
                projection.observe(keyPaths: [\HarbourProjection.shipNames], told("ships")),
                projection.observe(told("all")),
            ]
        }
    }

    @Test("a collection's, by names and by key paths")
    func collections() async throws {
        try await check([
            ({ _ in }, ["latitude path: initial", "latitude: initial", "names: initial", "paths: initial"]),
            ({ $0.name = "Europoort" }, ["names: [0] Europoort", "paths: [0] Europoort"]),
            ({ $0.isOpen = false }, []),
            ({ $0.position?.latitude = 3 }, ["latitude path: [0] Europoort", "latitude: [0] Europoort"]),
            ({ $0.position?.longitude = 3 }, []),
            (
                {
                    $0.name = "last"
                    $0.position?.latitude = 4
                },
                ["latitude path: [0] last", "latitude: [0] last", "names: [0] last", "paths: [0] last"]
            ),
        ]) { realm, tell in
            let projections = realm.objects(HarbourProjection.self)
            func told(_ who: String) -> (RealmCollectionChange<Results<HarbourProjection>>) -> Void {
                { change in
                    switch change {
                    case .initial: tell("\(who): initial")
                    case .update(let projections, _, _, let modifications):
                        tell("\(who): \(modifications) \(projections[0].title)")
                    case .error: break
                    }
                }
            }
            return [
                projections.observe(keyPaths: ["title"], told("names")),
                projections.observe(keyPaths: [\HarbourProjection.title], told("paths")),
                projections.observe(keyPaths: ["latitude"], told("latitude")),
                projections.observe(keyPaths: [\HarbourProjection.latitude], told("latitude path")),
            ]
        }
    }

    @Test("values of a projected collection are found by value, by a predicate on their objects, and by positions")
    func projectedPositions() throws {
        try onNewThread { [self] in
            let realm = try Realm(configuration: file.configuration)
            try realm.write {
                let harbour = Harbour(id: 1)
                for (name, tonnage) in [("a", 5), ("b", 7), ("b", 9)] {
                    harbour.ships.append(Ship(name: name, tonnage: tonnage))
                }
                realm.add(harbour)
                realm.add(Ship(name: "elsewhere", tonnage: 11))
            }
            let names = realm.objects(HarbourProjection.self)[0].shipNames
            #expect(names.index(of: "b") == 1 && names.index(of: "elsewhere") == nil)
            #expect(names.index(matching: "tonnage > %@", 7) == 2)
            #expect(names.index(matching: "tonnage > 10") == nil)
            #expect(names.objects(at: [0, 2]) == ["a", "b"])
        }
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
