import ActorRealm
import Foundation
import RealmTestSupport
import Testing

private class Ball: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var weight: Int
    @Persisted var label: String
}

private actor Thrower {
    private var realm: Realm?
    private let configuration: Realm.Configuration

    init(_ configuration: Realm.Configuration) { self.configuration = configuration }

    /// Makes changes in one transaction: new weights, none for what is deleted.
    func write(_ changes: [Int: Int?]) async throws {
        let realm = if let realm { realm } else { try await Realm.open(configuration: configuration) }
        self.realm = realm
        try await realm.asyncWrite {
            for (id, weight) in changes {
                if let weight {
                    realm.create(Ball.self, value: ["id": id, "weight": weight, "label": "l\(weight)"], update: .all)
                } else if let ball = realm.object(ofType: Ball.self, forPrimaryKey: id) {
                    realm.delete(ball)
                }
            }
        }
    }
}

/// Objects that a reader holds, or looks up again and again, while an actor writes others, and now and then these.
@Suite struct LookupBesideWriterTests {
    @Test(arguments: [1, 2, 3] as [UInt64])
    @MainActor
    func `held objects and look-ups have the values of the version that is read`(seed: UInt64) async throws {
        let directory = TemporaryDirectory()
        var configuration = Realm.Configuration(
            fileURL: URL(fileURLWithPath: directory.path("balls.realm")),
            objectTypes: [Ball.self]
        )
        configuration.durability = .unflushed
        var random = SplitMix64(seed: seed)
        var model: [Int: Int] = [:]
        let thrower = Thrower(configuration)
        var next = 12_000
        for id in 0..<next { model[id] = id }
        try await thrower.write(model.mapValues { $0 })
        let realm = try await Realm.open(configuration: configuration)
        realm.autorefresh = false
        let asked = (0..<150).map { _ in Int.random(in: 0..<next, using: &random) }
        var held: [Int: Ball] = [:]
        for id in asked { held[id] = realm.object(ofType: Ball.self, forPrimaryKey: id) }
        for round in 0..<40 {
            var changes: [Int: Int?] = [:]
            for _ in 0..<Int.random(in: 0...4, using: &random) {
                // The neighbours of what is held, what is held, and new ones at the end.
                let id = (asked.randomElement(using: &random) ?? 0) + Int.random(in: -1...1, using: &random)
                guard id >= 0, model[id] != nil else { continue }
                changes[id] =
                    Int.random(in: 0..<4, using: &random) == 0 ? .some(nil) : Int.random(in: 0..<1_000, using: &random)
            }
            for _ in 0..<Int.random(in: 0...2, using: &random) {
                changes[next] = round
                next += 1
            }
            let before = model
            try await thrower.write(changes)
            // The version stays until it is refreshed.
            for (id, ball) in held where before[id] != nil { #expect(ball.weight == before[id]) }
            realm.refresh()
            for (id, weight) in changes {
                if let weight { model[id] = weight } else { model[id] = nil }
            }
            for (id, ball) in held {
                #expect(ball.isInvalidated == (model[id] == nil), "seed \(seed), round \(round), \(id)")
                if let weight = model[id] { #expect(ball.weight == weight, "seed \(seed), round \(round), \(id)") }
            }
            for id in asked {
                let found = realm.object(ofType: Ball.self, forPrimaryKey: id)
                #expect(found?.weight == model[id], "seed \(seed), round \(round), \(id)")
            }
            held = held.filter { !$0.value.isInvalidated }
        }
        #expect(realm.objects(Ball.self).count == model.count)
    }
}
