import Foundation
import RealmModel
import RealmStorage
import RealmTestSupport
import Testing

@testable import ActorRealm

/// A program that keeps its realm open while another process changes the schema of the file.
@Suite("Outdated realms", .timeLimit(.minutes(60)))
struct OutdatedRealmTests {
    let directory = TemporaryDirectory()

    private var path: String { directory.path("shared.realm") }

    /// A release of the program as one process runs it.
    static func configuration(
        _ path: String,
        _ types: [ObjectBase.Type],
        version: UInt64,
        _ block: MigrationBlock? = nil
    ) -> Realm.Configuration {
        var configuration = Realm.Configuration(
            fileURL: URL(fileURLWithPath: path),
            schemaVersion: version,
            migrationBlock: block,
            objectTypes: types
        )
        configuration.durability = .unflushed
        return configuration
    }

    static func first(_ path: String) -> Realm.Configuration {
        configuration(path, [Release1.Item.self, Release1.Extra.self], version: 1)
    }

    static func second(_ path: String) -> Realm.Configuration {
        configuration(path, [Release2.Item.self], version: 2) { migration, _ in
            migration.enumerateObjects(ofType: "Item") { _, new in new?["c"] = "c of the second release" }
            migration.deleteData(forType: "Extra")
        }
    }

    private func verify() throws {
        try FileVerifier.verify(StorageFile.open(path: path, options: StorageOptions()).beginRead())
    }

    @Test("A realm that stays open while another process removes a property reads and writes no other property instead")
    func removedProperty() async throws {
        let program = try await Program(Self.first(path))
        try await program.write { realm in
            realm.create(Release1.Item.self, value: ["id": 1, "n": 7, "a": "a of 1", "b": "b of 1"])
            realm.create(Release1.Extra.self, value: ["id": 1, "text": "extra"])
        }
        await #expect(processExitsWith: .success) { [path = path as String] in
            try withNewRealm(OutdatedRealmTests.second(path)) { realm in
                #expect(realm.objects(Release2.Item.self).map(\.c) == ["c of the second release"])
            }
        }
        #expect(await program.perform { $0.refresh() } == false)
        let seen = await program.perform { realm in
            realm.objects(Release1.Item.self).map { "\($0.id) \($0.n) \($0.a) \($0.b)" } as [String]
        }
        #expect(seen == ["1 7 a of 1 b of 1"])
        await #expect(throws: Realm.Error.self) {
            try await program.write { realm in realm.objects(Release1.Item.self).first?.a = "A from the first release" }
        }
        await #expect(processExitsWith: .success) { [path = path as String] in
            try withNewRealm(OutdatedRealmTests.second(path)) { realm in
                #expect(realm.objects(Release2.Item.self).map(\.b) == ["b of 1"])
            }
        }
    }

    @Test(
        "The error of an outdated realm says in its details which class and which property changed",
        .secondProcess,
        arguments: [false, true]
    )
    func details(isClassRemoved: Bool) async throws {
        let types: [ObjectBase.Type] = isClassRemoved ? [Release1.Extra.self] : [Release1.Item.self]
        let program = try await Program(Self.configuration(path, types, version: 1))
        await #expect(processExitsWith: .success) { [path = path as String] in
            try withNewRealm(OutdatedRealmTests.second(path)) { _ in }
        }
        let error = await #expect(throws: Realm.Error.self) { try await program.write { _ in } }
        #expect(error?.code == .schemaOutdated)
        let expected =
            isClassRemoved
            ? Realm.Error.Details(className: "Extra") : Realm.Error.Details(className: "Item", propertyName: "a")
        #expect(error?.details == expected, "\(String(describing: error))")
    }

    @Test("Where the classes do not fit a file, the error says in its details which class and which property do not")
    func detailsOfMismatch() throws {
        try withNewRealm(Self.configuration(path, [Release1.Item.self], version: 1)) { _ in }
        let removed = Realm.Error.Details(className: "Item", propertyName: "a")
        var declared = Self.configuration(path, [Release2.Item.self], version: 1)
        let mismatch = #expect(throws: Realm.Error.self) { try withNewRealm(declared) { _ in } }
        #expect(mismatch?.code == .schemaMismatch && mismatch?.details == removed, "\(String(describing: mismatch))")
        declared.schemaVersion = 2
        declared.readOnly = true
        let readOnly = #expect(throws: Realm.Error.self) { try withNewRealm(declared) { _ in } }
        #expect(readOnly?.code == .schemaMismatch && readOnly?.details == removed, "\(String(describing: readOnly))")
        #expect(readOnly?.message.contains("The read-only file has a property 'Item.a'") == true)
    }

    @Test("A new opening in a process that stays open notices that another one has migrated the file")
    func openedAgain() async throws {
        let program = try await Program(Self.first(path))
        await #expect(processExitsWith: .success) { [path = path as String] in
            try withNewRealm(OutdatedRealmTests.second(path)) { _ in }
        }
        let error = #expect(throws: Realm.Error.self) { try withNewRealm(Self.first(path)) { _ in } }
        // It says what to do, as where the file is opened for the first time.
        #expect(error?.code == .schemaMismatch)
        withExtendedLifetime(program) {}
    }

    @Test("An outdated realm that was invalidated lets go of its version when it is closed")
    func closedAfterInvalidating() async throws {
        let program = try await Program(Self.first(path))
        try await program.write { realm in
            realm.create(Release1.Item.self, value: ["id": 1, "n": 7, "a": "a of 1", "b": "b of 1"])
        }
        await #expect(processExitsWith: .success) { [path = path as String] in
            try withNewRealm(OutdatedRealmTests.second(path)) { _ in }
        }
        let held = try await program.perform { realm in
            #expect(realm.refresh() == false)
            realm.invalidate()
            return try StorageFile.open(path: realm.configuration.fileURL!.path).activeVersions().map(\.version)
        }
        #expect(held.count == 1)
        await program.perform { $0.close() }
        let left = try StorageFile.open(path: path).activeVersions().map(\.version)
        #expect(Set(left).isDisjoint(with: held))
        withExtendedLifetime(program) {}
    }

    final class Older: Object {
        override class func _realmObjectName() -> String? { "Grown" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
        @Persisted var n: Int
        @Persisted var a: String
    }

    /// With properties before those of the release before.
    final class Newer: Object {
        override class func _realmObjectName() -> String? { "Grown" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
        @Persisted var first: Int
        @Persisted var second: String
        @Persisted var n: Int
        @Persisted var a: String
    }

    /// A release between, without one of the properties.
    final class Between: Object {
        override class func _realmObjectName() -> String? { "Grown" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
        @Persisted var a: String
    }

    private actor Holder {
        private var found: Results<Older>?

        func fill(_ configuration: Realm.Configuration) async throws {
            let realm = try await Realm(configuration: configuration, actor: self)
            // It comes to a version when it is told to look, and not to those between.
            realm.autorefresh = false
            try realm.write { for n in 1...3 { realm.create(Older.self, value: ["n": n, "a": "a of \(n)"]) } }
            found = realm.objects(Older.self).filter("n >= 2").sorted(byKeyPath: "a", ascending: false)
        }

        func look() throws -> [String] {
            let found = try #require(found)
            found.realm?.refresh()
            return found.map(\.a)
        }
    }

    @Test("Results are kept while another process adds properties before those that they ask for")
    func addedProperties() async throws {
        let holder = Holder()
        try await holder.fill(Self.configuration(path, [Older.self], version: 1))
        #expect(try await holder.look() == ["a of 3", "a of 2"])
        await #expect(processExitsWith: .success) { [path = path as String] in
            let configuration = OutdatedRealmTests.configuration(path, [Newer.self], version: 2)
            try withNewRealm(configuration) { realm in
                try realm.write { _ = realm.create(Newer.self, value: ["first": 1, "n": 4, "a": "a of 4"]) }
            }
        }
        #expect(try await holder.look() == ["a of 4", "a of 3", "a of 2"])
    }

    @Test("Results are kept while a property goes and comes again, behind the one that they are sorted by")
    func movedProperties() async throws {
        let holder = Holder()
        try await holder.fill(Self.configuration(path, [Older.self], version: 1))
        #expect(try await holder.look() == ["a of 3", "a of 2"])
        await #expect(processExitsWith: .success) { [path = path as String] in
            try withNewRealm(OutdatedRealmTests.configuration(path, [Between.self], version: 2)) { _ in }
            try withNewRealm(OutdatedRealmTests.configuration(path, [Older.self], version: 3)) { realm in
                let objects = Array(realm.objects(Older.self).sorted(byKeyPath: "a"))
                try realm.write { for (object, n) in zip(objects, [9, 8, 1]) { object.n = n } }
            }
        }
        #expect(try await holder.look() == ["a of 2", "a of 1"])
    }

    @Test("A realm that stays open while another process removes a class writes nothing to it")
    func removedClass() async throws {
        let program = try await Program(Self.first(path))
        try await program.write { realm in
            realm.create(Release1.Extra.self, value: ["id": 1, "text": "extra"])
        }
        await #expect(processExitsWith: .success) { [path = path as String] in
            try withNewRealm(OutdatedRealmTests.second(path)) { _ in }
        }
        await #expect(throws: Realm.Error.self) {
            try await program.write { $0.create(Release1.Extra.self, value: ["id": 2, "text": "lost"]) }
        }
        #expect(await program.perform { $0.objects(Release1.Extra.self).map(\.text) as [String] } == ["extra"])
        try verify()
        // A copy is one of the file, and not of what the realm still reads.
        let copy = directory.path("copy.realm")
        try await program.perform { try $0.writeCopy(toFile: URL(fileURLWithPath: copy)) }
        try FileVerifier.verify(StorageFile.open(path: copy, options: StorageOptions()).beginRead())
        try withNewRealm(Self.second(copy)) { realm in
            #expect(realm.objects(Release2.Item.self).isEmpty)
        }
    }

    // MARK: Indexes and rules that some declare

    private static func plain(_ path: String) -> Realm.Configuration {
        configuration(path, [Rules.Plain.self], version: 1)
    }

    private static func indexed(_ path: String) -> Realm.Configuration {
        configuration(path, [Rules.Indexed.self], version: 1)
    }

    private static func unique(_ path: String) -> Realm.Configuration {
        configuration(path, [Rules.Unique.self], version: 1)
    }

    private static func row(_ id: Int, n: Int = 0, _ text: String) -> [String: Any] {
        ["id": id, "n": n, "text": text]
    }

    private var newestVersion: UInt64 {
        get throws { try StorageFile.open(path: path, options: StorageOptions()).newestVersion }
    }

    @Test("Results over an index show what a process writes that does not declare it", .secondProcess)
    func undeclaredIndex() async throws {
        let program = try await Program(Self.indexed(path))
        try await program.write { realm in
            realm.create(Rules.Indexed.self, value: Self.row(1, n: 7, "one"))
            realm.create(Rules.Indexed.self, value: Self.row(2, n: 8, "two"))
        }
        await program.hold { $0.objects(Rules.Indexed.self).filter("n == 7") }
        #expect(await program.heldIDs() == [[1]])
        await #expect(processExitsWith: .success) { [path = path as String] in
            try withNewRealm(OutdatedRealmTests.plain(path)) { realm in
                try realm.write {
                    realm.create(Rules.Plain.self, value: OutdatedRealmTests.row(3, n: 7, "three"))
                    realm.object(ofType: Rules.Plain.self, forPrimaryKey: 2)?.n = 7
                    realm.object(ofType: Rules.Plain.self, forPrimaryKey: 1)?.n = 6
                }
            }
        }
        await program.perform { _ = $0.refresh() }
        await program.hold { $0.objects(Rules.Indexed.self).filter("n == 7") }
        #expect(await program.heldIDs() == [[2, 3], [2, 3]])
        try await program.write { $0.object(ofType: Rules.Indexed.self, forPrimaryKey: 3)?.n = 9 }
        #expect(await program.heldIDs() == [[2], [2]])
        try verify()
    }

    @Test("A unique rule holds for a process that does not declare it, as long as another one does", .secondProcess)
    func undeclaredRule() async throws {
        let program = try await Program(Self.unique(path))
        try await program.write { $0.create(Rules.Unique.self, value: Self.row(1, "one")) }
        await #expect(processExitsWith: .success) { [path = path as String] in
            try withNewRealm(OutdatedRealmTests.plain(path)) { realm in
                let inserted = #expect(throws: Realm.Error.self) {
                    try realm.write { _ = try realm.insert(Rules.Plain.self, value: OutdatedRealmTests.row(2, "one")) }
                }
                #expect(inserted?.code == .duplicateValue)
                try realm.write { realm.create(Rules.Plain.self, value: OutdatedRealmTests.row(3, "three")) }
                let assigned = #expect(throws: Realm.Error.self) {
                    try realm.write { realm.object(ofType: Rules.Plain.self, forPrimaryKey: 3)?.text = "one" }
                }
                #expect(assigned?.code == .duplicateValue)
            }
        }
        let error = await #expect(throws: Realm.Error.self) {
            try await program.write { _ = try $0.insert(Rules.Unique.self, value: Self.row(4, "three")) }
        }
        #expect(error?.code == .duplicateValue)
        let texts = await program.perform { $0.objects(Rules.Unique.self).map(\.text) as [String] }
        #expect(texts.sorted() == ["one", "three"])
        try verify()
    }

    @Test("A rule that a later process declares binds the one that does not, also when that opens anew", .secondProcess)
    func addedRule() async throws {
        let program = try await Program(Self.plain(path))
        try await program.write { $0.create(Rules.Plain.self, value: Self.row(1, "one")) }
        await #expect(processExitsWith: .success) { [path = path as String] in
            try withNewRealm(OutdatedRealmTests.unique(path)) { #expect($0.objects(Rules.Unique.self).count == 1) }
        }
        let version = try newestVersion
        let error = await #expect(throws: Realm.Error.self) {
            try await program.write { _ = try $0.insert(Rules.Plain.self, value: Self.row(2, "one")) }
        }
        #expect(error?.code == .duplicateValue)
        #expect(try newestVersion == version)
        let later = try await Program(Self.unique(path))
        let second = try await Program(Self.plain(path))
        #expect(try newestVersion == version)
        for program in [program, second] {
            let error = await #expect(throws: Realm.Error.self) {
                try await program.write { _ = try $0.insert(Rules.Plain.self, value: Self.row(2, "one")) }
            }
            #expect(error?.code == .duplicateValue)
        }
        await #expect(processExitsWith: .success) { [path = path as String] in
            try withNewRealm(OutdatedRealmTests.plain(path)) { realm in
                let error = #expect(throws: Realm.Error.self) {
                    try realm.write { _ = try realm.insert(Rules.Plain.self, value: OutdatedRealmTests.row(2, "one")) }
                }
                #expect(error?.code == .duplicateValue)
            }
        }
        #expect(try newestVersion == version)
        withExtendedLifetime(later) {}
        try await second.write { $0.create(Rules.Plain.self, value: Self.row(2, "two")) }
        await program.perform { _ = $0.refresh() }
        #expect(await program.perform { $0.objects(Rules.Plain.self).count } == 2)
        try verify()
    }

    @Test("A process that declares a rule which the data breaks does not open, and changes nothing", .secondProcess)
    func brokenRule() async throws {
        let program = try await Program(Self.plain(path))
        try await program.write { realm in
            for id in 1...2 { realm.create(Rules.Plain.self, value: Self.row(id, "same")) }
        }
        let version = try newestVersion
        await #expect(processExitsWith: .success) { [path = path as String] in
            let error = #expect(throws: Realm.Error.self) {
                try withNewRealm(OutdatedRealmTests.unique(path)) { _ in }
            }
            #expect(error?.code == .duplicateValue)
        }
        #expect(try newestVersion == version)
        try await program.write { $0.create(Rules.Plain.self, value: Self.row(3, "same")) }
        #expect(await program.perform { $0.objects(Rules.Plain.self).count } == 3)
        try verify()
    }

    @Test("A second actor is refused behind another process's migration, but not behind an added index", .secondProcess)
    func secondActor() async throws {
        let program = try await Program(Self.plain(path))
        try await program.write { $0.create(Rules.Plain.self, value: Self.row(1, n: 7, "one")) }
        await #expect(processExitsWith: .success) { [path = path as String] in
            try withNewRealm(OutdatedRealmTests.indexed(path)) { realm in
                #expect(realm.objects(Rules.Indexed.self).filter("n == 7").count == 1)
            }
        }
        let second = try await Program(Self.plain(path))
        try await second.write { $0.create(Rules.Plain.self, value: Self.row(2, n: 7, "two")) }
        #expect(await second.perform { $0.objects(Rules.Plain.self).filter("n == 7").count } == 2)
        #expect(await program.perform { $0.isOutdated } == false)

        let other = directory.path("migrated.realm")
        let old = try await Program(Self.first(other))
        try await old.write { realm in
            realm.create(Release1.Item.self, value: ["id": 1, "n": 7, "a": "a of 1", "b": "b of 1"])
        }
        await #expect(processExitsWith: .success) { [other = other as String] in
            try withNewRealm(OutdatedRealmTests.second(other)) { _ in }
        }
        let error = await #expect(throws: Realm.Error.self) { _ = try await Program(Self.first(other)) }
        #expect(error?.code == .schemaMismatch)
        #expect(await old.perform { $0.objects(Release1.Item.self).map(\.a) as [String] } == ["a of 1"])
        try verify()
    }
}

/// A class that two releases declare with different delete rules.
private enum Ruled {
    class Child: Object {
        override class func _realmObjectName() -> String? { "Child" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
        @Persisted var n: Int
    }

    class Cascading: Object {
        override class func _realmObjectName() -> String? { "Parent" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
        @Persisted(primaryKey: true) var id: Int
        @Persisted(onDelete: .cascade) var children: List<Child>
    }

    class Denying: Object {
        override class func _realmObjectName() -> String? { "Parent" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
        @Persisted(primaryKey: true) var id: Int
        @Persisted(onDelete: .deny) var children: List<Child>
    }
}

extension OutdatedRealmTests {
    @Test("A release that denies a deletion binds the one that would delete more, which goes on", .secondProcess)
    func denyBesideCascade() async throws {
        let directory = TemporaryDirectory()
        let path = directory.path("rules.realm")
        let program = try await Program(Self.configuration(path, [Ruled.Cascading.self], version: 1))
        try await program.write { realm in
            for id in 1...2 {
                realm.create(Ruled.Cascading.self, value: ["id": id, "children": [["n": 1], ["n": 2]]])
            }
        }
        await #expect(processExitsWith: .success) { [path = path as String] in
            let configuration = OutdatedRealmTests.configuration(path, [Ruled.Denying.self], version: 1)
            try withNewRealm(configuration) { realm in
                let parent = try #require(realm.object(ofType: Ruled.Denying.self, forPrimaryKey: 1))
                let error = #expect(throws: Realm.Error.self) { try realm.write { realm.delete(parent) } }
                #expect(error?.code == .deletionDenied)
            }
        }
        let error = await #expect(throws: Realm.Error.self) {
            try await program.write { realm in realm.delete(realm.objects(Ruled.Cascading.self)) }
        }
        #expect(error?.code == .deletionDenied)
        #expect(await program.perform { !$0.isOutdated && $0.objects(Ruled.Child.self).count == 4 })
        try await program.write { realm in realm.create(Ruled.Cascading.self, value: ["id": 3]) }
    }

    @Test("An outdated realm keeps its file from being deleted, also behind another one in its place", .secondProcess)
    func outdatedAndReplaced() async throws {
        let directory = TemporaryDirectory()
        let path = directory.path("replaced.realm")
        let program = try await Program(Self.first(path))
        try await program.write { realm in
            realm.create(Release1.Item.self, value: ["id": 1, "n": 7, "a": "a of 1", "b": "b"])
        }
        await #expect(processExitsWith: .success) { [path = path as String] in
            try withNewRealm(OutdatedRealmTests.second(path)) { _ in }
        }
        #expect(await program.perform { !$0.refresh() && $0.isOutdated })
        try await program.openAndCloseAgain(Self.second(path))
        let error = #expect(throws: Realm.Error.self) { try Realm.deleteFiles(for: Self.second(path)) }
        #expect(error?.code == .alreadyOpen)
        #expect(await program.perform { $0.objects(Release1.Item.self).map(\.a) } == ["a of 1"])
        await program.perform { $0.close() }
        #expect(try Realm.deleteFiles(for: Self.second(path)))
    }
}

/// A program with a realm of its own.
actor Program {
    private(set) var realm: Realm!
    /// The loops over changes that have begun.
    var loopsBegun = 0
    /// Results that are kept from version to version.
    private var held: [Results<Rules.Indexed>] = []
    private var transaction: Realm.AsyncTransaction?

    init(_ configuration: Realm.Configuration) async throws {
        realm = try await Realm(configuration: configuration, actor: self)
    }

    func perform<Result: Sendable>(_ body: @Sendable (Realm) throws -> Result) rethrows -> Result { try body(realm) }

    func write(_ body: @Sendable (Realm) throws -> Void) throws {
        try realm.write { try body(realm) }
    }

    func begin() async throws { transaction = try await realm.beginAsyncWrite() }

    func openAndCloseAgain(_ configuration: Realm.Configuration) throws {
        try Realm(configuration: configuration).close()
    }

    func commit() async throws {
        try await transaction?.commit()
        transaction = nil
    }

    func hold(_ results: @Sendable (Realm) -> Results<Rules.Indexed>) { held.append(results(realm)) }

    /// What the results that are kept show, in order.
    func heldIDs() -> [[Int]] { held.map { $0.map(\.id).sorted() } }

    func asyncWrite(_ body: @Sendable (Realm) throws -> Void) async throws {
        try await realm.asyncWrite { try body(realm) }
    }
}
