import Dispatch
import Foundation
import Logging
import RealmTestSupport
import Synchronization
import Testing

@testable import ActorRealm

/// A realm whose file is not there yet begins with what its seed holds.
@Suite struct SeedFileTests {
    private let folder = TemporaryDirectory()

    private func url(_ name: String) -> URL { URL(fileURLWithPath: folder.path(name)) }

    private func configuration(_ name: String, seed: String? = nil) -> Realm.Configuration {
        var configuration = Realm.Configuration(fileURL: url(name), objectTypes: [Todo.self, Tally.self])
        configuration.seedFilePath = seed.map(url)
        return configuration
    }

    private func titles(_ name: String, seed: String? = nil) throws -> [String] {
        let realm = try Realm(configuration: configuration(name, seed: seed))
        defer { realm.close() }
        return realm.objects(Todo.self).map(\.name).sorted()
    }

    private func add(_ title: String, to name: String, seed: String? = nil) throws {
        let realm = try Realm(configuration: configuration(name, seed: seed))
        defer { realm.close() }
        try realm.write { _ = realm.create(Todo.self, value: ["name": title]) }
    }

    private var names: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: folder.url.path).sorted() }
    }

    @Test func `a new realm holds what its seed does, and neither changes with the other`() throws {
        try add("of the seed", to: "seed.realm")
        #expect(try titles("new.realm", seed: "seed.realm") == ["of the seed"])
        try add("of the new one", to: "new.realm", seed: "seed.realm")
        try add("later", to: "seed.realm")
        #expect(try titles("new.realm", seed: "seed.realm") == ["of the new one", "of the seed"])
        #expect(try titles("seed.realm") == ["later", "of the seed"])
        #expect(try names.filter { $0.hasPrefix("new.realm.") && $0 != "new.realm.lock" }.isEmpty)
    }

    @Test func `a seed that is reached through a link is copied, and the link is not`() throws {
        try add("of the seed", to: "seed.realm")
        try FileManager.default.createSymbolicLink(at: url("current.realm"), withDestinationURL: url("seed.realm"))
        try add("of the new one", to: "new.realm", seed: "current.realm")
        #expect(try titles("seed.realm") == ["of the seed"])
        #expect(try titles("new.realm") == ["of the new one", "of the seed"])
    }

    @Test func `a seed that is open is copied as its newest version is`() throws {
        let seed = try Realm(configuration: configuration("seed.realm"))
        try seed.write { _ = seed.create(Todo.self, value: ["name": "committed"]) }
        seed.beginWrite()
        _ = seed.create(Todo.self, value: ["name": "not yet"])
        #expect(try titles("new.realm", seed: "seed.realm") == ["committed"])
        try seed.commitWrite()
        #expect(seed.objects(Todo.self).count == 2)
        #expect(try titles("other.realm", seed: "seed.realm").count == 2)
    }

    @Test func `a seed that is no realm file is an error, and no file is made`() throws {
        try FileManager.default.createDirectory(at: url("folder.realm"), withIntermediateDirectories: false)
        try Data("no realm".utf8).write(to: url("text.realm"))
        #expect(mkfifo(folder.path("pipe.realm"), 0o600) == 0)
        let before = try names
        for (seed, code) in [
            ("folder.realm", Realm.Error.Code.invalidDatabase), ("text.realm", .invalidDatabase),
            ("pipe.realm", .invalidDatabase), ("none.realm", .fileNotFound), ("new.realm", .fileNotFound),
        ] {
            let error = #expect(throws: Realm.Error.self, "\(seed)") { try titles("new.realm", seed: seed) }
            #expect(error?.code == code, "\(seed): \(error.map { "\($0)" } ?? "")")
            #expect(!FileManager.default.fileExists(atPath: folder.path("new.realm")))
        }
        #expect(try names.filter { !$0.hasSuffix(".lock") } == before)
    }

    @Test func `the error of a seed that is no file is about the seed`() throws {
        var configuration = configuration("new.realm")
        let seed = try #require(URL(string: "https://example.com/seed.realm"))
        configuration.seedFilePath = seed
        let error = #expect(throws: Realm.Error.self) { _ = try Realm(configuration: configuration) }
        #expect(error?.code == .invalidInput && error?.message.contains("`seedFilePath`") == true)
        #expect(error?.fileURL == configuration.seedFilePath)
        #expect(try names.isEmpty)
    }

    @Test func `the error of a folder that is not there is about the new realm, and not about the seed`() throws {
        try add("of the seed", to: "seed.realm")
        let error = #expect(throws: Realm.Error.self) { try titles("none/new.realm", seed: "seed.realm") }
        #expect(error?.code == .fileNotFound)
        #expect(error?.fileURL == url("none/new.realm"))
        #expect(error?.message.contains("seed file") == false)
    }

    private actor Opener {
        private var realm: Realm?

        /// Adds to a realm of its own; returns how many there are of another name.
        func add(_ name: String, to configuration: Realm.Configuration, counting other: String) async throws -> Int {
            let realm = try await Realm(configuration: configuration, actor: self)
            try await realm.asyncWrite { _ = realm.create(Todo.self, value: ["name": name]) }
            self.realm = realm
            return realm.objects(Todo.self).where { $0.name == other }.count
        }

        func close() { realm?.close() }
    }

    @Test func `many that open a new realm at once have one, with what the seed holds`() async throws {
        try add("of the seed", to: "seed.realm")
        let counts = try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 0..<12 {
                group.addTask {
                    try await Opener()
                        .add("\(number)", to: configuration("new.realm", seed: "seed.realm"), counting: "of the seed")
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(counts == Array(repeating: 1, count: 12))
        #expect(try titles("new.realm").count == 13)
        #expect(try names.filter { $0.hasPrefix("new.realm") } == ["new.realm", "new.realm.lock"])
    }

    /// As a program does without the library.
    private func remove(_ name: String) throws {
        for name in [name, name + ".lock"] { try FileManager.default.removeItem(at: url(name)) }
    }

    @Test func `a file that was removed while its closed realm is held begins with the seed again`() async throws {
        try add("of the seed", to: "seed.realm")
        let held = try withNewRealm(configuration("new.realm")) { realm in
            try realm.write { _ = realm.create(Todo.self, value: ["name": "removed"]) }
            realm.close()
            return realm
        }
        try remove("new.realm")
        let opener = Opener()
        let seeded = configuration("new.realm", seed: "seed.realm")
        #expect(try await opener.add("1", to: seeded, counting: "of the seed") == 1)
        await opener.close()
        try remove("new.realm")
        #expect(try titles("new.realm", seed: "seed.realm") == ["of the seed"])
        withExtendedLifetime((held, opener)) {}
    }

    @Test func `a realm that is opened while its file is deleted begins with its seed`() throws {
        try add("of the seed", to: "seed.realm")
        try add("deleted", to: "new.realm")
        let coordinator = try Realm.prepare(configuration("new.realm"))
        let (inside, goesOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let (deleted, opened) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        coordinator.didLookForRealms = {
            coordinator.didLookForRealms = nil
            inside.signal()
            goesOn.wait()
        }
        Thread.detachNewThread { [self] in
            #expect(throws: Never.self) { try Realm.deleteFiles(for: configuration("new.realm")) }
            deleted.signal()
        }
        inside.wait()
        let found = Mutex<[String]?>(nil)
        Thread.detachNewThread { [self] in
            let titles = try? titles("new.realm", seed: "seed.realm")
            found.withLock { $0 = titles }
            opened.signal()
        }
        // It waits for the deletion then.
        usleep(500_000)
        goesOn.signal()
        deleted.wait()
        opened.wait()
        #expect(found.withLock { $0 } == ["of the seed"])
    }

    @Test func `a realm whose file is removed while it is opened begins with its seed`() async {
        await #expect(processExitsWith: .success) {
            let suite = SeedFileTests()
            // Who may do everything becomes somebody who may not.
            if getuid() == 0 { #expect(chown(suite.folder.url.path, 65_533, 0) == 0 && seteuid(65_533) == 0) }
            var status = stat()
            guard stat(suite.folder.url.path, &status) == 0 else {
                // Nobody else comes to the folder for temporary files: there is nothing to try.
                #expect(errno == EACCES && seteuid(0) == 0)
                return
            }
            try suite.add("of the seed", to: "seed.realm")
            try suite.add("removed", to: "new.realm")
            let path = suite.folder.path("new.realm")
            let claim = path + ".compacting.claim"
            #expect(FileManager.default.createFile(atPath: claim, contents: nil) && chmod(claim, 0) == 0)
            var configuration = suite.configuration("new.realm", seed: "seed.realm")
            let asked = Counter()
            configuration.shouldCompactOnLaunch = { _, _ in
                asked.increment()
                return asked.value == 1
            }
            // Between the attempt to compact the file and the opening of what is there then.
            configuration.logger = Logger(level: .warn) { _, message in
                guard message.contains("was not compacted") else { return }
                for name in [claim, path, path + ".lock"] { unlink(name) }
            }
            let titles = try withNewRealm(configuration) { realm -> [String] in
                defer { realm.close() }
                return realm.objects(Todo.self).map(\.name)
            }
            #expect(titles == ["of the seed"])
            #expect(asked.value == 2)
            if getuid() == 0 { #expect(seteuid(0) == 0) }
            withExtendedLifetime(suite) {}
        }
    }

    @Test func `a seed that was replaced while its closed realm is held is copied as it is now`() throws {
        try add("of the next seed", to: "next.realm")
        let held = try Realm(configuration: configuration("seed.realm"))
        try held.write { _ = held.create(Todo.self, value: ["name": "of the seed"]) }
        held.close()
        try remove("seed.realm")
        try FileManager.default.moveItem(at: url("next.realm"), to: url("seed.realm"))
        #expect(try titles("new.realm", seed: "seed.realm") == ["of the next seed"])
        withExtendedLifetime(held) {}
    }

    @Test func `a file that is made anew begins with the seed where that fits, and else with nothing`() throws {
        var later = configuration("new.realm", seed: "seed.realm")
        later.schemaVersion = 1
        later.deleteRealmIfMigrationNeeded = true
        func open() throws -> [String] {
            let realm = try Realm(configuration: later)
            defer { realm.close() }
            return realm.objects(Todo.self).map(\.name)
        }
        try add("of the seed", to: "seed.realm")
        // The seed is of the earlier version itself.
        #expect(try open().isEmpty)
        try remove("new.realm")
        try add("of the earlier version", to: "new.realm")
        #expect(try open().isEmpty)
        try remove("new.realm")
        try remove("seed.realm")
        var next = configuration("seed.realm")
        next.schemaVersion = 1
        try withNewRealm(next) { realm in
            try realm.write { _ = realm.create(Todo.self, value: ["name": "of the next seed"]) }
        }
        try add("of the earlier version", to: "new.realm")
        #expect(try open() == ["of the next seed"])
    }
}
