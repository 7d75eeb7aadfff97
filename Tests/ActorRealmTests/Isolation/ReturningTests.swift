import Foundation
import Testing

@testable import ActorRealm

// Swift 6.3.1 leaves out the way back to the actor where nothing is called between an `await` and a `throw`, or a call of a
// closure, in a function that runs where its caller does. What the library awaits has to end on the actor by itself.
@Suite(
    "What is asynchronous comes back to the actor that asked, through helpers and by errors too",
    .timeLimit(.minutes(60))
)
struct ReturningTests {
    let file = TestFile()

    struct Refused: Error {}

    /// Runs a step as a helper of nobody does, with nothing behind it.
    private static func pass(_ realm: Realm, _ step: @Sendable (Realm) async throws -> Void) async throws {
        try await step(realm)
    }

    actor Place {
        private var realm: Realm!

        init(_ configuration: Realm.Configuration) async throws {
            realm = try await Realm(configuration: configuration, actor: self)
        }

        private var isHere: Bool { RealmIsolation(self).isCurrent }

        /// Whether it throws, and whether the actor runs what is behind it.
        func take(_ step: @Sendable (Realm) async throws -> Void) async -> (throwing: Bool, isHere: Bool) {
            do {
                try await ReturningTests.pass(realm, step)
                return (false, isHere)
            } catch {
                return (true, isHere)
            }
        }

        func takeCancelled(
            _ step: @escaping @Sendable (Realm) async throws -> Void
        ) async -> (throwing: Bool, isHere: Bool) {
            let task = Task { await take(step) }
            task.cancel()
            return await task.value
        }

        /// Whether a block that names nothing of the actor runs on it, when the realm is open and when it is not.
        func isBlockHere(_ configuration: Realm.Configuration) async throws -> Bool {
            let place = RealmIsolation(self)
            return try await Realm.withRealm(configuration: configuration) { _ in place.isCurrent }
        }
    }

    @Test("a write that is done, whose block throws, that is cancelled, or whose turn does not come in time")
    func writing() async throws {
        let place = try await Place(file.configuration)
        let done = await place.take { realm in
            try await realm.asyncWrite { _ = realm.create(Tally.self, value: ["name": "a"]) }
        }
        #expect(done == (false, true))
        let thrown = await place.take { realm in try await realm.asyncWrite { throw Refused() } }
        #expect(thrown == (true, true))
        let cancelled = await place.takeCancelled { realm in try await realm.asyncWrite {} }
        #expect(cancelled == (true, true))
        let lock = try ForeignWriteLock(of: file.directory.path("test.realm"))
        defer { lock.release() }
        let late = await place.take { realm in try await realm.asyncWrite(timeout: .milliseconds(1)) {} }
        #expect(late == (true, true))
        let begun = await place.take { realm in _ = try await realm.beginAsyncWrite(timeout: .milliseconds(1)) }
        #expect(begun == (true, true))
    }

    @Test("a transaction that is committed, and one that is over; a refresh")
    func transactions() async throws {
        let place = try await Place(file.configuration)
        let committed = await place.take { realm in
            let transaction = try await realm.beginAsyncWrite()
            realm.create(Tally.self, value: ["name": "a"])
            try await transaction.commit()
        }
        #expect(committed == (false, true))
        let over = await place.take { realm in
            let transaction = try await realm.beginAsyncWrite()
            try await transaction.commit()
            try await transaction.commit()
        }
        #expect(over == (true, true))
        let refreshed = await place.take { realm in await realm.asyncRefresh() }
        #expect(refreshed == (false, true))
    }

    @Test("an opening, one that fails, and the block of a realm that is opened for it")
    func opening() async throws {
        let place = try await Place(file.configuration)
        let other = TestFile()
        let isOpened = try await place.isBlockHere(other.configuration)
        #expect(isOpened)
        let isFound = try await place.isBlockHere(file.configuration)
        #expect(isFound)
        let damaged = TestFile()
        let configuration = damaged.configuration
        try Data(repeating: 7, count: 20_000).write(to: try #require(configuration.fileURL))
        let failed = await place.take { _ in _ = try await Realm.open(configuration: configuration) }
        #expect(failed == (true, true))
    }
}
