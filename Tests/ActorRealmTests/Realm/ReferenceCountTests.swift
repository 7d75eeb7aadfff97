import Foundation
import Testing

@testable import ActorRealm

/// A `weak` reference to one of these would make each object that is read or written slower by a tenth, and no other test
/// would see it.
@Suite("What every object retains keeps its counts in itself")
struct ReferenceCountTests {
    private actor Owner {
        let file = TestFile()

        /// Does what makes the library remember its own objects.
        func useEverything() async throws {
            let realm = try await open(file.fast)
            try realm.write { realm.add(Tally(name: "1")) }
            try await realm.asyncWrite(timeout: .seconds(1_800)) { realm.add(Tally(name: "2")) }
            let tallies = realm.objects(Tally.self)
            let token = realm.observe { _, _ in }
            let changes = tallies.changes()
            var iterator = changes.makeAsyncIterator()
            _ = await iterator.next()
            try realm.write(withoutNotifying: [token]) { realm.add(Tally(name: "3")) }
            _ = await iterator.next()
            let transaction = try await realm.beginAsyncWrite()
            await Owner().waitInVain(file.fast)
            transaction.cancel()
            let frozen = realm.freeze()
            check(realm, "the realm")
            check(realm.core, "the core")
            check(realm.core.coordinator, "the coordinator")
            check(realm.core.coordinator.writes, "the scheduler")
            check(realm.core.coordinator.observations, "the observers' hub")
            check(realm.core.coordinator.file, "the file")
            check(frozen, "the frozen realm")
            check(frozen.core, "the frozen core")
            check(try #require(tallies.first), "an object")
            token.invalidate()
        }

        private func waitInVain(_ configuration: Realm.Configuration) async {
            await #expect(throws: Realm.Error.self) {
                try await open(configuration).asyncWrite(timeout: .milliseconds(20)) {}
            }
        }

        private func open(_ configuration: Realm.Configuration) async throws -> Realm {
            try await Realm(configuration: configuration, actor: self)
        }

        private func check(_ object: AnyObject, _ name: Comment) {
            #expect(!ReferenceCountTests.hasSideTable(object), name)
        }
    }

    private static func hasSideTable(_ object: AnyObject) -> Bool {
        let counts = Unmanaged.passUnretained(object).toOpaque().load(fromByteOffset: 8, as: UInt64.self)
        return counts >> 62 == 0b11
    }

    @Test("A weak reference is seen")
    func weakReference() {
        let owner = Owner()
        #expect(!Self.hasSideTable(owner))
        weak let reference = owner
        #expect(Self.hasSideTable(owner))
        withExtendedLifetime((owner, reference)) {}
    }

    @Test("No side table after opening, writing, waiting with a deadline, observing and freezing")
    func sideTables() async throws {
        try await Owner().useEverything()
    }
}
