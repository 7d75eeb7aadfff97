import ActorRealm
import Foundation
import RealmTestSupport
import Testing

/// Random writes in every form on a realm and on plain Swift collections, which must agree: now, in every snapshot, in the
/// realm of another actor, and after the file was opened anew.
@Suite("A realm against plain Swift", .timeLimit(.minutes(60)))
struct RandomRealmTests {
    private struct Refused: Error {}

    /// The actor that reads.
    private actor Reader {
        private var realm: Realm!

        init(_ configuration: Realm.Configuration) async throws {
            realm = try await Realm(configuration: configuration, actor: self)
        }

        func riders() async -> PlainRiders {
            await realm.asyncRefresh()
            return PlainRiders(realm)
        }
    }

    @Test("random transactions agree with plain collections")
    @MainActor
    func transactions() async throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = SplitMix64(seed: seed)
        let comment = Comment("seed \(seed)")
        let directory = TemporaryDirectory()
        var configuration = Realm.Configuration(fileURL: directory.url.appendingPathComponent("riders.realm"))
        configuration.objectTypes = [Rider.self, RiderStable.self]
        configuration.durability = .unflushed
        var realm = try await Realm(configuration: configuration)
        let reader = try await Reader(configuration)
        var plain = PlainRiders()
        var snapshots: [(realm: Realm, plain: PlainRiders)] = []
        var commits = 0
        for _ in 0..<250 {
            let count = Int.random(in: 1...12, using: &random)
            let isRefused = Int.random(in: 0..<8, using: &random) == 0
            var next = plain
            func steps() throws {
                for _ in 0..<count { next.step(in: realm, &random) }
                #expect(PlainRiders(realm) == next, comment)
                if isRefused { throw Refused() }
            }
            let form = Int.random(in: 0..<4, using: &random)
            do {
                switch form {
                case 0: try realm.write { try steps() }
                case 1: try await realm.asyncWrite { try steps() }
                default:
                    realm.beginWrite()
                    do { try steps() } catch {
                        realm.cancelWrite()
                        throw error
                    }
                    try realm.commitWrite()
                }
                plain = next
                commits += 1
            } catch is Refused {}
            #expect(PlainRiders(realm) == plain, comment)
            expectQueries(realm, plain, comment)
            switch Int.random(in: 0..<12, using: &random) {
            case 0: snapshots.append((realm.freeze(), plain))
            case 1: #expect(await reader.riders() == plain, comment)
            case 2:
                if let index = snapshots.indices.randomElement(using: &random) {
                    let old = snapshots.remove(at: index)
                    #expect(PlainRiders(old.realm) == old.plain, comment)
                }
            case 3:
                realm.invalidate()
                #expect(PlainRiders(realm) == plain, comment)
            case 4:
                try realm.verify()
                realm = try await Realm(configuration: configuration)
            default: break
            }
        }
        for old in snapshots { #expect(PlainRiders(old.realm) == old.plain, comment) }
        #expect(await reader.riders() == plain, comment)
        #expect(commits > 150)
        print("Random riders: \(commits) commits, \(plain.riders.count) riders at the end, seed \(seed).")
    }

    /// What filters, sorts, aggregates and reversed links say.
    @MainActor
    private func expectQueries(_ realm: Realm, _ plain: PlainRiders, _ comment: Comment) {
        let all = realm.objects(Rider.self)
        let riders = plain.riders
        #expect(all.count == riders.count, comment)
        #expect(all.sum(of: \.age) == riders.values.reduce(0) { $0 + $1.age }, comment)
        #expect(all.max(of: \.age) == riders.values.map(\.age).max(), comment)
        let sorted = all.sorted(by: [SortDescriptor(keyPath: "age"), SortDescriptor(keyPath: "id", ascending: false)])
        let expected = riders.sorted { ($0.value.age, -$0.key) < ($1.value.age, -$1.key) }.map(\.key)
        #expect(sorted.map { $0.id } == expected, comment)
        for name in Set(riders.values.map(\.name)) {
            let found = Set(all.where { $0.name == name }.map { $0.id })
            #expect(found == Set(riders.filter { Array($0.value.name.utf8) == Array(name.utf8) }.keys), comment)
        }
        let alone = Set(all.filter("nick == nil AND tags.@count > 1").map(\.id))
        #expect(alone == Set(riders.filter { $0.value.nick == nil && $0.value.tags.count > 1 }.keys), comment)
        for rider in all.prefix(5) {
            let followers = Set(rider.followers.map { $0.id })
            #expect(followers == Set(riders.filter { $0.value.friend == rider.id }.keys), comment)
        }
    }
}
