import Foundation
import RealmModel
import RealmStorage
import RealmTestSupport
import Synchronization
import Testing

@testable import ActorRealm

/// Indexes and rules that go while processes have the file open which do not declare them.
@Suite("Rules that nobody declares any more", .timeLimit(.minutes(60)))
struct WithdrawnRuleTests {
    let directory = TemporaryDirectory()

    private var path: String { directory.path("ruled.realm") }

    final class Strict: Object {
        override class func _realmObjectName() -> String? { "Ruled" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
        override class func compoundIndexes() -> [CompoundIndex] { [CompoundIndex("text", "n", unique: true)] }
        @Persisted(primaryKey: true) var id: Int
        @Persisted(indexed: true) var n: Int
        @Persisted(unique: true) var text: String
    }

    private static func configuration(_ path: String, _ type: ObjectBase.Type) -> Realm.Configuration {
        OutdatedRealmTests.configuration(path, [type], version: 1)
    }

    /// The class as the newest version of the file has it.
    private var stored: ClassSchema? {
        get throws {
            try SchemaReconciler.storedSchema(of: StorageFile.open(path: path, options: StorageOptions()).beginRead())?[
                "Ruled"
            ]
        }
    }

    /// Expects that a realm which was prepared begins no more, because what it declares was put aside meanwhile.
    private func expectOutdated(
        _ coordinator: RealmCoordinator,
        _ configuration: Realm.Configuration,
        at location: SourceLocation = #_sourceLocation
    ) {
        #expect(sourceLocation: location) {
            _ = try coordinator.core(
                orCurrent: nil,
                configuration: configuration,
                origin: ReaderOrigin(fileID: #fileID, line: #line)
            )
        } throws: {
            ($0 as? Realm.Error)?.code == .schemaOutdated
        }
    }

    /// A program that keeps results and a loop over their changes.
    private actor Watcher {
        private var found: Results<Rules.Plain>?
        private var iterator: CollectionChanges<Results<Rules.Plain>>.Iterator?

        func begin(_ configuration: Realm.Configuration) async throws -> [Int] {
            let realm = try await Realm(configuration: configuration, actor: self)
            try realm.write {
                for (id, text) in [(1, "one"), (2, "two")] {
                    realm.create(Rules.Plain.self, value: ["id": id, "n": id + 6, "text": text])
                }
            }
            found = realm.objects(Rules.Plain.self).filter("n >= 7").sorted(byKeyPath: "text")
            iterator = found?.changes().makeAsyncIterator()
            return try await next()
        }

        /// What the next change delivers.
        func next() async throws -> [Int] {
            guard var iterator = self.iterator, let change = await iterator.next() else { return [] }
            self.iterator = iterator
            return try #require(change.collection).map(\.id)
        }

        func look() throws -> [Int] {
            let found = try #require(found)
            found.realm?.refresh()
            #expect(found.realm?.isOutdated == false)
            return found.map(\.id)
        }

        func create(_ id: Int, _ text: String) throws {
            let realm = try #require(found?.realm)
            try realm.write { _ = realm.create(Rules.Plain.self, value: ["id": id, "n": 7, "text": text]) }
        }
    }

    @Test("They go with the next opening, beside a process that reads by them, observes and writes", .secondProcess)
    func besideOthers() async throws {
        let watcher = Watcher()
        #expect(try await watcher.begin(Self.configuration(path, Rules.Plain.self)) == [1, 2])
        await #expect(processExitsWith: .success) { [path = path as String] in
            try withNewRealm(WithdrawnRuleTests.configuration(path, Strict.self)) { realm in
                try realm.write { _ = realm.create(Strict.self, value: ["id": 3, "n": 9, "text": "three"]) }
            }
        }
        #expect(try await watcher.next() == [1, 3, 2])
        #expect(try await watcher.look() == [1, 3, 2])
        #expect(try stored?["text"]?.isUnique == true && stored?["n"]?.isIndexed == true)
        #expect(try stored?.compoundIndexes.count == 1)
        await #expect(processExitsWith: .success) { [path = path as String] in
            try withNewRealm(WithdrawnRuleTests.configuration(path, Rules.Plain.self)) { realm in
                try realm.write { _ = realm.create(Rules.Plain.self, value: ["id": 4, "n": 7, "text": "one"]) }
            }
        }
        #expect(try stored?["text"]?.isUnique == false && stored?["text"]?.isIndexed == false)
        #expect(try stored?["n"]?.isIndexed == false && stored?.compoundIndexes.isEmpty == true)
        #expect(try await watcher.next() == [1, 4, 3, 2])
        #expect(try await watcher.look() == [1, 4, 3, 2])
        try await watcher.create(5, "two")
        #expect(try await watcher.look() == [1, 4, 3, 2, 5])
        try FileVerifier.verify(StorageFile.open(path: path, options: StorageOptions()).beginRead())
    }

    @Test("One that a realm of this process declares stays, whoever opens the file, until others are declared alone")
    func declaredHere() async throws {
        let strict = try await Program(Self.configuration(path, Strict.self))
        let plain = try await Program(Self.configuration(path, Rules.Plain.self))
        await #expect(processExitsWith: .success) { [path = path as String] in
            try withNewRealm(WithdrawnRuleTests.configuration(path, Rules.Plain.self)) { _ in }
        }
        #expect(try stored?["text"]?.isUnique == true && stored?["n"]?.isIndexed == true)
        #expect(try stored?.compoundIndexes.first?.isUnique == true)
        await strict.perform { $0.close() }
        await plain.perform { $0.close() }
        // Both are closed, and hold the file open.
        let both = OutdatedRealmTests.configuration(path, [Rules.Plain.self, Beside.self], version: 1)
        try withNewRealm(both) { _ in }
        #expect(try stored?["text"]?.isUnique == false && stored?.compoundIndexes.isEmpty == true)
        withExtendedLifetime((strict, plain)) {}
    }

    @Test("What an opening declares is noted when its realm is there, whoever opens the file alone meanwhile")
    func openedMeanwhile() async throws {
        let configuration = Self.configuration(path, Strict.self)
        let coordinator = try Realm.prepare(configuration)
        // Finds no realm that is open, and puts aside what the opening has declared.
        let plain = try await Program(Self.configuration(path, Rules.Plain.self))
        #expect(try stored?["text"]?.isUnique == false && stored?["n"]?.isIndexed == false)
        expectOutdated(coordinator, configuration)
        // So it begins anew.
        let strict = try await Program(configuration)
        #expect(try stored?["text"]?.isUnique == true && stored?["n"]?.isIndexed == true)
        let numbers = try DeclaredSchema.make(for: configuration).ruleNumbers
        #expect(!numbers.isEmpty && numbers.allSatisfy(coordinator.file.declaredRules.contains))
        withExtendedLifetime((plain, strict)) {}
    }

    @Test("One that another opening put aside and could not drop is declared again before the realm is there")
    func putAsideAndKept() async throws {
        let configuration = Self.configuration(path, Strict.self)
        let coordinator = try Realm.prepare(configuration)
        let numbers = try DeclaredSchema.make(for: configuration).ruleNumbers
        let plain: Program
        do {
            let lock = try ForeignWriteLock(of: path)
            // Finds no realm that is open, puts aside what the opening has declared, and gets no turn to drop it.
            plain = try await Program(Self.configuration(path, Rules.Plain.self))
            lock.release()
        }
        #expect(try stored?["text"]?.isUnique == true && stored?["n"]?.isIndexed == true)
        #expect(!coordinator.file.hasDeclaredRules(numbers))
        // Whatever the file has: nobody knows that it is to stay.
        expectOutdated(coordinator, configuration)
        let strict = try await Program(configuration)
        #expect(coordinator.file.hasDeclaredRules(numbers))
        await plain.perform { $0.close() }
        try withNewRealm(OutdatedRealmTests.configuration(path, [Rules.Plain.self, Beside.self], version: 1)) { _ in }
        #expect(try stored?["text"]?.isUnique == true)
        await strict.perform { _ = $0.refresh() }
        #expect(await strict.perform { $0.isOutdated } == false)
        withExtendedLifetime((plain, strict)) {}
    }

    @Test("One that is declared while it is being dropped stays, with a migration and without", arguments: [1, 2])
    func declaredWhileDropped(version: UInt64) throws {
        let strict = Self.configuration(path, Strict.self)
        try withNewRealm(strict) { realm in
            try realm.write { _ = realm.create(Strict.self, value: ["id": 1, "n": 7, "text": "one"]) }
        }
        let coordinator = try Realm.prepare(strict)
        let numbers = try DeclaredSchema.make(for: strict).ruleNumbers
        // Another process's, as far as the lock file is concerned.
        let looks = Counter()
        coordinator.didLookForRules = {
            // In a migration the first look is at what its block may rely on.
            guard looks.increment() == version else { return }
            Thread.detachNewThread { coordinator.file.declareRules(numbers) { false } }
            while !numbers.allSatisfy(coordinator.file.declaredRules.contains) { sched_yield() }
        }
        defer { coordinator.didLookForRules = nil }
        let type: ObjectBase.Type = version == 1 ? Rules.Plain.self : Later.self
        try withNewRealm(OutdatedRealmTests.configuration(path, [type], version: version) { _, _ in }) { _ in }
        #expect(looks.value > Int(version))
        #expect(try stored?["text"]?.isUnique == true && stored?["n"]?.isIndexed == true)
        #expect(try stored?.compoundIndexes.first?.isUnique == true)
        #expect(try stored?["note"] == nil || version == 2)
        try FileVerifier.verify(coordinator.file.beginRead())
    }

    /// Another class, so that a program may open the file with one class or with both.
    final class Beside: Object {
        override class func _realmObjectName() -> String? { "BesideRuled" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
        @Persisted var n: Int
    }

    @Test("An opening inside a transaction, and one beside another's, leave them to the next one", .secondProcess)
    func besideWriters() async throws {
        let both = OutdatedRealmTests.configuration(path, [Rules.Plain.self, Beside.self], version: 1)
        let one = Self.configuration(path, Rules.Plain.self)
        let other = OutdatedRealmTests.configuration(path, [Beside.self], version: 1)
        let program = try await Program(both)
        await #expect(processExitsWith: .success) { [path = path as String] in
            try withNewRealm(WithdrawnRuleTests.configuration(path, Strict.self)) { _ in }
        }
        try await program.write { realm in
            realm.create(Rules.Plain.self, value: ["id": 1, "n": 7, "text": "one"])
            let isInTransaction = try Realm(configuration: one).isInWriteTransaction
            #expect(isInTransaction)
        }
        #expect(try stored?["text"]?.isUnique == true)
        try await program.begin()
        let second = try await Program(both)
        #expect(await second.perform { $0.objects(Rules.Plain.self).count } == 1)
        #expect(try stored?["text"]?.isUnique == true)
        try await program.commit()
        // It declares nothing of that class.
        _ = try await Program(other)
        #expect(try stored?["text"]?.isUnique == true)
        _ = try await Program(one)
        #expect(try stored?["text"]?.isUnique == false)
        withExtendedLifetime((program, second)) {}
    }

    /// The later release, with a property more and without the rules.
    final class Later: Object {
        override class func _realmObjectName() -> String? { "Ruled" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
        @Persisted(primaryKey: true) var id: Int
        @Persisted var n: Int
        @Persisted var text: String
        @Persisted var note: String
    }

    /// What a migration's block leaves open.
    private final class Opened: Sendable {
        private let program = Mutex<Program?>(nil)
        var value: Program? {
            get { program.withLock { $0 } }
            set { program.withLock { $0 = newValue } }
        }
    }

    @Test("One that is declared while a migration's block runs stays, and whoever declares it goes on")
    func declaredDuringMigration() async throws {
        try withNewRealm(Self.configuration(path, Strict.self)) { realm in
            try realm.write { _ = realm.create(Strict.self, value: ["id": 1, "n": 7, "text": "one"]) }
        }
        let opened = Opened()
        let configuration = OutdatedRealmTests.configuration(path, [Later.self], version: 2) { [path] _, _ in
            let isOpen = DispatchSemaphore(value: 0)
            Task.detached {
                opened.value = try? await Program(WithdrawnRuleTests.configuration(path, Strict.self))
                isOpen.signal()
            }
            isOpen.wait()
        }
        let later = try await Program(configuration)
        let strict = try #require(opened.value)
        #expect(try stored?["note"] != nil && stored?["n"]?.isIndexed == true)
        #expect(try stored?["text"]?.isUnique == true && stored?.compoundIndexes.first?.isUnique == true)
        let error = await #expect(throws: Realm.Error.self) {
            try await later.write {
                _ = try $0.insert(Later.self, value: ["id": 2, "n": 7, "text": "one", "note": ""])
            }
        }
        #expect(error?.code == .duplicateValue)
        try await later.write { $0.create(Later.self, value: ["id": 2, "n": 7, "text": "two", "note": ""]) }
        await strict.perform { _ = $0.refresh() }
        #expect(await strict.perform { $0.isOutdated } == false)
        #expect(await strict.perform { $0.objects(Strict.self).map(\.text) as [String] } == ["one", "two"])
    }
}
