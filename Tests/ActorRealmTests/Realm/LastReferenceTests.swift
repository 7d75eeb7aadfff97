import Foundation
import RealmStorage
import RealmTestSupport
import Synchronization
import Testing

@testable import ActorRealm

/// The thread that flushes may be the last one to let go of a file, for which a step that gives space back has a commit then.
@Suite("The thread that flushes lets go of a file last", .timeLimit(.minutes(60)))
struct LastReferenceTests {
    private let directory = TemporaryDirectory()
    private var configuration: Realm.Configuration {
        Realm.Configuration(fileURL: URL(filePath: directory.path("last.realm")), objectTypes: [Tally.self])
    }

    /// Takes a step as the keeper does, and writes in it.
    private static func step(
        _ space: SpaceKeeper,
        _ writes: WriteScheduler,
        _ file: StorageFile,
        hasTurn: DispatchSemaphore,
        beforeCommit: @escaping @Sendable () -> Void,
        ended: DispatchSemaphore
    ) {
        Thread.detachNewThread {
            guard let turn = try? writes.acquireWaiting() else { return }
            space.whileStepping {
                hasTurn.signal()
                writes.waitForFlushes()
                writes.transactionBegins()
                guard let commit = try? file.beginWrite().prepareCommit() else { return }
                beforeCommit()
                _ = writes.commitBlocking(commit, ending: turn)
            }
            ended.signal()
        }
    }

    @Test("while it tells of a version")
    func telling() throws {
        let held = Mutex<RealmCoordinator?>(try RealmRegistry.shared.coordinator(for: configuration))
        let (relay, space, writes, file) = try #require(
            held.withLock { $0.map { ($0.relay, $0.space, $0.writes, $0.file) } }
        )
        let hasTurn = DispatchSemaphore(value: 0)
        let ended = DispatchSemaphore(value: 0)
        let isLeft = DispatchSemaphore(value: 0)
        held.withLock { coordinator in
            _ = coordinator?
                .addVersionListener { version in
                    guard version > 1_000 else { return }
                    held.withLock { $0 = nil }
                    isLeft.signal()
                }
        }
        Self.step(
            space,
            writes,
            file,
            hasTurn: hasTurn,
            beforeCommit: {
                writes.ioThread.perform { relay.announce(1_001) }
                isLeft.wait()
                // The thread that tells comes to the end of that meanwhile.
                usleep(100_000)
            },
            ended: ended
        )
        #expect(ended.wait(timeout: .now() + 1_800) == .success)
        try writeAnew()
    }

    @Test("with the commit of an actor that is gone")
    func leaving() async throws {
        let hasTurn = DispatchSemaphore(value: 0)
        let ended = DispatchSemaphore(value: 0)
        let disk = ThreadGate<Void>()
        var leaver: Leaver? = try await Leaver(configuration)
        let (space, writes, file) = try #require(await leaver?.parts)
        writes.ioThread.perform { disk.wait() }
        await leaver?.leave()
        leaver = nil
        Self.step(space, writes, file, hasTurn: hasTurn, beforeCommit: {}, ended: ended)
        #expect(await Self.wait(hasTurn))
        disk.open(with: ())
        #expect(await Self.wait(ended))
        try writeAnew()
    }

    private static func wait(_ semaphore: DispatchSemaphore) async -> Bool {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(returning: semaphore.wait(timeout: .now() + 1_800) == .success)
            }
        }
    }

    /// Whoever opens the file then can write.
    private func writeAnew() throws {
        let configuration = configuration
        let result = Mutex<String>("not done")
        let ended = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            do {
                let realm = try Realm(configuration: configuration)
                try realm.write(timeout: .seconds(1_800)) {
                    realm.create(Tally.self, value: ["name": "anew", "count": 1])
                }
                result.withLock { $0 = "written" }
            } catch {
                result.withLock { $0 = "\(error)" }
            }
            ended.signal()
        }
        #expect(ended.wait(timeout: .now() + 1_800) == .success)
        #expect(result.withLock { $0 } == "written")
    }

    private actor Leaver {
        private var realm: Realm!

        init(_ configuration: Realm.Configuration) async throws {
            realm = try await Realm(configuration: configuration, actor: self)
        }

        var parts: (SpaceKeeper, WriteScheduler, StorageFile) {
            let coordinator = realm.core.coordinator
            return (coordinator.space, coordinator.writes, coordinator.file)
        }

        func leave() {
            realm.beginWrite()
            realm.create(Tally.self, value: ["name": "left", "count": 1])
            realm.commitAsyncWrite()
        }
    }
}
