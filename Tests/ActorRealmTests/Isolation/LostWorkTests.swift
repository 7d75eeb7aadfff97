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
        var token: NotificationToken?
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

    @Test("An observer is told of everything with the next commit when the work that was to tell it was lost")
    func observing() async throws {
        let loop = LossyLoop()
        let held = Held()
        let told = Journal<[String]>()
        try loop.run {
            held.realm = try Realm(configuration: file.fast, scheduler: loop)
            held.token = held.realm.objects(Tally.self)
                .observe { change in
                    guard let tallies = change.collection else { return told.add(["failed"]) }
                    told.add(tallies.map(\.name))
                }
        }
        _ = await told.wait(for: 1)
        for round in 0..<3 {
            let before = loop.lostCount
            loop.lose(true)
            try commit("lost \(round)")
            // The work that brings the realm there, and that which tells the observer.
            #expect(await eventually { loop.lostCount >= before + 2 })
            loop.lose(false)
            try commit("told \(round)")
            #expect(await eventually { told.entries.last?.count == 2 * round + 2 })
        }
        loop.run {
            held.token?.invalidate()
            held.realm = nil
        }
    }

    @Test("So is one to which what there is was to be told, and the block of a whole realm", arguments: [false, true])
    func beginning(isOfRealm: Bool) async throws {
        let loop = LossyLoop()
        let held = Held()
        let told = Journal<[String]>()
        try commit("before")
        try loop.run {
            held.realm = try Realm(configuration: file.fast, scheduler: loop)
            if !isOfRealm { loop.lose(true) }
            if isOfRealm {
                held.token = held.realm.observe { _, realm in told.add(names(realm)) }
            } else {
                held.token = held.realm.objects(Tally.self)
                    .observe { told.add($0.collection.map { $0.map(\.name) } ?? []) }
            }
        }
        if isOfRealm {
            loop.lose(true)
            try commit("lost")
        }
        #expect(await eventually { loop.lostCount > (isOfRealm ? 1 : 0) })
        loop.lose(false)
        try commit("told")
        let all = isOfRealm ? ["before", "lost", "told"] : ["before", "told"]
        #expect(await eventually { told.entries.last == all })
        loop.run {
            held.token?.invalidate()
            held.realm = nil
        }
    }
}
