import Foundation
import RealmStorage
import RealmTestSupport
import Testing

@testable import ActorRealm

/// The log behind the last realm of a file, of which a thread lets go later: one that flushed, gives space back, or verifies.
@Suite("The log ends with the last realm, whoever holds the file", .timeLimit(.minutes(60)))
struct LogAtCloseTests {
    private let file = TestFile()
    private var path: String { file.directory.path("test.realm") }
    private var hasLog: Bool { FileManager.default.fileExists(atPath: path + ".log") }

    private var configuration: Realm.Configuration {
        var configuration = file.configuration
        configuration.keepLog()
        return configuration
    }

    /// What a thread holds: this process has one instance of the file.
    private func hold() throws -> StorageFile { try StorageFile.open(path: path) }

    enum Form: CaseIterable { case write, asyncWrite }

    private actor Place {
        private var realm: Realm!

        func write(_ configuration: Realm.Configuration, _ names: [String], _ form: Form) async throws {
            realm = try await Realm(configuration: configuration, actor: self)
            for name in names {
                switch form {
                case .write: try realm.write { _ = realm.create(Tally.self, value: ["name": name]) }
                case .asyncWrite:
                    try await realm.asyncWrite { _ = realm.create(Tally.self, value: ["name": name]) }
                }
            }
        }

        /// Closes the realm, and looks for the log right behind that.
        func close(at path: String) -> Bool {
            realm.close()
            return FileManager.default.fileExists(atPath: path + ".log")
        }
    }

    private func names() throws -> [String] {
        try withNewRealm(configuration) { realm in realm.objects(Tally.self).map(\.name).sorted() }
    }

    @Test("Rule 32: a close ends it before it returns, though a thread has the file yet", arguments: Form.allCases)
    func close(form: Form) async throws {
        // What makes the file smaller may have its turn just then: it ends the log behind the close.
        var isShown = false
        for round in 0..<100 where !isShown { isShown = try await closeHeld(form, round) }
        #expect(isShown)
    }

    /// Closes a realm whose file is held; whether the log was gone then.
    private func closeHeld(_ form: Form, _ round: Int) async throws -> Bool {
        let place = Place()
        // So soon one behind the other that the write lock is kept between them.
        try await place.write(configuration, (0..<9).map { "\(round)-\($0)" }, form)
        let held = try hold()
        #expect(hasLog)
        if await place.close(at: path) { return false }
        #expect(!held.isClosed)
        let written = (round + 1) * 9
        // All of it is in one file.
        let copy = file.directory.path("copy.realm")
        try FileManager.default.copyItem(atPath: path, toPath: copy)
        var other = file.configuration
        other.fileURL = URL(fileURLWithPath: copy)
        #expect(try withNewRealm(other) { realm in realm.objects(Tally.self).count } == written)
        // The next realm of the same instance has a log again.
        let next = Place()
        try await next.write(configuration, ["next"], form)
        #expect(hasLog)
        _ = await next.close(at: path)
        #expect(try names().count == written + 1)
        withExtendedLifetime(held) {}
        return true
    }

    @Test("Rule 32: it ends with the last realm that is let go of, too")
    func lettingGo() throws {
        // A thread that tells of the commit may let go of the last realm's parts.
        var isShown = false
        for round in 0..<100 where !isShown {
            let held = try withNewRealm(configuration) { realm in
                try realm.write { _ = realm.create(Tally.self, value: ["name": "\(round)"]) }
                #expect(hasLog)
                return try hold()
            }
            isShown = !hasLog
            withExtendedLifetime(held) {}
        }
        #expect(isShown)
    }

    @Test("While another realm of the file is open it goes on")
    func otherRealm() async throws {
        let first = Place()
        let second = Place()
        try await first.write(configuration, ["one"], .write)
        try await second.write(configuration, ["two"], .write)
        #expect(await first.close(at: path))
        _ = await second.close(at: path)
        #expect(try names() == ["one", "two"])
    }
}
