import Foundation
import RealmModel
import RealmStorage
import RealmTestSupport
import Testing

@testable import ActorRealm

/// A write that is followed at once by another process's migration, before the writer's realm has moved to it.
@Suite("Writes that a migration follows at once", .serialized, .timeLimit(.minutes(60)))
struct WritesBeforeMigrationTests {
    let directory = TemporaryDirectory()

    /// How a program writes.
    enum Form: String, CaseIterable, Sendable {
        case write, commitWrite, asyncWrite, twoSteps, writeAsync, commitAsyncWrite

        /// Whether the writer's thread waits for the disk, so that nothing else runs on its actor meanwhile.
        var blocks: Bool { self == .write || self == .commitWrite }
    }

    /// A program on a thread of its own, which can be kept from going on.
    actor Writer {
        private nonisolated let thread = DedicatedThread(name: "writer")
        nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }
        private var realm: Realm!

        init(_ configuration: Realm.Configuration) async throws {
            realm = try await Realm(configuration: configuration, actor: self)
        }

        private func make(_ text: String) {
            realm.create(Release1.Extra.self, value: ["id": text.count, "text": text])
        }

        func texts() -> [String] { realm.objects(Release1.Extra.self).map(\.text) }

        var isOutdated: Bool { realm.isOutdated }

        /// Writes, and tells what the realm holds when that has been acknowledged.
        func write(_ text: String, _ form: Form) async throws -> [String] {
            switch form {
            case .write: try realm.write { make(text) }
            case .commitWrite:
                realm.beginWrite()
                make(text)
                try realm.commitWrite()
            case .asyncWrite: try await realm.asyncWrite { make(text) }
            case .twoSteps:
                let transaction = try await realm.beginAsyncWrite()
                make(text)
                try await transaction.commit()
            case .writeAsync:
                return await withCheckedContinuation { continuation in
                    realm.writeAsync {
                        self.make(text)
                    } onComplete: { _ in
                        continuation.resume(returning: self.texts())
                    }
                }
            case .commitAsyncWrite:
                return await withCheckedContinuation { continuation in
                    realm.beginAsyncWrite {
                        self.make(text)
                        self.realm.commitAsyncWrite { _ in continuation.resume(returning: self.texts()) }
                    }
                }
            }
            return texts()
        }

        struct Exists: Error {}

        /// Gives up because of what another realm has written; false when it was not there.
        func giveUp(because text: String) async throws -> Bool {
            do {
                try await realm.asyncWrite {
                    if texts().contains(text) { throw Exists() }
                }
            } catch is Exists {
                return true
            }
            return false
        }

        /// Runs something that blocks, so that nothing else runs here.
        func run(_ body: @Sendable () -> Void) { body() }
    }

    private func configuration(_ gate: GatedDevice.Control) -> Realm.Configuration {
        var configuration = OutdatedRealmTests.first(directory.path("shared.realm"))
        configuration.durability = .flushed
        configuration.makeDevice = { GatedDevice($0, gate) }
        return configuration
    }

    /// Migrates in a process of its own.
    private func migrate() async {
        await #expect(processExitsWith: .success) { [path = directory.path("shared.realm") as String] in
            try withNewRealm(OutdatedRealmTests.second(path)) { _ in }
        }
    }

    /// Blocks until somebody has committed on top of a version.
    private static func wait(for file: StorageFile, toPass version: UInt64) {
        while file.newestVersion <= version { usleep(1_000) }
    }

    @Test(
        "An acknowledged write is in its realm, although another process migrated at once",
        .secondProcess,
        arguments: Form.allCases
    )
    func ownWrite(form: Form) async throws {
        let gate = GatedDevice.Control()
        let configuration = configuration(gate)
        let writer = try await Writer(configuration)
        _ = try await writer.write("a", .write)
        let coordinator = try RealmRegistry.shared.coordinator(for: configuration)
        let file = coordinator.file
        let own = file.newestVersion + 1
        let flushes = coordinator.writes.statistics.flushes
        if form.blocks {
            // Called on the writer's thread, between the end of its turn and its return.
            let listener = coordinator.addVersionListener { if $0 == own { Self.wait(for: file, toPass: own) } }
            async let migrated: Void = migrate()
            let texts = try await writer.write("own", form)
            await migrated
            coordinator.removeVersionListener(listener)
            #expect(texts.contains("own"))
        } else {
            gate.close()
            let writing = Task { try await writer.write("own", form) }
            while coordinator.writes.statistics.flushes == flushes { await Task.yield() }
            let blocking = Task {
                await writer.run {
                    gate.open()
                    Self.wait(for: file, toPass: own)
                }
            }
            await migrate()
            await blocking.value
            #expect(try await writing.value.contains("own"))
        }
        #expect(await writer.texts() == ["a", "own"])
        #expect(await writer.isOutdated)
        let error = await #expect(throws: Realm.Error.self) { _ = try await writer.write("later", .asyncWrite) }
        #expect(error?.code == .schemaOutdated)
    }

    @Test("What made a writer give up is in its realm, although another process migrated at once", .secondProcess)
    func writerThatGivesUp() async throws {
        let gate = GatedDevice.Control()
        let configuration = configuration(gate)
        let first = try await Writer(configuration)
        let second = try await Writer(configuration)
        _ = try await first.write("a", .write)
        let coordinator = try RealmRegistry.shared.coordinator(for: configuration)
        let file = coordinator.file
        let flushes = coordinator.writes.statistics.flushes
        gate.close()
        let writing = Task { try await first.write("other", .asyncWrite) }
        while coordinator.writes.statistics.flushes == flushes { await Task.yield() }
        let givingUp = Task { try await second.giveUp(because: "other") }
        while !coordinator.hasWriterThatGaveUp { await Task.yield() }
        let own = file.newestVersion + 1
        let blocking = Task {
            await second.run {
                gate.open()
                Self.wait(for: file, toPass: own)
            }
        }
        await migrate()
        await blocking.value
        #expect(try await givingUp.value)
        _ = try await writing.value
        #expect(await second.texts().contains("other"))
    }
}

extension RealmCoordinator {
    /// Whether a writer without a commit of its own waits for what is on its way to the disk.
    fileprivate var hasWriterThatGaveUp: Bool {
        writes.state.withLock { state in
            !state.underWay.isEmpty || state.joined.contains { $0.flush != nil }
                || state.prepared.contains { $0.flush != nil }
        }
    }
}
