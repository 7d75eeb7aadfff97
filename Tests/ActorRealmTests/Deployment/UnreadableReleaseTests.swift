import Foundation
import RealmStorage
import RealmTestSupport
import Testing

@testable import ActorRealm

/// What other processes' releases do to realms that are open for reading only, and to those that are outdated already.
@Suite("Readers beside later releases", .timeLimit(.minutes(60)))
struct UnreadableReleaseTests {
    let directory = TemporaryDirectory()

    private var path: String { directory.path("read.realm") }

    private static func reading(_ configuration: Realm.Configuration) -> Realm.Configuration {
        var configuration = configuration
        configuration.readOnly = true
        return configuration
    }

    /// Opens the file as a release in a process of its own.
    private func runRelease(_ release: ReaderRelease) async {
        let (path, number) = (path, release.rawValue)
        await #expect(processExitsWith: .success) { [path = path as String, number = number as Int] in
            try withNewRealm(ReaderRelease(rawValue: number)!.configuration(path)) { _ in }
        }
    }

    /// A reader and, so that the reader follows the file, a writer of the first release.
    private func open() async throws -> (reader: Program, writer: Program) {
        let writer = try await Program(ReaderRelease.first.configuration(path))
        try await writer.write { realm in
            let dog = realm.create(ReaderModels.Dog.self, value: ["name": "dog", "age": 3])
            realm.create(ReaderModels.Owner.self, value: ["name": "owner", "dogs": [dog]])
        }
        return (try await Program(Self.reading(ReaderRelease.first.configuration(path))), writer)
    }

    private func look(_ program: Program) async -> [String] {
        await program.perform { realm in
            _ = try? realm.core.advanceToNewest()
            let dogs = realm.objects(ReaderModels.Dog.self).map { "\($0.name) \($0.age) \($0.owners.count)" }
            let owners = realm.objects(ReaderModels.Owner.self).map { "\($0.name) \($0.dogs.count)" }
            return Array(dogs) + Array(owners) + ["\(realm.isOutdated)"]
        }
    }

    @Test("A reader stays at its version when a class goes that it reads, and when another one of that name comes")
    func removedClass() async throws {
        let (reader, writer) = try await open()
        #expect(await look(reader) == ["dog 3 1", "owner 1", "false"])
        await runRelease(.withoutOwner)
        #expect(await look(reader) == ["dog 3 1", "owner 1", "true"])
        await runRelease(.withOtherOwner)
        #expect(await look(reader) == ["dog 3 1", "owner 1", "true"])
        withExtendedLifetime(writer) {}
    }

    @Test("A reader that misses the version without the class stays as well")
    func missedVersion() async throws {
        let (reader, writer) = try await open()
        await reader.perform { $0.autorefresh = false }
        await runRelease(.withoutOwner)
        await runRelease(.withOtherOwner)
        #expect(await look(reader) == ["dog 3 1", "owner 1", "true"])
        withExtendedLifetime(writer) {}
    }

    @Test("A reader goes on when properties that it does not declare come before its own, and go")
    func otherProperties() async throws {
        let (reader, writer) = try await open()
        await runRelease(.withMore)
        #expect(await look(reader) == ["dog 3 1", "owner 1", "false"])
        await runRelease(.withoutMore)
        #expect(await look(reader) == ["dog 3 1", "owner 1", "false"])
        withExtendedLifetime(writer) {}
    }

    @Test("A file without an inverse that a program declares is refused for reading only, by the name of the property")
    func missingInverse() throws {
        try withNewRealm(ReaderRelease.alone.configuration(path)) { realm in
            try realm.write { _ = realm.create(ReaderModels.LoneDog.self, value: ["name": "lone", "age": 1]) }
        }
        var configuration = ReaderRelease.first.configuration(path)
        configuration.schemaVersion = ReaderRelease.alone.configuration(path).schemaVersion
        let error = #expect(throws: Realm.Error.self) {
            try withNewRealm(Self.reading(configuration)) { realm in
                // Every access to the class ended the process.
                if !realm.configuration.readOnly { _ = realm.objects(ReaderModels.Dog.self).count }
            }
        }
        #expect(error?.code == .schemaMismatch)
        #expect(error?.message.contains("Dog.owners") == true)
    }

    @Test("A class that comes to a reader without an inverse that it declares makes the reader outdated")
    func missingInverseLater() async throws {
        try withNewRealm(OutdatedRealmTests.configuration(path, [ReaderModels.Other.self], version: 1)) { _ in }
        let types: [ObjectBase.Type] = [ReaderModels.Dog.self, ReaderModels.Owner.self, ReaderModels.Other.self]
        let reader = try await Program(Self.reading(OutdatedRealmTests.configuration(path, types, version: 1)))
        await runRelease(.alone)
        #expect(await reader.perform { (try? $0.core.advanceToNewest()) ?? true } == false)
        #expect(await reader.perform { $0.isOutdated })
    }

    @Test("An outdated realm that is invalidated reads its last version anew")
    func invalidated() async throws {
        let (reader, writer) = try await open()
        await runRelease(.withoutOwner)
        #expect(await look(writer) == ["dog 3 1", "owner 1", "true"])
        let active = await writer.perform { realm in
            realm.invalidate()
            return realm.objects(ReaderModels.Owner.self).map(\.name) as [String]
        }
        #expect(active == ["owner"])
        #expect(await look(writer) == ["dog 3 1", "owner 1", "true"])
        let error = await #expect(throws: Realm.Error.self) { try await writer.write { _ in } }
        #expect(error?.code == .schemaOutdated)
        withExtendedLifetime(reader) {}
    }

    @Test("A realm that was invalidated before a later release changed its classes is outdated and closed")
    func invalidatedBefore() async throws {
        let (reader, writer) = try await open()
        let codes = Journal<Realm.Error.Code>()
        let token = await writer.perform { realm in
            let token = realm.objects(ReaderModels.Dog.self)
                .observe { change in
                    if case .error(let error) = change, let error = error as? Realm.Error { codes.add(error.code) }
                }
            realm.invalidate()
            return token
        }
        await runRelease(.withoutOwner)
        #expect(await writer.perform { $0.objects(ReaderModels.Dog.self).isEmpty })
        #expect(await writer.perform { $0.isOutdated })
        let error = await #expect(throws: Realm.Error.self) { try await writer.write { _ in } }
        #expect(error?.code == .schemaOutdated)
        #expect(await eventually { codes.entries == [.schemaOutdated] })
        // Whoever closes it knows that it is closed.
        await writer.perform { $0.close() }
        let closed = await #expect(throws: Realm.Error.self) { try await writer.write { _ in } }
        #expect(closed?.code == .closed)
        withExtendedLifetime((reader, token)) {}
    }

    @Test("What is frozen thaws to nothing beside a later release, where no realm is open")
    func thawed() async throws {
        let (reader, writer) = try await open()
        let dogs = await writer.perform { $0.objects(ReaderModels.Dog.self).frozen }
        let dog = await writer.perform { $0.objects(ReaderModels.Dog.self).first!.frozen }
        for program in [reader, writer] { await program.perform { $0.close() } }
        await runRelease(.withoutOwner)
        let here = try Elsewhere()
        let (isOutdated, isClosed, code) = await here.thaw(dogs, dog)
        #expect(isOutdated && isClosed)
        #expect(code == .schemaOutdated)
    }

    /// A place without a realm.
    private actor Elsewhere {
        init() throws {}

        func thaw(_ dogs: Frozen<Results<ReaderModels.Dog>>, _ dog: Frozen<ReaderModels.Dog>) -> (
            Bool, Bool, Realm.Error.Code?
        ) {
            #expect(dogs.value.thaw() == nil)
            #expect(dog.value.thaw() == nil)
            #expect(dogs.value.map(\.name) == ["dog"])
            guard let realm = dogs.value.realm?.thaw() else { return (false, false, nil) }
            let error = #expect(throws: Realm.Error.self) { try realm.write {} }
            return (realm.isOutdated, realm.isClosed, error?.code)
        }
    }
}

/// The classes of the releases.
enum ReaderModels {
    class Dog: Object {
        @Persisted var name: String
        @Persisted var age: Int
        @Persisted(originProperty: "dogs") var owners: LinkingObjects<Owner>
        override class func _realmObjectName() -> String? { "Dog" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
    }

    class Owner: Object {
        @Persisted var name: String
        @Persisted var dogs: List<Dog>
        override class func _realmObjectName() -> String? { "Owner" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
    }

    class Other: Object {
        @Persisted var number: Int
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
    }

    class LoneDog: Object {
        @Persisted var name: String
        @Persisted var age: Int
        override class func _realmObjectName() -> String? { "Dog" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
    }

    class LoneOwner: Object {
        @Persisted var name: String
        @Persisted var dogs: List<LoneDog>
        override class func _realmObjectName() -> String? { "Owner" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
    }

    class LargeDog: Object {
        @Persisted var before: String
        @Persisted var list: List<Int>
        @Persisted var name: String
        @Persisted var between: Int?
        @Persisted var age: Int
        @Persisted(originProperty: "dogs") var owners: LinkingObjects<LargeOwner>
        override class func _realmObjectName() -> String? { "Dog" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
    }

    class LargeOwner: Object {
        @Persisted var before: String
        @Persisted var name: String
        @Persisted var dogs: List<LargeDog>
        override class func _realmObjectName() -> String? { "Owner" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
    }
}

/// The releases of a program whose file somebody only reads.
enum ReaderRelease: Int {
    case first, withoutOwner, withOtherOwner, withMore, withoutMore, alone

    func configuration(_ path: String) -> Realm.Configuration {
        let both: [ObjectBase.Type] = [ReaderModels.Dog.self, ReaderModels.Owner.self]
        let types: [ObjectBase.Type]
        switch self {
        case .first, .withOtherOwner, .withoutMore: types = both
        case .withoutOwner, .alone: types = [ReaderModels.LoneDog.self]
        case .withMore: types = [ReaderModels.LargeDog.self, ReaderModels.LargeOwner.self]
        }
        let version = UInt64(rawValue + 1)
        return OutdatedRealmTests.configuration(path, types, version: version) { migration, _ in
            if self == .withoutOwner { migration.deleteData(forType: "Owner") }
        }
    }
}
