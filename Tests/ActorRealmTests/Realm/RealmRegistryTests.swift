import Foundation
import Logging
import RealmStorage
import Synchronization
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

    @Test("What is known of paths that were opened once does not grow with their number")
    func closedPaths() throws {
        func configuration(_ name: String) -> Realm.Configuration {
            Realm.Configuration(inMemoryIdentifier: name, objectTypes: [Tally.self])
        }
        let registry = RealmRegistry()
        let held = try registry.coordinator(for: configuration("held"))
        for number in 0..<3 * RealmRegistry.leastSlotLimit {
            _ = try registry.coordinator(for: configuration("closed \(number)"))
        }
        #expect(registry.slotCount <= RealmRegistry.leastSlotLimit)
        #expect(registry.existing(at: try OpenSettings(configuration("held")).path) === held)
    }

    @Test("Two files whose names are two spellings of one text are two")
    func spellings() throws {
        // In one character, and in two.
        let configurations = ["\u{E9}.realm", "e\u{301}.realm"]
            .map { name in
                var configuration = file.fast
                configuration.fileURL = URL(fileURLWithPath: file.directory.path(name))
                return configuration
            }
        try withNewRealm(configurations[0]) { one in
            try one.write { _ = one.create(Tally.self, value: ["name": "one"]) }
            try withNewRealm(configurations[1]) { other in
                #expect(other.objects(Tally.self).isEmpty)
                try other.write { _ = other.create(Tally.self, value: ["name": "other"]) }
                #expect(one.core.coordinator !== other.core.coordinator)
            }
            one.refresh()
            #expect(one.objects(Tally.self).map(\.name) == ["one"])
        }
        for configuration in configurations { #expect(Realm.fileExists(for: configuration)) }
        #expect(try Realm.deleteFiles(for: configurations[0]))
        #expect(!Realm.fileExists(for: configurations[0]) && Realm.fileExists(for: configurations[1]))
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

    /// Makes the file, and waits until no thread holds it any more.
    private func makeClosedFile() async throws {
        _ = try names()
        let path = file.directory.path("test.realm")
        while RealmRegistry.shared.existing(at: path) != nil { await Task.yield() }
    }

    /// Opens the file by another name while its first opening asks whether to compact it.
    @Test(
        "Two first openings by two names, one of which compacts the file, are openings of one file",
        arguments: SecondName.allCases
    )
    func compactingBesideAnotherName(name: SecondName) async throws {
        try await makeClosedFile()
        let other = try configuration(by: name)
        let path = file.directory.path("test.realm")
        let opened = Counter()
        let second = Mutex<Task<Writer, any Error>?>(nil)
        var compacting = file.fast
        compacting.shouldCompactOnLaunch = { _, _ in
            let task = Task { @Sendable in
                defer { opened.increment() }
                return try await Writer(other)
            }
            second.withLock { $0 = task }
            // It waits behind this opening, or would be open.
            while RealmRegistry.shared.userCount(ofFileAt: path) < 2, opened.value == 0 { sched_yield() }
            return true
        }
        let one = try await Writer(compacting)
        let two = try await #require(second.withLock { $0 }).value
        // Else the process ends below.
        try #require(await one.coordinator === two.coordinator)
        try await one.write("one")
        try await two.write("two")
        #expect(try names().count == 102)
    }

    @Test("A file that has a second name is not compacted, which would make two of it")
    func compactingHardLink() async throws {
        try await makeClosedFile()
        var other = try configuration(by: .hardLink)
        let error = #expect(throws: Realm.Error.self) { try Realm.compact(file.fast) }
        #expect(error?.code == .invalidInput)
        let lines = Mutex<[String]>([])
        other.shouldCompactOnLaunch = { _, _ in true }
        other.logger = Logger(level: .all) { _, message in lines.withLock { $0.append(message) } }
        #expect(try withNewRealm(other) { $0.objects(Tally.self).count } == 1)
        #expect(lines.withLock { $0 }.contains { $0.contains("it has another name, a hard link") })
        #expect(try names() == ["0", "1"])
        #expect(try withNewRealm(other) { $0.objects(Tally.self).count } == 2)
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
