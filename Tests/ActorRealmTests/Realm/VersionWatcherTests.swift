import Foundation
import RealmTestSupport
import Testing

@testable import ActorRealm
@testable import RealmStorage

/// The thread that waits for other processes' commits, and its end.
@Suite("The watcher", .timeLimit(.minutes(60)))
struct VersionWatcherTests {
    private let file = TestFile()

    /// How many threads watch a file, of all processes.
    private static func count(_ file: StorageFile) throws -> UInt32 {
        try #require(file.lock).memory.word32(LockFileLayout.Word.watcherCount).load(ordering: .sequentiallyConsistent)
    }

    /// Commits as another process does it.
    private static func commitBeside(_ file: StorageFile) throws {
        let data = try StorageFile.openData(path: file.path, options: file.options)
        let other = try StorageFile.openUnshared(data: data, path: file.path, options: file.options)
        try other.lockForWriting()
        try other.publish([other.beginWrite().prepareCommit()])
        other.unlockForWriting()
    }

    @Test("A listener that it calls stops it: it is counted out then")
    @MainActor
    func stoppedByItself() async throws {
        let realm = try await Realm(configuration: file.fast)
        defer { realm.close() }
        let coordinator = realm.core.coordinator
        let versions = LockedArray<UInt64>()
        let id = coordinator.addVersionListener { version in
            coordinator.stopThreads()
            versions.append(version)
        }
        defer { coordinator.removeVersionListener(id) }
        while try Self.count(coordinator.file) == 0 { await Task.yield() }
        try Self.commitBeside(coordinator.file)
        while versions.all.isEmpty { await Task.yield() }
        #expect(try Self.count(coordinator.file) == 0)
    }

    @Test("A child that was forked leaves it to its parent", .secondProcess)
    func forked() async {
        // In a process of its own, so that the child copies few threads.
        await #expect(processExitsWith: .success) { [path = file.directory.path("forked.realm") as String] in
            let file = try StorageFile.open(path: path)
            let watcher = VersionWatcher(signal: try #require(file.versionSignal), relay: VersionRelay())
            try watcher.start()
            while try VersionWatcherTests.count(file) == 0 { usleep(1_000) }
            let status = try ForkedChild.run {
                alarm(1_800)
                watcher.stop()
                return 0
            }
            #expect(status == 0)
            #expect(try VersionWatcherTests.count(file) == 1)
            watcher.stop()
            #expect(try VersionWatcherTests.count(file) == 0)
        }
    }
}
