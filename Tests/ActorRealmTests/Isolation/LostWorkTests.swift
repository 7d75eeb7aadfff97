import ActorRealm
import Foundation
import Testing

/// What a scheduler of the program's own loses is no end of what comes later.
@Suite("A scheduler that loses work is told of later commits", .timeLimit(.minutes(60)))
struct LostWorkTests {
    let file = TestFile()

    /// Used on the loop only.
    private final class Held: @unchecked Sendable {
        var realm: Realm!
    }

    private func commit(_ name: String) throws {
        try withNewRealm(file.fast) { realm in
            try realm.write { _ = realm.create(Tally.self, value: ["name": name]) }
        }
    }

    private func names(_ realm: Realm) -> [String] { realm.objects(Tally.self).map(\.name) }

    @Test("A realm follows the file again when the work that was to bring it to a version was lost")
    func following() async throws {
        let loop = LossyLoop()
        let held = Held()
        try loop.run { held.realm = try Realm(configuration: file.fast, scheduler: loop) }
        loop.lose(true)
        try commit("lost")
        #expect(await eventually { loop.lostCount > 0 })
        loop.lose(false)
        #expect(loop.run { names(held.realm) } == [])
        try commit("told")
        #expect(await eventually { loop.run { names(held.realm) } == ["lost", "told"] })
        loop.run { held.realm = nil }
    }
}
