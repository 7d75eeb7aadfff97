import Dispatch
import Foundation
import RealmStorage
import Synchronization
import Testing

@testable import ActorRealm

/// As `StoppedFileTests`, where something reads a version of the closed realm for a moment more.
@Suite("Behind a failed flush beside a log, what reads for a moment more is waited for", .timeLimit(.minutes(60)))
struct StoppedAndReadTests {
    let control = FailingDevice.Switch()

    enum Held: CaseIterable {
        /// A variable of the program has the closed realm, and an observer's thread reads a version.
        case realm
        /// The thread that flushed has the file.
        case scheduler
        /// A verification in the background reads a version.
        case snapshot
        /// It does, and is all that holds the file.
        case snapshotAlone
    }

    private struct Left {
        var realm: Realm?
        var coordinator: WeakReference<RealmCoordinator>
        var acknowledged = 0
    }

    private let writes = Holder<WriteScheduler>()
    private let read = Holder<Snapshot>()

    private final class Holder<Value: Sendable>: Sendable {
        private let value = Mutex<Value?>(nil)

        /// What was held ends outside the lock.
        func hold(_ new: Value?) {
            let before = value.withLock { value in
                defer { value = new }
                return value
            }
            withExtendedLifetime(before) {}
        }
    }

    /// Writes until a flush fails, and closes the realm; nothing of the coordinator is held behind this but what is to be.
    @MainActor
    private func stop(_ configuration: Realm.Configuration, _ kind: Held) async throws -> Left {
        let realm = try await Realm(configuration: configuration)
        try realm.write { _ = realm.create(Tally.self, value: ["name": "first"]) }
        control.isOn.withLock { $0 = true }
        var left = Left(coordinator: WeakReference(realm.core.coordinator))
        #expect(throws: Realm.Error.self) {
            while left.acknowledged < 10_000 {
                try realm.write { realm.objects(Tally.self).first?.count += 1 }
                left.acknowledged += 1
            }
        }
        control.isOn.withLock { $0 = false }
        if kind == .realm { left.realm = realm }
        if kind == .scheduler { writes.hold(realm.core.coordinator.writes) }
        if kind != .scheduler { read.hold(try realm.core.coordinator.file.beginRead(asking: .inFile)) }
        realm.close()
        return left
    }

    @Test("Whoever opens the realm anew writes", arguments: Held.allCases)
    @MainActor
    func opening(kind: Held) async throws {
        // Each is waited for for a second: where it does not let go in that time, as it had no processor, nothing is shown.
        var isShown = false
        for _ in 0..<20 where !isShown { isShown = try await writes(behind: kind) }
        #expect(isShown)
    }

    private static func wait(for event: DispatchSemaphore) { event.wait() }

    /// Opens a realm anew whose life before something holds; whether that let go before who opens stopped waiting.
    @MainActor
    private func writes(behind kind: Held) async throws -> Bool {
        let file = TestFile()
        var configuration = file.configuration
        configuration.makeDevice = { [control] in FailingDevice($0, control) }
        configuration.keepLog(ringByteCount: 8 * 4096)
        let left = try await stop(configuration, kind)
        while kind == .snapshotAlone, left.coordinator.object != nil { try await Task.sleep(for: .milliseconds(1)) }
        let begin = ContinuousClock.now
        let end = Mutex(begin)
        let hasLetGo = DispatchSemaphore(value: 0)
        Thread.detachNewThread { [writes, read] in
            usleep(100_000)
            writes.hold(nil)
            read.hold(nil)
            end.withLock { $0 = .now }
            hasLetGo.signal()
        }
        let realm = try await Realm(configuration: configuration)
        #expect(realm.objects(Tally.self).map(\.count) == [left.acknowledged])
        Self.wait(for: hasLetGo)
        let isInTime = end.withLock { $0 } - begin < .milliseconds(900)
        if isInTime { try realm.write { _ = realm.create(Tally.self, value: ["name": "second"]) } }
        realm.close()
        withExtendedLifetime(left) {}
        return isInTime
    }
}
