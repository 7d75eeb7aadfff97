import ActorRealm
import Dispatch
import Foundation
import Testing

@Suite("Realms open in every form, once for each isolation")
struct RealmOpeningTests {
    let file = TestFile()

    actor Store {
        var realm: Realm!

        init(_ configuration: Realm.Configuration) async throws {
            realm = try await Realm(configuration: configuration, actor: self)
        }

        func opensTheSameAgain(_ configuration: Realm.Configuration) async throws -> Bool {
            let synchronous = try openSynchronously(configuration)
            let asynchronous = try await Realm(configuration: configuration)
            let opened = try await Realm.open(configuration: configuration)
            let named = try await Realm(configuration: configuration, actor: self)
            return synchronous === realm && asynchronous === realm && opened === realm && named == realm
        }

        func openSynchronously(_ configuration: Realm.Configuration) throws -> Realm {
            try Realm(configuration: configuration)
        }

        func closeAndReopen(_ configuration: Realm.Configuration) async throws -> Bool {
            let first = ObjectIdentifier(realm)
            realm.close()
            realm.close()
            let next = try await Realm(configuration: configuration)
            defer { realm = next }
            return ObjectIdentifier(next) != first && !next.isInWriteTransaction
        }

        func reopenReadOnly(_ configuration: Realm.Configuration) throws {
            var readOnly = configuration
            readOnly.readOnly = true
            _ = try Realm(configuration: readOnly)
        }
    }

    @Test("Opening again on an actor gives the same instance, in every form")
    func sameInstance() async throws {
        let store = try await Store(file.fast)
        #expect(try await store.opensTheSameAgain(file.fast))
    }

    @Test("Different actors have different instances of one file")
    func differentActors() async throws {
        let one = try await Store(file.fast)
        let two = try await Store(file.fast)
        let identifiers = await (one.identifier, two.identifier)
        #expect(identifiers.0 != identifiers.1)
    }

    @Test("The cache does not keep a realm open")
    func weakCache() async throws {
        let file = file
        final class Observed { weak var realm: Realm? }
        func open() throws -> Bool {
            let observed = Observed()
            do {
                let realm = try Realm(configuration: file.fast)
                observed.realm = realm
                #expect(observed.realm != nil)
            }
            return observed.realm == nil
        }
        #expect(try open())
    }

    @Test("A closed realm is forgotten: opening again makes a new one")
    func closing() async throws {
        let store = try await Store(file.fast)
        #expect(try await store.closeAndReopen(file.fast))
    }

    @Test("Realms of one synchronous call are the same")
    func threadRealms() throws {
        let one = try Realm(configuration: file.fast)
        let two = try Realm(configuration: file.fast)
        #expect(one === two)
    }

    @Test("On a queue there is one instance; opening it elsewhere is an error")
    func queues() throws {
        let queue = DispatchQueue(label: "realm")
        let configuration = file.fast
        try queue.sync {
            let one = try Realm(configuration: configuration, queue: queue)
            let two = try Realm(configuration: configuration, queue: queue)
            #expect(one === two)
            try one.write { one.create(Tally.self, value: ["name": "q"]) }
        }
        #expect(throws: Realm.Error(.wrongIsolation, fileURL: configuration.fileURL)) {
            try Realm(configuration: configuration, queue: queue)
        }
    }

    @Test("The main queue, the main actor and its asynchronous opening share one instance")
    func main() async throws {
        let configuration = file.fast
        try await MainActor.run {
            let one = try Realm(configuration: configuration)
            let two = try Realm(configuration: configuration, queue: .main)
            #expect(one === two)
        }
        try await checkOnMain(configuration)
    }

    @MainActor
    private func checkOnMain(_ configuration: Realm.Configuration) async throws {
        let realm1 = try await Realm(configuration: configuration)
        let realm2 = try await Realm(configuration: configuration, actor: MainActor.shared)
        #expect(realm1 === realm2)
    }

    @Test("A scheduler of one's own can hold a realm")
    func schedulers() throws {
        final class Loop: RealmScheduler {
            let queue = DispatchQueue(label: "loop")
            let key = DispatchSpecificKey<Int>()
            init() { queue.setSpecific(key: key, value: 1) }
            func invoke(_ work: @escaping @Sendable () -> Void) { queue.async(execute: work) }
            var isOnThread: Bool { DispatchQueue.getSpecific(key: key) == 1 }
        }
        let loop = Loop()
        let configuration = file.fast
        try loop.queue.sync {
            let one = try Realm(configuration: configuration, scheduler: loop)
            let two = try Realm(configuration: configuration, scheduler: loop)
            #expect(one === two)
        }
        #expect(throws: (any Error).self) { try Realm(configuration: configuration, scheduler: loop) }
    }

    @Test("Realm(actor:) from elsewhere throws and says from where to call")
    func wrongActor() async throws {
        let store = try await Store(file.fast)
        let configuration = file.fast
        await #expect {
            _ = try await Realm(configuration: configuration, actor: store)
        } throws: {
            ($0 as? Realm.Error)?.code == .wrongIsolation && "\($0)".contains("Store")
        }
    }

    @Test("Opening asynchronously outside every actor is an error")
    func nowhere() async throws {
        let configuration = file.fast
        await #expect(throws: Realm.Error(.wrongIsolation, fileURL: configuration.fileURL)) {
            _ = try await Realm(configuration: configuration)
        }
    }

    @Test("Opening with settings that exclude those of an open instance is an error")
    func incompatible() async throws {
        let store = try await Store(file.fast)
        let configuration = file.fast
        await #expect(throws: Realm.Error(.incompatibleSession, fileURL: configuration.fileURL)) {
            try await store.reopenReadOnly(configuration)
        }
    }

    @Test("A read-only realm needs its file, and cannot be written")
    func readOnly() throws {
        var configuration = file.fast
        configuration.readOnly = true
        #expect(throws: Realm.Error(.fileNotFound, fileURL: configuration.fileURL)) {
            try Realm(configuration: configuration)
        }
        try Realm(configuration: file.fast).write { $0.create(Tally.self, value: ["name": "a"]) }
        let realm = try Realm(configuration: configuration)
        #expect(realm.objects(Tally.self).count == 1)
        #expect(throws: Realm.Error(.readOnly, fileURL: configuration.fileURL)) { try realm.write {} }
    }

    @Test("What is open for reading only cannot be opened for writing")
    func readOnlyFirst() throws {
        try withNewRealm(file.fast) { _ in }
        var configuration = file.fast
        configuration.readOnly = true
        let realm = try Realm(configuration: configuration)
        #expect(throws: Realm.Error(.incompatibleSession, fileURL: file.fast.fileURL)) {
            try Realm(configuration: file.fast)
        }
        #expect(realm.objects(Tally.self).isEmpty)
    }

    @Test("What is open for reading only on one actor cannot be opened for writing on another")
    func readOnlyOnAnotherActor() async throws {
        try withNewRealm(file.fast) { _ in }
        var configuration = file.fast
        configuration.readOnly = true
        let reader = try await Store(configuration)
        await #expect(throws: Realm.Error(.incompatibleSession, fileURL: file.fast.fileURL)) {
            _ = try await Store(file.fast)
        }
        withExtendedLifetime(reader) {}
    }

    @Test("An in-memory realm is shared by its name and gone when the last instance is")
    func memory() throws {
        var configuration = Realm.Configuration(inMemoryIdentifier: UUID().uuidString)
        configuration.objectTypes = [Tally.self]
        do {
            let one = try Realm(configuration: configuration)
            try one.write { one.create(Tally.self, value: ["name": "a"]) }
            let two = try Realm(configuration: configuration)
            #expect(two.objects(Tally.self).count == 1)
        }
        #expect(!Realm.fileExists(for: configuration))
        #expect(try Realm(configuration: configuration).objects(Tally.self).isEmpty)
    }

    @available(*, deprecated)
    @Test("asyncOpen hands the realm over on its queue; cancelled, it does not")
    func asyncOpen() async throws {
        let queue = DispatchQueue(label: "callback")
        let configuration = file.fast
        let count: Result<Int, any Error> = await withCheckedContinuation { continuation in
            Realm.asyncOpen(configuration: configuration, callbackQueue: queue) { result in
                continuation.resume(returning: result.map { $0.objects(Tally.self).count })
            }
        }
        // An error of the opening shall be seen.
        #expect(try count.get() == 0)
        let called = Counter()
        queue.suspend()
        Realm.asyncOpen(configuration: configuration, callbackQueue: queue) { _ in called.increment() }.cancel()
        queue.resume()
        // A later opening has come through the same queue.
        let later: Result<Int, any Error> = await withCheckedContinuation { continuation in
            Realm.asyncOpen(configuration: configuration, callbackQueue: queue) { result in
                continuation.resume(returning: result.map { $0.objects(Tally.self).count })
            }
        }
        #expect(try later.get() == 0)
        #expect(called.value == 0)
    }

    @Test("A cancelled task does not open a realm")
    func cancelledOpening() async throws {
        let configuration = file.fast
        let task = Task { @MainActor in
            withUnsafeCurrentTask { $0?.cancel() }
            _ = try await Realm(configuration: configuration)
        }
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test("Files can be found and deleted, but not while they are open")
    func deletion() throws {
        let configuration = file.fast
        #expect(!Realm.fileExists(for: configuration))
        #expect(try !Realm.deleteFiles(for: configuration))
        do {
            let realm = try Realm(configuration: configuration)
            #expect(Realm.fileExists(for: configuration))
            #expect(throws: Realm.Error(.alreadyOpen, fileURL: configuration.fileURL)) {
                try Realm.deleteFiles(for: configuration)
            }
            #expect(!realm.isFrozen)
        }
        #expect(try Realm.deleteFiles(for: configuration))
        #expect(!Realm.fileExists(for: configuration))
    }

    @Test("A copy holds what was committed, and never overwrites a file")
    func copies() throws {
        let realm = try Realm(configuration: file.fast)
        try realm.write { realm.create(Tally.self, value: ["name": "a", "count": 7]) }
        let url = URL(fileURLWithPath: file.directory.path("copy.realm"))
        try realm.writeCopy(toFile: url)
        #expect(throws: Realm.Error(.fileExists, fileURL: url)) { try realm.writeCopy(toFile: url) }
        var configuration = file.fast
        configuration.fileURL = url
        #expect(try Realm(configuration: configuration).object(ofType: Tally.self, forPrimaryKey: "a")?.count == 7)
    }

    @Test("A damaged small file is an error when it is opened")
    func damage() throws {
        let configuration = file.fast
        do {
            let realm = try Realm(configuration: configuration)
            try realm.write { for index in 0..<200 { realm.create(Tally.self, value: ["name": "n\(index)"]) } }
        }
        let url = try #require(configuration.fileURL)
        let bytes = try Data(contentsOf: url)
        // Where they are: a thread of the last opening may read for a moment more, and a file that is written anew is cut before.
        let handle = try FileHandle(forUpdating: url)
        func write(_ byte: UInt8, at offset: Int) throws {
            try handle.seek(toOffset: UInt64(offset))
            try handle.write(contentsOf: Data([byte]))
        }
        var damaged = 0
        for page in 4..<(bytes.count / 4096) {
            let offset = page * 4096 + 100
            try write(bytes[offset] ^ 0x40, at: offset)
            do {
                _ = try Realm(configuration: configuration)
            } catch Realm.Error.invalidDatabase {
                damaged += 1
            }
            try write(bytes[offset], at: offset)
        }
        try handle.close()
        #expect(damaged > 0, "no page that the realm uses was hit")
    }

    class OldShape: Object {
        override class func _realmObjectName() -> String? { "Shape" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
        @Persisted var corners: Int
    }

    class NewShape: Object {
        override class func _realmObjectName() -> String? { "Shape" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
        @Persisted var corners: Int
        @Persisted var color: String
    }

    @Test("Changed classes need a raised schema version, which runs the migration block; a lower one is an error")
    func schemaVersions() throws {
        var configuration = file.fast
        configuration.objectTypes = [OldShape.self]
        try withNewRealm(configuration) { realm in
            try realm.write { _ = realm.create(OldShape.self, value: ["corners": 3]) }
        }
        configuration.objectTypes = [NewShape.self]
        #expect(throws: Realm.Error(.schemaMismatch, fileURL: configuration.fileURL)) {
            try Realm(configuration: configuration)
        }
        let migrated = LockedArray<UInt64>()
        configuration.schemaVersion = 2
        configuration.migrationBlock = { _, oldVersion in migrated.append(oldVersion) }
        let shape = try Realm(configuration: configuration).objects(NewShape.self).first
        #expect(shape?.corners == 3 && shape?.color == "")
        #expect(migrated.all == [0])
        configuration.schemaVersion = 1
        #expect(throws: Realm.Error(.schemaMismatch, fileURL: configuration.fileURL)) {
            try Realm(configuration: configuration)
        }
    }

    @Test("deleteRealmIfMigrationNeeded starts anew instead of failing")
    func deletingInsteadOfMigrating() throws {
        var configuration = file.fast
        configuration.objectTypes = [OldShape.self]
        try withNewRealm(configuration) { realm in
            try realm.write { _ = realm.create(OldShape.self, value: ["corners": 3]) }
        }
        configuration.objectTypes = [NewShape.self]
        configuration.deleteRealmIfMigrationNeeded = true
        #expect(try Realm(configuration: configuration).objects(NewShape.self).isEmpty)
    }

    @Test("withRealm closes what it opened")
    @MainActor
    func scoped() async throws {
        let configuration = file.fast
        let count = try await Realm.withRealm(configuration: configuration) { realm in
            try await realm.asyncWrite { realm.create(Tally.self, value: ["name": "a"]) }
            return realm.objects(Tally.self).count
        }
        #expect(count == 1)
        #expect(try Realm.deleteFiles(for: configuration))
    }
}

extension RealmOpeningTests.Store {
    var identifier: ObjectIdentifier { ObjectIdentifier(realm) }
}
