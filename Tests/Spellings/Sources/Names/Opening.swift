import ActorRealm
import Foundation

extension Names {
    /// Section 1.1: opening.
    mutating func opening() {
        let configuration = Realm.Configuration.defaultConfiguration
        group("Realm.init()", "Realm.init(queue:)", "Realm.init(configuration:)", "Realm.init(configuration:queue:)") {
            expect(Realm.self, try Realm())
            _ = try Realm(queue: nil)
            _ = try Realm(queue: .main)
            _ = try Realm(configuration: configuration)
            _ = try Realm(configuration: configuration, queue: DispatchQueue(label: "names"))
            _ = try Realm(configuration: configuration, queue: nil)
        }
        group("Realm.init(fileURL:)") { _ = try Realm(fileURL: URL(fileURLWithPath: "names.realm")) }
        group("Realm.performMigration(for:)", "Realm.performMigration()") {
            try Realm.performMigration(for: configuration)
            try Realm.performMigration()
        }
    }

    /// Section 1.1: opening where tasks wait.
    @MainActor mutating func openingOnTheMainActor() {
        let configuration = Realm.Configuration.defaultConfiguration
        group("Realm.init() async", "Realm.init(configuration:) async", "Realm.init(configuration:actor:) async") {
            let realm: Realm = try await Realm()
            let other = try await Realm(configuration: configuration)
            let third = try await Realm(configuration: configuration, actor: MainActor.shared)
            let fourth = try await Realm(actor: MainActor.shared)
            expect([Realm].self, [realm, other, third, fourth])
        }
        group("Realm.open()", "Realm.open(configuration:)", "Realm.open(configuration:_isolation:)") {
            let realm: Realm = try await Realm.open()
            let other = try await Realm.open(configuration: configuration)
            let third = try await Realm.open(configuration: configuration, _isolation: MainActor.shared)
            expect([Realm].self, [realm, other, third])
        }
    }
}

/// An actor with a realm of its own.
actor RealmActor {
    var realm: Realm!

    init() async throws { realm = try await Realm(actor: self) }

    func opened() async throws {
        realm = try await Realm.open(configuration: .defaultConfiguration)
        realm = try await Realm(configuration: .defaultConfiguration, actor: self)
    }

    func count() -> Int { realm.objects(Dog.self).count }

    func deleteDog(_ reference: ThreadSafeReference<Dog>) throws {
        let realm = try! Realm()
        try realm.write {
            guard let dog = realm.resolve(reference) else { return }
            realm.delete(dog)
        }
    }

    func createDog(name: String) async throws {
        try await realm.asyncWrite {
            realm.create(Dog.self, value: ["_id": ObjectId.generate(), "name": name])
        }
    }

    func close() { realm = nil }
}

@Background
func openedInTheBackground() async throws -> Realm { try await Realm(actor: Background.shared) }
