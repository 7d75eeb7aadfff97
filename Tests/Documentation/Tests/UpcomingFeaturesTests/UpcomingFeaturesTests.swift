import ActorRealm
import Foundation
import Testing

class Reading: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var celsius: Double
}

/// A station that several tasks report to.
actor Station {
    private var realm: Realm!

    init(configuration: Realm.Configuration) async throws {
        realm = try await Realm(configuration: configuration, actor: self)
    }

    func record(_ id: Int, celsius: Double) async throws {
        // The block that receives the realm does not capture the actor, so that a fresh object may be used after it.
        let reading = Reading()
        reading.id = id
        reading.celsius = celsius
        try await realm.asyncWrite { $0.add(reading, update: .modified) }
    }

    var warmest: Double? { realm.objects(Reading.self).max(of: \.celsius) }
    var mean: Double? { realm.objects(Reading.self).average(of: \.celsius) }
}

@Suite("With the upcoming features of the language", .timeLimit(.minutes(60)))
struct UpcomingFeaturesTests {
    @Test("Several tasks write through an actor and ask it for aggregates")
    func aggregates() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("station-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let station = try await Station(
            configuration: Realm.Configuration(fileURL: folder.appendingPathComponent("station.realm"))
        )
        try await withThrowingTaskGroup(of: Void.self) { group in
            for id in 0..<20 {
                group.addTask { try await station.record(id, celsius: Double(id)) }
            }
            try await group.waitForAll()
        }
        #expect(await station.warmest == 19)
        #expect(await station.mean == 9.5)
    }
}
