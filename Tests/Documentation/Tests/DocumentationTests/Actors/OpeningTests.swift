import ActorRealm
import Foundation
import Testing

@Suite("Open an actor-isolated realm", .serialized, .timeLimit(.minutes(60)))
struct OpeningTests {
    let file: TemporaryRealm

    init() throws {
        file = try TemporaryRealm()
    }

    @MainActor
    func use(_ realm: Realm) async throws -> Int {
        try await realm.asyncWrite {
            realm.create(Todo.self, value: ["_id": ObjectId.generate(), "name": "Order the paint"])
        }
        return realm.objects(Todo.self).count
    }

    @Test("On the main actor, the forms with and without an actor give one and the same realm")
    @MainActor
    func mainActor() async throws {
        let realm1 = try await Realm(configuration: file.configuration)
        let realm2 = try await Realm(configuration: file.configuration, actor: MainActor.shared)
        #expect(try await use(realm1) == 1)
        #expect(realm2.objects(Todo.self).count == 1)
        #expect(realm1 == realm2 || realm1 === realm2)
    }

    @Test("A customized default configuration names the file")
    @MainActor
    func customConfiguration() async throws {
        let username = "harbour"
        var config = file.configuration
        config.fileURL!.deleteLastPathComponent()
        config.fileURL!.appendPathComponent(username)
        config.fileURL!.appendPathExtension("realm")
        let realm = try await Realm(configuration: config, actor: MainActor.shared)
        #expect(try await use(realm) == 1)
        #expect(FileManager.default.fileExists(atPath: config.fileURL!.path))
        #expect(config.fileURL!.lastPathComponent == "harbour.realm")
    }

    @Test("The default configuration serves `Realm()` on every actor")
    @MainActor
    func defaultConfiguration() async throws {
        let previous = Realm.Configuration.defaultConfiguration
        defer { Realm.Configuration.defaultConfiguration = previous }
        Realm.Configuration.defaultConfiguration = file.configuration
        let realm1 = try await Realm()
        let realm2 = try await Realm(actor: MainActor.shared)
        #expect(try await use(realm1) == 1)
        #expect(realm2.objects(Todo.self).first?.name == "Order the paint")
        #expect(try await countOnBackgroundActor() == 1)
    }

    @BackgroundActor
    private func countOnBackgroundActor() async throws -> Int {
        let realm = try await Realm(actor: BackgroundActor.shared)
        return realm.objects(Todo.self).count
    }

    @Test("`Realm.open` binds to the caller's actor, too")
    func open() async throws {
        let names = try await Opener().names(configuration: file.configuration)
        #expect(names == ["Pack"])
    }

    private actor Opener {
        func names(configuration: Realm.Configuration) async throws -> [String] {
            let realm = try await Realm.open(configuration: configuration)
            try await realm.asyncWrite {
                realm.create(Todo.self, value: ["name": "Pack"])
            }
            return Array(realm.objects(Todo.self).map(\.name))
        }
    }

    @Test("Opening for an actor from outside of it is refused with a word on where to do it")
    func foreignActor() async throws {
        await #expect(throws: (any Error).self) {
            try await openForeign(file.configuration)
        }
    }

    @MainActor
    private func openForeign(_ configuration: Realm.Configuration) async throws {
        _ = try await Realm(configuration: configuration, actor: BackgroundActor.shared)
    }
}
