import Foundation
import RealmTestSupport
import Synchronization
import Testing

@testable import ActorRealm
@testable import RealmStorage

/// What happens to a realm with a log when nobody writes for a while, on the threads of the library.
@Suite("Realms with a log behind their last commit", .serialized, .timeLimit(.minutes(60)))
struct RestingRealmTests {
    private let file = TestFile()
    private var path: String { file.directory.path("test.realm") }

    private func configuration(_ patience: Duration) -> Realm.Configuration {
        var configuration = file.configuration
        configuration.keepLog(patience: patience)
        return configuration
    }

    private static func add(_ name: String, to realm: Realm) throws {
        try realm.write { _ = realm.create(Tally.self, value: ["name": name]) }
    }

    @Test("Rule 27: a checkpoint is made of the last commit, with nobody's help, and what is killed then needs no log")
    func checkpoint() throws {
        try withNewRealm(configuration(.milliseconds(20))) { realm in
            for round in 0..<5 {
                try Self.add("\(round)", to: realm)
                let storage = realm.core.coordinator.file
                try #require(storage.openLog != nil)
                let deadline = ContinuousClock.now + .seconds(600)
                while storage.checkpointVersion.load(ordering: .sequentiallyConsistent) < storage.newestVersion {
                    try #require(ContinuousClock.now < deadline, "no checkpoint is made")
                    Thread.sleep(forTimeInterval: 0.001)
                }
            }
            // All records are gone from the log, as from a disk that has lost it.
            let copy = file.directory.path("killed.realm")
            for suffix in ["", ".log"] {
                try FileManager.default.copyItem(atPath: path + suffix, toPath: copy + suffix)
            }
            var log = try Data(contentsOf: URL(fileURLWithPath: copy + ".log"))
            log.replaceSubrange(4096..., with: Data(count: log.count - 4096))
            try log.write(to: URL(fileURLWithPath: copy + ".log"))
        }
        var killed = configuration(.milliseconds(20))
        killed.fileURL = URL(fileURLWithPath: file.directory.path("killed.realm"))
        #expect(try withNewRealm(killed) { $0.objects(Tally.self).count } == 5)
    }

    @Test("Rule 32: a close at any moment behind the last commit leaves one file, and no thread that holds it")
    func close() async throws {
        let configuration = configuration(.milliseconds(2))
        for round in 0..<60 {
            try withNewRealm(configuration) { realm in
                try Self.add("\(round)", to: realm)
                try Self.add("\(round) again", to: realm)
                Thread.sleep(forTimeInterval: Double(round % 12) * 0.000_3)
            }
            #expect(await eventually { !StorageFile.isOpenAnywhere(path: path) })
            #expect(!FileManager.default.fileExists(atPath: path + ".log"), "round \(round)")
        }
        #expect(try withNewRealm(configuration) { $0.objects(Tally.self).count } == 120)
    }

    @Test(
        "A realm that rests is one closed file, and has a log again when it is written to again",
        arguments: [false, true]
    )
    func rest(pagesOnDemand: Bool) throws {
        let clock = HandClock()
        var configuration = file.configuration
        configuration.keepsLog = true
        configuration.clock = clock.clock
        configuration.adjustLog = { log in
            log.pageCommitCount = 0
            log.pagesOnDemand = pagesOnDemand
            let run = log.runBeside
            log.runBeside = { work, body in
                if work == .space { body() } else { run(work, body) }
            }
        }
        let log = path + ".log"
        try withNewRealm(configuration) { realm in
            defer { realm.close() }
            for round in 1...3 {
                for name in 0..<3 { try Self.add("\(round) \(name)", to: realm) }
                #expect(FileManager.default.fileExists(atPath: log))
                let deadline = ContinuousClock.now + .seconds(30)
                while FileManager.default.fileExists(atPath: log), ContinuousClock.now < deadline {
                    // The threads of the library do what is due.
                    clock.advance(seconds: 5)
                    Thread.sleep(forTimeInterval: 0.001)
                }
                #expect(!FileManager.default.fileExists(atPath: log))
                #expect(realm.objects(Tally.self).count == 3 * round)
                // As a kill leaves it, or a backup of the one file takes it.
                let copy = file.directory.path("rested-\(round).realm")
                try FileManager.default.copyItem(atPath: path, toPath: copy)
                var rested = file.configuration
                rested.fileURL = URL(fileURLWithPath: copy)
                let count = try withNewRealm(rested) { realm in
                    defer { realm.close() }
                    return realm.objects(Tally.self).count
                }
                #expect(count == 3 * round)
            }
        }
        #expect(!FileManager.default.fileExists(atPath: log))
    }
}
