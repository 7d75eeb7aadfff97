import Dispatch
import Foundation
import RealmModel
import RealmStorage
import Testing

@testable import ActorRealm

/// Opens a file as a helper does that knows nothing of who calls it; the code of the error.
private func codeOfOpening(_ configuration: Realm.Configuration) -> Realm.Error.Code? {
    do {
        _ = try Realm(configuration: configuration)
        return nil
    } catch {
        return (error as? Realm.Error)?.code ?? .fail
    }
}

@Suite("Openings that exclude each other, or are given up, end with a clear error", .timeLimit(.minutes(60)))
struct OpeningConflictTests {
    let file = TestFile()

    class Shape: Object {
        override class func _realmObjectName() -> String? { "Shape" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
        @Persisted var corners: Int
    }

    class ColoredShape: Object {
        override class func _realmObjectName() -> String? { "Shape" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
        @Persisted var corners: Int
        @Persisted var color: String
    }

    private func configuration(_ type: Object.Type) -> Realm.Configuration {
        var configuration = file.fast
        configuration.objectTypes = [type]
        return configuration
    }

    private func error(opening configuration: Realm.Configuration) -> Realm.Error? {
        do {
            _ = try Realm(configuration: configuration)
            return nil
        } catch {
            return error as? Realm.Error
        }
    }

    @Test("While a file is open with some classes, others that do not fit name what differs")
    func otherClasses() throws {
        let realm = try Realm(configuration: configuration(Shape.self))
        let mismatch = error(opening: configuration(ColoredShape.self))
        #expect(mismatch?.code == .schemaMismatch)
        #expect(mismatch?.message.contains("Shape.color") == true, "\(mismatch?.message ?? "no error")")
        // A migration would change the file under those who have it open.
        var migrating = configuration(ColoredShape.self)
        migrating.schemaVersion = 1
        let session = error(opening: migrating)
        #expect(session?.code == .incompatibleSession)
        #expect(session?.message.contains("different schema version") == true, "\(session?.message ?? "no error")")
        try realm.write { realm.create(Shape.self, value: ["corners": 3]) }
        #expect(realm.objects(Shape.self).count == 1)
    }

    @Test("Classes that the file lacks are added while it is open with others")
    func moreClasses() throws {
        let realm = try Realm(configuration: configuration(Shape.self))
        let more = try Realm(configuration: file.fast)
        try more.write { more.create(Tally.self, value: ["name": "a"]) }
        try realm.write { realm.create(Shape.self, value: ["corners": 3]) }
        more.refresh()
        #expect(more.objects(Tally.self).count == 1 && realm.objects(Shape.self).count == 1)
    }

    @Test("A key is refused with a word on why, and is the same for a file that is open without one")
    func keys() throws {
        var keyed = file.fast
        keyed.encryptionKey = Data(count: 64)
        #expect(error(opening: keyed)?.message.contains("Encrypted realms are not supported") == true)
        let realm = try Realm(configuration: file.fast)
        #expect(error(opening: keyed)?.code == .invalidInput)
        keyed.encryptionKey = Data(count: 7)
        #expect(error(opening: keyed)?.message.contains("64 bytes") == true)
        #expect(realm.isEmpty)
    }

    /// A file whose classes have to be written first, and another process that has the lock for that.
    private func lockedFile() throws -> ForeignWriteLock {
        try withNewRealm(configuration(Shape.self)) { _ in }
        return try ForeignWriteLock(of: #require(file.fast.fileURL?.path))
    }

    private var coordinator: RealmCoordinator? { RealmRegistry.shared.existing(at: file.fast.fileURL!.path) }

    private func waitForWriter() async {
        while coordinator?.writes.waitingCount != 1 { await Task.yield() }
    }

    @Test("A task that is cancelled while its opening waits for the write lock throws at once")
    func cancelledTask() async throws {
        let lock = try lockedFile()
        let configuration = file.fast
        let task = Task { @MainActor in _ = try await Realm(configuration: configuration) }
        await waitForWriter()
        task.cancel()
        // The lock is not given back before: without the cancellation this waits for ever.
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(coordinator?.writes.waitingCount ?? 0 == 0)
        lock.release()
        #expect(try withNewRealm(configuration) { $0.isEmpty })
    }

    @available(*, deprecated)
    @Test("An opening whose AsyncOpenTask is cancelled while it waits for the write lock lets go of the file")
    func cancelledAsyncOpen() async throws {
        let lock = try lockedFile()
        let called = Counter()
        let queue = DispatchQueue(label: "callback")
        let opening = Realm.asyncOpen(configuration: file.fast, callbackQueue: queue) { _ in called.increment() }
        await waitForWriter()
        opening.cancel()
        while coordinator?.writes.waitingCount ?? 0 > 0 { await Task.yield() }
        lock.release()
        // What the cancelled one posts to the queue comes before what this one does.
        let count: Int = try await withCheckedThrowingContinuation { continuation in
            Realm.asyncOpen(configuration: file.fast, callbackQueue: queue) { result in
                continuation.resume(with: result.map { $0.objects(Tally.self).count })
            }
        }
        #expect(count == 0)
        #expect(called.value == 0)
    }

    enum Form: CaseIterable { case blocking, onQueue, suspending }

    @Test("A migration block that opens its file gets an error and waits for nothing", arguments: Form.allCases)
    @MainActor
    func openingWithinMigration(form: Form) async throws {
        var configuration = file.fast
        try withNewRealm(configuration) { _ in }
        configuration.schemaVersion = 1
        var inner = configuration
        // It waited for ever without.
        inner.writeTimeout = .seconds(1)
        let codes = Journal<Realm.Error.Code?>()
        configuration.migrationBlock = { [inner] _, _ in codes.add(codeOfOpening(inner)) }
        switch form {
        case .blocking: _ = try openBlocking(configuration)
        case .onQueue: try withNewRealm(configuration) { _ in }
        case .suspending: _ = try await Realm(configuration: configuration)
        }
        #expect(codes.entries == [.alreadyInWriteTransaction])
    }

    class IndexedShape: Object {
        override class func _realmObjectName() -> String? { "Shape" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
        @Persisted(indexed: true) var corners: Int
    }

    @available(*, deprecated)
    @Test("An opening in the background begins anew when what it relies on is put aside before its queue has time")
    func outdatedBeforeDelivery() async throws {
        let indexed = configuration(IndexedShape.self)
        let rules = try DeclaredSchema.make(for: indexed)
        let queue = DispatchQueue(label: "callback")
        let gate = DispatchSemaphore(value: 0)
        queue.async { gate.wait() }
        let codes = Journal<Realm.Error.Code?>()
        Realm.asyncOpen(configuration: indexed, callbackQueue: queue) { result in
            switch result {
            case .success: codes.add(nil)
            case .failure(let error): codes.add((error as? Realm.Error)?.code ?? .fail)
            }
        }
        while try coordinator?.isReconciled(with: rules) != true { await Task.yield() }
        let opened = try #require(coordinator)
        // More than once where its thread is about to end: then nobody else is alone.
        while opened.file.hasDeclaredRules(rules.ruleNumbers) {
            for other in [configuration(Shape.self), file.fast] { try withNewRealm(other) { _ in } }
        }
        gate.signal()
        #expect(await codes.wait(for: 1) == [nil])
    }

    @Test("A realm that is let go of inside a write transaction rolls it back, says so, and gives the lock back")
    func deallocation() throws {
        let messages = Journal<String>()
        var configuration = file.fast
        configuration.logger = Logger(level: .warn) { _, message in messages.add(message) }
        // Keeps the file open, with its queue of writers.
        let queue = DispatchQueue(label: "other")
        let other = try queue.sync { try Realm(configuration: file.fast, queue: queue) }
        do {
            let realm = try Realm(configuration: configuration)
            realm.beginWrite()
            realm.create(Tally.self, value: ["name": "lost"])
        }
        #expect(messages.entries.contains { $0.contains("let go of inside a write transaction") })
        // In time only if the turn was given back.
        try queue.sync { try other.write(timeout: .seconds(1_800)) { #expect(other.objects(Tally.self).isEmpty) } }
    }

    @Test("A task that is cancelled while its commit is on its way to the device gets it written, and no error")
    @MainActor
    func cancelledWhileCommitting() async throws {
        let gate = GatedDevice.Control()
        var configuration = file.configuration
        configuration.makeDevice = { GatedDevice($0, gate) }
        let realm = try await Realm(configuration: configuration)
        gate.close()
        var hasRun = false
        let task = Task {
            try await realm.asyncWrite {
                realm.create(Tally.self, value: ["name": "kept"])
                hasRun = true
            }
        }
        while !hasRun || !gate.isHolding { await Task.yield() }
        task.cancel()
        await realm.passTurns()
        #expect(realm.isEmpty, "it is not durable yet")
        gate.open()
        try await task.value
        #expect(realm.objects(Tally.self).map(\.name) == ["kept"])
    }
}
