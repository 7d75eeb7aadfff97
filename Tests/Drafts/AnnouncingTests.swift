// Belongs to Tests/ActorRealmTests/Realm.
import Foundation
import RealmTestSupport
import Synchronization
import Testing

@testable import ActorRealm
@testable import RealmStorage

/// A close while the watcher tells of a version.
@Suite("A close inside an announcement", .timeLimit(.minutes(5)))
struct AnnouncingTests {
    private let file = TestFile()

    private final class Progress: Sendable {
        let isEntered = Atomic(false)
        let mayLeave = Atomic(false)
    }

    private static func commitBeside(_ file: StorageFile) throws {
        let data = try StorageFile.openData(path: file.path, options: file.options)
        let other = try StorageFile.openUnshared(data: data, path: file.path, options: file.options)
        try other.lockForWriting()
        try other.publish([other.beginWrite().prepareCommit()])
        other.unlockForWriting()
    }

    private actor Place {
        /// Opens a realm, has another process commit, and lets go of the realm while the watcher tells a listener of that.
        func use(_ configuration: Realm.Configuration, _ progress: Progress) async throws {
            let realm = try await Realm(configuration: configuration, actor: self)
            let storage = realm.core.coordinator.file
            _ = realm.core.coordinator.addVersionListener { _ in
                progress.isEntered.store(true, ordering: .sequentiallyConsistent)
                while !progress.mayLeave.load(ordering: .sequentiallyConsistent) { usleep(1_000) }
            }
            let memory = try #require(storage.lock).memory
            while memory.word32(LockFileLayout.Word.watcherCount).load(ordering: .relaxed) == 0 { usleep(1_000) }
            try AnnouncingTests.commitBeside(storage)
            while !progress.isEntered.load(ordering: .sequentiallyConsistent) { usleep(1_000) }
            realm.close()
        }
    }

    /// What the decision on checkpoints says of the watcher: that it has the file's words, and never the file.
    @Test("The thread that watches has not the file, whatever it is at")
    func watcher() async throws {
        let progress = Progress()
        try await Place().use(file.fast, progress)
        #expect(!StorageFile.isOpenAnywhere(path: file.directory.path("test.realm")))
        progress.mayLeave.store(true, ordering: .sequentiallyConsistent)
    }
}
