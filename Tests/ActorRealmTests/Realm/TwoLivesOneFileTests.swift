import Foundation
import RealmStorage
import RealmTestSupport
import Synchronization
import Testing

@testable import ActorRealm

/// A coordinator goes with its last realm, and the next opening makes another one, with a queue of writers of its own, of the same open
/// file as long as anything of the former one holds that: a step of the keeper, a thread that lingers with the write lock or waits for it.
@Suite("A file that is opened anew has one writer, whatever is left of its life before", .timeLimit(.minutes(60)))
struct TwoLivesOneFileTests {
    private static func configuration(_ path: String) -> Realm.Configuration {
        Realm.Configuration(fileURL: URL(filePath: path), objectTypes: [Tally.self])
    }

    private let directory = TemporaryDirectory()

    /// Writes from a realm that is opened for that, on a thread of its own.
    private static func write(_ name: String, _ path: String, timeout: Duration) -> String {
        let result = Mutex("not done")
        let ended = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            do {
                let realm = try Realm(configuration: configuration(path))
                try realm.write(timeout: timeout) { _ = realm.create(Tally.self, value: ["name": name, "count": 1]) }
                result.withLock { $0 = "written" }
            } catch {
                result.withLock { $0 = "\((error as? Realm.Error)?.code as Any)" }
            }
            ended.signal()
        }
        ended.wait()
        return result.withLock { $0 }
    }

    /// The keeper, who waits for his turn, is not waited for by the end of the last reference; nor is the thread that lingers.
    @Test("Nobody writes before a turn of the life before has ended")
    func turn() throws {
        let path = directory.path("two.realm")
        #expect(Self.write("first", path, timeout: .seconds(1_800)) == "written")
        let held = Mutex<RealmCoordinator?>(try RealmRegistry.shared.coordinator(for: Self.configuration(path)))
        let writes = try #require(held.withLock { $0?.writes })
        let turn = try writes.acquireBlocking(for: .none)
        held.withLock { $0 = nil }
        #expect(Self.write("second", path, timeout: .seconds(1)) != "written")
        writes.finish(turn)
        #expect(Self.write("third", path, timeout: .seconds(1_800)) == "written")
    }

    /// The end of a turn of the life before gives back the lock that the process has for an open transaction: another process, and
    /// whoever looks, finds that nobody writes.
    @Test("A turn of the life before does not end with the lock of another one")
    func lock() throws {
        let path = directory.path("lock.realm")
        #expect(Self.write("first", path, timeout: .seconds(1_800)) == "written")
        let held = Mutex<RealmCoordinator?>(try RealmRegistry.shared.coordinator(for: Self.configuration(path)))
        let (writes, file) = try #require(held.withLock { $0.map { ($0.writes, $0.file) } })
        let turn = try writes.acquireBlocking(for: .none)
        held.withLock { $0 = nil }
        let isWriting = DispatchSemaphore(value: 0)
        let goesOn = DispatchSemaphore(value: 0)
        let ended = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            if let realm = try? Realm(configuration: Self.configuration(path)) {
                try? realm.write {
                    isWriting.signal()
                    goesOn.wait()
                }
            }
            ended.signal()
        }
        // Mended, it waits for the turn.
        let isTooEarly = isWriting.wait(timeout: .now() + 1) == .success
        writes.finish(turn)
        if !isTooEarly { isWriting.wait() }
        usleep(50_000)
        #expect(file.writerProcess != nil, "a transaction is open")
        goesOn.signal()
        ended.wait()
    }

    /// As ``LastReferenceTests/telling()``, with a transaction of the step open, and somebody who writes then.
    @Test("A step that the thread which flushes has not waited for is not written into")
    func step() async throws {
        await #expect(processExitsWith: .success) { [path = directory.path("step.realm") as String] in
            _ = TwoLivesOneFileTests.write("first", path, timeout: .seconds(1_800))
            let configuration = TwoLivesOneFileTests.configuration(path)
            let held = Mutex<RealmCoordinator?>(try RealmRegistry.shared.coordinator(for: configuration))
            let (relay, space, writes, file) = held.withLock { ($0!.relay, $0!.space, $0!.writes, $0!.file) }
            let isLeft = DispatchSemaphore(value: 0)
            let ended = DispatchSemaphore(value: 0)
            held.withLock { coordinator in
                _ = coordinator?
                    .addVersionListener { version in
                        guard version > 1_000 else { return }
                        held.withLock { $0 = nil }
                        isLeft.signal()
                    }
            }
            Thread.detachNewThread {
                guard let turn = try? writes.acquireWaiting() else { return }
                space.whileStepping {
                    writes.waitForFlushes()
                    writes.transactionBegins()
                    guard let transaction = try? file.beginWrite() else { return }
                    writes.ioThread.perform { relay.announce(1_001) }
                    isLeft.wait()
                    // The coordinator ends on the thread that flushes meanwhile, and somebody opens the file anew, and writes.
                    usleep(100_000)
                    _ = TwoLivesOneFileTests.write("second", path, timeout: .seconds(1))
                    guard let commit = try? transaction.prepareCommit() else { return }
                    _ = writes.commitBlocking(commit, ending: turn)
                }
                ended.signal()
            }
            ended.wait()
            #expect(TwoLivesOneFileTests.write("third", path, timeout: .seconds(1_800)) == "written")
        }
    }
}
