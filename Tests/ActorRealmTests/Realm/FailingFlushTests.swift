import Foundation
import RealmStorage
import RealmTestSupport
import Synchronization
import Testing

@testable import ActorRealm

/// A device whose flushes fail while a switch is on.
final class FailingDevice: ForwardingDevice {
    final class Switch: Sendable {
        let isOn = Mutex(false)
        let failures = Mutex(0)
    }

    let base: any StorageDevice
    let control: Switch

    init(_ base: any StorageDevice, _ control: Switch) {
        self.base = base
        self.control = control
    }

    func synchronize() throws(StorageError) {
        if control.isOn.withLock({ $0 }) {
            control.failures.withLock { $0 += 1 }
            throw StorageError(.io, "The device did not flush", path: path)
        }
        try base.synchronize()
    }
}

@Suite("Flushes that fail", .timeLimit(.minutes(60)))
struct FailingFlushTests {
    private static let count = 24

    @Test("The writes of a flush that fails all throw, none is there, and reads go on")
    func group() async throws {
        let file = ObservedFile()
        let control = FailingDevice.Switch()
        var configuration = file.configuration
        // The flushes that fail are those of the realm file.
        configuration.keepsLog = false
        configuration.makeDevice = { FailingDevice($0, control) }
        var workers: [Worker] = []
        for id in 0..<Self.count {
            let worker = try await Worker(configuration)
            try await worker.add(id, "before")
            workers.append(worker)
        }

        control.isOn.withLock { $0 = true }
        let thrown = await withTaskGroup(of: Bool.self) { group in
            for (index, worker) in workers.enumerated() {
                group.addTask {
                    do {
                        try await worker.add(1_000 + index, "lost")
                        return false
                    } catch is Realm.Error {
                        return true
                    } catch {
                        return false
                    }
                }
            }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(thrown == Self.count)
        let failures = control.failures.withLock { $0 }
        #expect(failures > 0 && failures < Self.count, "\(failures) flushes for \(Self.count) writes")
        for worker in workers {
            #expect(await worker.with { _, realm in Array(realm.objects(Chore.self).map(\.name)) } == names())
        }

        // Nothing is written until the file was opened anew, though the device works again.
        control.isOn.withLock { $0 = false }
        await #expect(throws: Realm.Error.self) { try await workers[0].add(2_000, "too early") }
        for worker in workers { await worker.close() }
        workers = []
        let after = try await Worker(file.configuration)
        #expect(await after.with { _, realm in Array(realm.objects(Chore.self).map(\.name)) } == names())
        try await after.add(3_000, "after")
        try await after.with { _, realm in try realm.verify() }
    }
}

private func names() -> [String] { Array(repeating: "before", count: 24) }
