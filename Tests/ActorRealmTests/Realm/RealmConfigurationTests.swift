import Foundation
import RealmTestSupport
import Testing

@testable import ActorRealm

@Suite("Realm.Configuration says which file is meant, and refuses nonsense")
struct RealmConfigurationTests {
    @Test("The default file is default.realm in the working directory")
    func defaultFile() {
        let url = Realm.Configuration().fileURL
        #expect(url?.lastPathComponent == "default.realm")
        #expect(
            url?.deletingLastPathComponent().standardizedFileURL.path
                == URL(fileURLWithPath: FileManager.default.currentDirectoryPath).standardizedFileURL.path
        )
    }

    @Test("A file URL and an in-memory identifier exclude each other: the one set last counts")
    func places() {
        var configuration = Realm.Configuration(inMemoryIdentifier: "memory")
        #expect(configuration.fileURL == nil)
        configuration.fileURL = URL(fileURLWithPath: "/tmp/a.realm")
        #expect(configuration.inMemoryIdentifier == nil)
        configuration.inMemoryIdentifier = "memory"
        #expect(configuration.fileURL == nil)
    }

    @Test("Two spellings of one name in memory are two names, as they are two realms")
    func spellings() {
        let composed = Realm.Configuration(inMemoryIdentifier: "caf\u{E9}")
        let decomposed = Realm.Configuration(inMemoryIdentifier: "cafe\u{301}")
        #expect(composed != decomposed)
        #expect(composed == Realm.Configuration(inMemoryIdentifier: "caf\u{E9}"))
        #expect(decomposed.inMemoryIdentifier.map { Array($0.utf8) } == Array("cafe\u{301}".utf8))
    }

    @Test("The documentation's way to name a file compiles")
    func documentation() {
        var config = Realm.Configuration.defaultConfiguration
        config.fileURL!.deleteLastPathComponent()
        config.fileURL!.appendPathComponent("Galadriel")
        config.fileURL!.appendPathExtension("realm")
        #expect(config.fileURL?.lastPathComponent == "Galadriel.realm")
    }

    @Test("The path of a file is that of its standardized URL, whatever names are in it")
    func path() throws {
        var random = SplitMix64(seed: 27)
        let parts = [
            "/", "/", "a", "b c", ".", "..", "...", ".a", "a.", "%", "ä", "a\u{308}", "\u{338}", "~", "a//b", "./",
        ]
        for _ in 0..<20_000 {
            let count = Int.random(in: 1...8, using: &random)
            let text = (0..<count).map { _ in parts.randomElement(using: &random)! }
                .joined(separator: Bool.random(using: &random) ? "/" : "")
            let url = URL(fileURLWithPath: "/nowhere/" + text)
            let path = try OpenSettings(Realm.Configuration(fileURL: url)).path
            #expect(Array(path.utf8) == Array(url.standardizedFileURL.path.utf8), "\(text)")
        }
        for text in [
            "file:///nowhere/b%20c.realm", "file:/nowhere/a.realm", "file:///nowhere/%2e%2e/a", "file:///a%2F%2Fb",
        ] {
            let url = try #require(URL(string: text))
            let path = try OpenSettings(Realm.Configuration(fileURL: url)).path
            #expect(Array(path.utf8) == Array(url.standardizedFileURL.path.utf8), "\(text)")
        }
    }

    @Test("Configurations are equal when they mean the same file in the same way")
    func equality() {
        let one = Realm.Configuration(fileURL: URL(fileURLWithPath: "/tmp/a.realm"), schemaVersion: 2)
        var two = one
        two.maximumNumberOfActiveVersions = 3
        #expect(one == two)
        two.schemaVersion = 3
        #expect(one != two)
        #expect(one.description.contains("/tmp/a.realm"))
    }

    @Test("A description never shows the key")
    func descriptionHidesKey() {
        let configuration = Realm.Configuration(encryptionKey: Data(repeating: 65, count: 64))
        #expect(!configuration.description.contains("AAAA"))
        #expect(configuration.description.contains("encryptionKey = (set);"))
    }

    @Test("Settings that contradict each other are an error")
    func contradictions() {
        var configuration = Realm.Configuration()
        configuration.fileURL = nil
        #expect(throws: Realm.Error(.invalidInput)) { try OpenSettings(configuration) }
        configuration = Realm.Configuration(readOnly: true, deleteRealmIfMigrationNeeded: true)
        #expect { try OpenSettings(configuration) } throws: { ($0 as? Realm.Error)?.code == .invalidInput }
        configuration = Realm.Configuration(encryptionKey: Data(count: 63))
        #expect { try OpenSettings(configuration) } throws: { "\($0)".contains("64 bytes") }
    }

    @Test("Whether a file is there, and its deletion, do not depend on settings that only an opening needs")
    func filesOfContradictions() throws {
        let file = TestFile()
        try withNewRealm(file.fast) { $0.close() }
        var contradicting = file.fast
        contradicting.readOnly = true
        contradicting.shouldCompactOnLaunch = { _, _ in true }
        var encrypted = file.fast
        encrypted.encryptionKey = Data(count: 64)
        for configuration in [contradicting, encrypted] { #expect(Realm.fileExists(for: configuration)) }
        let isDeleted = try Realm.deleteFiles(for: encrypted)
        #expect(isDeleted && !Realm.fileExists(for: contradicting))
    }

    @Test("In-memory realms have a file of their own each, whatever their name holds")
    func memoryPaths() throws {
        let names = ["a/b", "a_b", "ab", "../x", "ä"]
        let paths = try names.map { try OpenSettings(Realm.Configuration(inMemoryIdentifier: $0)).path }
        #expect(Set(paths).count == names.count)
        for path in paths { #expect(path.split(separator: "/").count <= 3) }
    }
}
