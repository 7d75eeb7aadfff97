import Foundation
import RealmTestSupport
import Synchronization
import Testing

@testable import ActorRealm

@Suite("How versions reach an open file's realms", .timeLimit(.minutes(60)))
struct VersionRelayTests {
    private let directory = TemporaryDirectory()

    @Test("The last one to let go of a file may do so while it tells of a version, beside a step that gives space back")
    func lastReference() throws {
        let configuration = Realm.Configuration(fileURL: URL(filePath: directory.path("left.realm")), objectTypes: [])
        let held = Mutex<RealmCoordinator?>(try RealmRegistry.shared.coordinator(for: configuration))
        let (relay, space) = try #require(held.withLock { $0.map { ($0.relay, $0.space) } })
        let version = try #require(held.withLock { $0?.file.newestVersion })
        let hasTurn = DispatchSemaphore(value: 0)
        let ended = DispatchSemaphore(value: 0)
        let isLeft = DispatchSemaphore(value: 0)

        // The step has its turn, and tells of its commit when nobody else has the file any more.
        Thread.detachNewThread {
            space.whileStepping {
                hasTurn.signal()
                isLeft.wait()
                relay.announce(version + 2)
            }
            ended.signal()
        }
        hasTurn.wait()
        let left = held.withLock { coordinator in
            coordinator?
                .addVersionListener { _ in
                    held.withLock { $0 = nil }
                    isLeft.signal()
                }
        }
        #expect(left != nil)
        Thread.detachNewThread {
            relay.announce(version + 1)
            ended.signal()
        }
        for _ in 0..<2 { #expect(ended.wait(timeout: .now() + 1_800) == .success) }
    }
}
