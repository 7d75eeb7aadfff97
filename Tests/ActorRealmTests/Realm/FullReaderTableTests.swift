import Foundation
import RealmStorage
import Testing

@testable import ActorRealm

/// Writes of a process that reads as many versions at once as it may.
@Suite("A full table of readers", .timeLimit(.minutes(60)))
struct FullReaderTableTests {
    let file = TestFile()

    @Test("A write is refused before it writes where its realm could not stand, and otherwise returns and is there")
    func writing() throws {
        let configuration = file.fast
        var kept: [Snapshot] = []
        var written = 0
        try withNewRealm(configuration) { realm in
            let tally = try realm.write { realm.create(Tally.self, value: ["name": "a"]) }
            let storage = realm.core.coordinator.file
            var failure: Realm.Error?
            while failure == nil {
                do {
                    try realm.write { tally.count += 1 }
                    written += 1
                    try kept.append(storage.beginRead())
                } catch {
                    failure = error as? Realm.Error
                }
            }
            #expect(failure?.code == .limitExceeded)
            #expect(kept.count > 4_000)
            #expect(tally.count == written && storage.newestVersion == realm.core.version)
            // Each one that is let go of makes room for one write.
            for _ in 0..<5 {
                kept.removeFirst()
                try realm.write { tally.count += 1 }
                written += 1
                #expect(tally.count == written)
                try kept.append(storage.beginRead())
            }
            let refused = #expect(throws: Realm.Error.self) { try realm.write { tally.count += 1 } }
            #expect(refused?.code == .limitExceeded)
            #expect(tally.count == written)
            realm.close()
        }
        kept = []
        try withNewRealm(configuration) { realm in
            #expect(realm.objects(Tally.self).map(\.count) == [written])
            try realm.verify()
        }
    }
}
