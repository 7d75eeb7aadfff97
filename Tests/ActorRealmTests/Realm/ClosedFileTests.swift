import Foundation
import RealmStorage
import RealmTestSupport
import Testing

@testable import ActorRealm

/// What a close leaves behind: no thread holds the file, though one waits for the commits of other processes as long as it is open.
@Suite("Files behind their close", .timeLimit(.minutes(60)))
struct ClosedFileTests {
    /// An actor whose realms are told of commits.
    private actor Place {
        /// Opens a realm, writes to it, and closes it.
        func use(_ configuration: Realm.Configuration, _ name: String) async throws {
            let realm = try await Realm(configuration: configuration, actor: self)
            try realm.write { _ = realm.create(Tally.self, value: ["name": name]) }
            realm.close()
        }
    }

    private let file = TestFile()
    private var path: String { file.directory.path("test.realm") }

    private func configuration(keepsLog: Bool) -> Realm.Configuration {
        var configuration = file.configuration
        if keepsLog { configuration.keepLog() } else { configuration.keepsLog = false }
        return configuration
    }

    /// What makes the file smaller in the background may just be looking at it, seldom and for a moment; no other thread holds it.
    ///
    /// Such a moment is as long as that thread gets no processor: where it was met too often, fifty rounds more are counted for
    /// themselves, until the time limit of the test. A thread that holds the file as a rule is met in each fifty.
    @Test("Rule 32: a close ends the log and gives the file back before it returns", arguments: [false, true])
    func close(keepsLog: Bool) async throws {
        let configuration = configuration(keepsLog: keepsLog)
        var held = 0
        var rounds = 0
        repeat {
            held = 0
            for round in rounds..<rounds + 50 {
                try await Place().use(configuration, "\(round)")
                if StorageFile.isOpenAnywhere(path: path) { held += 1 }
                #expect(await eventually { !StorageFile.isOpenAnywhere(path: path) })
                #expect(!FileManager.default.fileExists(atPath: path + ".log"), "round \(round)")
            }
            rounds += 50
        } while held >= 10 && !Task.isCancelled
        #expect(held < 10)
        let names = try withNewRealm(configuration) { $0.objects(Tally.self).count }
        #expect(names == rounds)
    }
}
