import Foundation
import Testing

@testable import ActorRealm

@Suite("The open files of a process")
struct RealmRegistryTests {
    let file = TestFile()

    private func names() throws -> [String] {
        try withNewRealm(file.fast) { realm in
            try realm.write { _ = realm.create(Tally.self, value: ["name": "\(realm.objects(Tally.self).count)"]) }
            return realm.objects(Tally.self).map(\.name)
        }
    }

    private func removeFiles() throws {
        let path = file.directory.path("test.realm")
        for name in [path, path + ".lock"] { try FileManager.default.removeItem(atPath: name) }
    }

    @Test("A file that was deleted is made anew, though a thread has not let go of the old one")
    func deletedWhileLettingGo() throws {
        #expect(try names() == ["0"])
        // What a thread at work holds for an instant after the last realm is gone.
        let held = try withNewRealm(file.fast) { $0.core.coordinator }
        #expect(try names() == ["0", "1"], "as long as the file is there it is the same")
        try removeFiles()
        #expect(held.isForsaken)
        #expect(try names() == ["0"])
        #expect(try names() == ["0", "1"])
        withExtendedLifetime(held) {}
    }

    @Test("As long as a realm of a deleted file is open, who opens it gets that file, and an error for writing")
    func deletedWhileOpen() throws {
        try withNewRealm(file.fast) { realm in
            try realm.write { _ = realm.create(Tally.self, value: ["name": "a"]) }
            try removeFiles()
            #expect(!realm.core.coordinator.isForsaken)
            #expect(throws: Realm.Error.self) { try realm.write { _ = realm.create(Tally.self) } }
            #expect(throws: Realm.Error.self) { try names() }
            #expect(realm.objects(Tally.self).count == 1)
        }
        #expect(try names() == ["0"])
    }
}
