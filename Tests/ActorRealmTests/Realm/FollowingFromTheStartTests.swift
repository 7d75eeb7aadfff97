import Foundation
import Testing

@testable import ActorRealm

/// Commits that come between the version that a realm takes hold of and its being told of new ones.
@Suite("A realm follows what was committed while it was opened", .timeLimit(.minutes(60)))
struct FollowingFromTheStartTests {
    let file = TestFile()

    /// Used on the loop only.
    private final class Held: @unchecked Sendable {
        var realm: Realm!
    }

    private func commit(_ name: String) {
        do {
            try withNewRealm(file.fast) { realm in
                try realm.write { _ = realm.create(Tally.self, value: ["name": name]) }
            }
        } catch {
            Issue.record(error)
        }
    }

    @Test("A commit behind the version of an opening, before that is told of others, is there in the loop's next round")
    func opening() throws {
        commit("before")
        let loop = LossyLoop()
        let held = Held()
        try loop.run {
            // Asked behind the look at the file, before it is known to those that tell it.
            loop.whenAskedNext { commit("meanwhile") }
            held.realm = try Realm(configuration: file.fast, scheduler: loop)
            #expect(held.realm.objects(Tally.self).map(\.name) == ["before"])
        }
        #expect(loop.run { held.realm.objects(Tally.self).map(\.name) } == ["before", "meanwhile"])
        loop.run { held.realm = nil }
    }

    @Test("So is one while a realm that was invalidated takes hold of a version again")
    func readingAnew() throws {
        commit("before")
        let loop = LossyLoop()
        let held = Held()
        try loop.run {
            held.realm = try Realm(configuration: file.fast, scheduler: loop)
            held.realm.invalidate()
            loop.whenAskedNext { commit("meanwhile") }
            #expect(held.realm.objects(Tally.self).map(\.name) == ["before"])
        }
        #expect(loop.run { held.realm.objects(Tally.self).map(\.name) } == ["before", "meanwhile"])
        loop.run { held.realm = nil }
    }
}
