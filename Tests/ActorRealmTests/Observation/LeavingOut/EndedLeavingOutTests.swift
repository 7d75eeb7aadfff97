import ActorRealm
import RealmTestSupport
import Testing

@Suite("Writes that leave out an observer which has ended", .timeLimit(.minutes(60)))
struct EndedLeavingOutTests {
    private let file = DockFile()

    @Test("they hold no versions, however long its token is kept")
    func deleted() async throws {
        let worker = try await file.worker()
        let journal = Journal<String>()
        let token = await worker.with { _, realm in
            realm.object(ofType: Boat.self, forPrimaryKey: 1)!.observe { journal.add(DockFile.text($0)) }
        }
        try await worker.with { _, realm in
            try realm.write { realm.delete(realm.object(ofType: Boat.self, forPrimaryKey: 1)!) }
        }
        #expect(await journal.wait(for: 1) == ["deleted"])
        let versions = try await worker.with { _, realm in
            for number in 0..<20 {
                try realm.write(withoutNotifying: [token]) { DockFile.dock(realm).name = "\(number)" }
            }
            return realm.activeVersions
        }
        #expect(versions.count == 1, "\(versions)")
        token.invalidate()
    }
}
