import Foundation
import RealmStorage
import RealmTestSupport
import Synchronization
import Testing

@testable import ActorRealm

/// A migration that is prepared, and that others build on, is none before it is durable.
@Suite("A realm is not outdated by a migration that was lost", .timeLimit(.minutes(60)))
struct LostMigrationTests {
    let file = TestFile()

    class OldShape: Object {
        override class func _realmObjectName() -> String? { "LostShape" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
        @Persisted var corners: Int
    }

    class NewShape: Object {
        override class func _realmObjectName() -> String? { "LostShape" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
        @Persisted var corners: String
    }

    /// A device on which, once it is armed, the next write waits until it may fail for want of space.
    private final class FullDevice: ForwardingDevice {
        final class Control: Sendable {
            let isArmed = Mutex(false)
            let isReached = DispatchSemaphore(value: 0)
            let mayEnd = DispatchSemaphore(value: 0)
            let fails = Atomic(true)
            let thrown = Mutex<Realm.Error.Code?>(nil)
        }

        let base: any StorageDevice
        let control: Control

        init(_ base: any StorageDevice, _ control: Control) {
            self.base = base
            self.control = control
        }

        func write(_ pieces: [(UnsafeRawPointer, Int)], at offset: Int) throws(StorageError) {
            let isArmed = control.isArmed.withLock { isArmed in
                defer { isArmed = false }
                return isArmed
            }
            if isArmed {
                control.isReached.signal()
                control.mayEnd.wait()
                if control.fails.load(ordering: .relaxed) {
                    throw StorageError(.full, "The device is full", path: path)
                }
            }
            try base.write(pieces, at: offset)
        }
    }

    @Test("Who began to write on it writes when it is lost, and is outdated when it is not", arguments: [true, false])
    func lost(isLost: Bool) throws {
        let control = FullDevice.Control()
        control.fails.store(isLost, ordering: .relaxed)
        var old = file.fast
        old.objectTypes = [OldShape.self]
        old.makeDevice = { FullDevice($0, control) }
        // Keeps the life of the file.
        let frozen = try withNewRealm(old) { realm in
            try realm.write { _ = realm.create(OldShape.self, value: ["corners": 3]) }
            return realm.freeze()
        }
        let isMigrating = DispatchSemaphore(value: 0)
        let mayCommit = DispatchSemaphore(value: 0)
        let hasEnded = DispatchSemaphore(value: 0)
        var new = old
        new.objectTypes = [NewShape.self]
        new.schemaVersion = 1
        new.migrationBlock = { migration, _ in
            migration.enumerateObjects(ofType: "LostShape") { _, shape in shape?["corners"] = "three" }
            isMigrating.signal()
            mayCommit.wait()
        }
        Thread.detachNewThread { [new] in
            do {
                try withNewRealm(new) { _ in }
            } catch {
                control.thrown.withLock { $0 = (error as? Realm.Error)?.code }
            }
            hasEnded.signal()
        }
        isMigrating.wait()
        let queue = DispatchQueue(label: "old")
        let realm = try queue.sync {
            let realm = try Realm(configuration: old, queue: queue)
            realm.autorefresh = false
            return realm
        }
        control.isArmed.withLock { $0 = true }
        mayCommit.signal()
        control.isReached.wait()
        queue.sync {
            let error = #expect(throws: Realm.Error.self) { try realm.write {} }
            #expect(error?.code == .schemaOutdated)
            #expect(!realm.isOutdated, "it may be lost")
        }
        control.mayEnd.signal()
        hasEnded.wait()
        #expect(control.thrown.withLock { $0 } == (isLost ? .outOfDiskSpace : nil))
        try queue.sync {
            if isLost {
                try realm.write { realm.objects(OldShape.self)[0].corners = 4 }
                #expect(realm.objects(OldShape.self).map(\.corners) == [4])
            } else {
                let error = #expect(throws: Realm.Error.self) { try realm.write {} }
                #expect(error?.code == .schemaOutdated)
            }
            #expect(realm.isOutdated == !isLost)
        }
        withExtendedLifetime(frozen) {}
    }
}
