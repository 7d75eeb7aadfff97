import Foundation
import RealmStorage
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

    enum SecondName: String, CaseIterable { case folder, hardLink }

    /// A configuration of the file by another name.
    private func configuration(by name: SecondName) throws -> Realm.Configuration {
        let manager = FileManager.default
        var configuration = file.fast
        switch name {
        case .folder:
            let link = file.directory.path("link")
            try manager.createSymbolicLink(atPath: link, withDestinationPath: file.directory.path("."))
            configuration.fileURL = URL(fileURLWithPath: link + "/test.realm")
        case .hardLink:
            let link = file.directory.path("other.realm")
            try manager.linkItem(atPath: file.directory.path("test.realm"), toPath: link)
            configuration.fileURL = URL(fileURLWithPath: link)
        }
        return configuration
    }

    actor Writer {
        private var realm: Realm!

        init(_ configuration: Realm.Configuration) async throws {
            realm = try await Realm(configuration: configuration, actor: self)
        }

        func write(_ name: String) async throws {
            for index in 0..<50 {
                try await realm.asyncWrite { _ = realm.create(Tally.self, value: ["name": "\(name) \(index)"]) }
            }
        }

        var coordinator: RealmCoordinator { realm.core.coordinator }
    }

    @Test(
        "A file that is open by two names has one queue of writers, and loses nothing",
        arguments: SecondName.allCases
    )
    func twoNames(name: SecondName) async throws {
        _ = try names()
        let one = try await Writer(file.fast)
        let two = try await Writer(configuration(by: name))
        // Else the process ends below.
        try #require(await one.coordinator === two.coordinator)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await one.write("one") }
            group.addTask { try await two.write("two") }
            try await group.waitForAll()
        }
        #expect(try names().count == 102)
    }

    @Test("A file that is open by one name is neither deleted nor compacted by another one")
    func deletingByAnotherName() async throws {
        _ = try names()
        var other = try configuration(by: .folder)
        let writer = try await Writer(file.fast)
        #expect(throws: Realm.Error(.alreadyOpen, fileURL: other.fileURL)) { try Realm.deleteFiles(for: other) }
        let isAsked = Counter()
        other.shouldCompactOnLaunch = { _, _ in
            isAsked.increment()
            return true
        }
        #expect(try withNewRealm(other) { $0.objects(Tally.self).count } == 1)
        #expect(isAsked.value == 0)
        try await writer.write("later")
        #expect(try names().count == 52)
    }

    @Test("Who looks at a file, for its schema version or a plan, keeps nobody from opening it and writing")
    func lookingMeanwhile() throws {
        _ = try names()
        var options = StorageOptions()
        options.isReadOnly = true
        // What a plan holds while it is made.
        let looking = try StorageFile.open(path: file.directory.path("test.realm"), options: options)
        let before = try looking.beginRead()
        #expect(try names() == ["0", "1"])
        #expect(try looking.beginRead().version > before.version)
        #expect(try names() == ["0", "1", "2"])
    }
}
