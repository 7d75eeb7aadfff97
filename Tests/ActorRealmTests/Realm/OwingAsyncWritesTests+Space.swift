import CRealmShims
import RealmStorage
import RealmTestSupport
import Synchronization
import Testing

@testable import ActorRealm

/// The space for what asynchronous writes leave without pages.
extension OwingAsyncWritesTests {
    /// Counts flushes on the threads that actors run on.
    private final class PoolDevice: ForwardingDevice {
        final class Count: Sendable {
            let value = Atomic<Int>(0)
        }

        let base: any StorageDevice
        private let count: Count

        init(_ base: any StorageDevice, _ count: Count) {
            self.base = base
            self.count = count
        }

        func synchronize() throws(StorageError) {
            if crealm_is_on_pool() { count.value.add(1, ordering: .relaxed) }
            try base.synchronize()
        }
    }

    @Test("No small asynchronous write makes the file longer on the thread of its actor")
    func growth() async throws {
        let count = PoolDevice.Count()
        var configuration = configuration()
        configuration.makeDevice = { PoolDevice($0, count) }
        try await withOwing(configuration) { place, coordinator in
            let before = count.value.load(ordering: .relaxed)
            var owing = 0
            for index in 0..<100 {
                try await place.add("n\(100 + index)")
                if coordinator.writes.owesPages { owing += 1 }
            }
            #expect(count.value.load(ordering: .relaxed) == before)
            #expect(owing > 80)
            #expect(await place.names().count == 103)
        }
    }
}
