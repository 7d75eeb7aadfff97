import Foundation
import Glibc
import RealmTestSupport
import Testing

@_spi(Tools) @testable import ActorRealm
@testable import RealmStorage

/// What the project's own tools choose of logs.
@Suite("Realms whose log the environment or a tool chooses", .timeLimit(.minutes(60)))
struct LogModeOfRealmsTests {
    private let file = TestFile()
    private var path: String { file.directory.path("test.realm") }
    private var hasLog: Bool { FileManager.default.fileExists(atPath: path + ".log") }

    private func add(_ name: String, to realm: Realm) throws {
        try realm.write { _ = realm.create(Tally.self, value: ["name": name]) }
    }

    @Test(
        "A configuration that says nothing of a log has one where the environment asks for it",
        arguments: LogMode.allCases
    )
    func environment(mode: LogMode) async {
        await #expect(processExitsWith: .success) { [word = mode.rawValue as String] in
            setenv(LogMode.variable, word, 1)
            let said = try Realm.logMode()
            #expect(said == word)
            let file = TestFile()
            let configuration = file.configuration
            let keepsLog = configuration.keepsLog
            #expect(keepsLog == (word != "off"))
            let log = try OpenSettings(configuration).options.log
            #expect(log?.pagesOnDemand == (word == "off" ? nil : word == "ondemand"))
            let unflushed = try OpenSettings(file.fast).options.log
            #expect(unflushed == nil)
        }
    }

    @Test("A word that is none is an error for tools, and says nothing to realms")
    func unknown() async {
        await #expect(processExitsWith: .success) {
            setenv(LogMode.variable, "always", 1)
            let keepsLog = Realm.Configuration().keepsLog
            #expect(keepsLog)
            let error = #expect(throws: Realm.Error.self) { try Realm.logMode() }
            #expect(error?.code == .invalidInput)
            #expect(error?.message.contains("off, log, ondemand") == true)
        }
    }

    @Test(
        "A log that is begun at once has the first commit, and pages on demand as was said",
        arguments: [false, true]
    )
    func atOnce(isOnDemand: Bool) throws {
        var configuration = file.configuration
        configuration.keepLog(pagesOnDemand: isOnDemand)
        configuration.beginLogAtOnce()
        configuration.stopClock()
        try withNewRealm(configuration) { realm in
            defer { realm.close() }
            try add("first", to: realm)
            #expect(hasLog)
            let file = realm.core.coordinator.file
            // Whoever counts commits makes some before.
            for index in 0..<20 { try add("before \(index)", to: realm) }
            let version = file.newestVersion
            // In less than half of a log no checkpoint is begun.
            for index in 0..<200 { try add("counted \(index)", to: realm) }
            let made = Int(file.newestVersion - version)
            #expect(isOnDemand ? made < 200 : made == 200, "\(made)")
            #expect(realm.objects(Tally.self).count == 221)
        }
        #expect(!hasLog)
    }

    @Test("Without checkpoints the log is filled to its end, and a kill loses nothing of it")
    func full() throws {
        var configuration = file.configuration
        configuration.keepLog(pagesOnDemand: false)
        configuration.beginLogAtOnce(ringByteCount: 16 * 4096, makingCheckpoints: false)
        let killed = file.directory.path("killed.realm")
        try withNewRealm(configuration) { realm in
            defer { realm.close() }
            let file = realm.core.coordinator.file
            try add("0", to: realm)
            let checkpoint = file.checkpointVersion.load(ordering: .sequentiallyConsistent)
            for index in 1..<15 { try add("\(index)", to: realm) }
            #expect(file.checkpointVersion.load(ordering: .sequentiallyConsistent) == checkpoint)
            for suffix in ["", ".log"] {
                try FileManager.default.copyItem(atPath: path + suffix, toPath: killed + suffix)
            }
        }
        var opened = configuration
        opened.fileURL = URL(fileURLWithPath: killed)
        #expect(try withNewRealm(opened) { $0.objects(Tally.self).count } == 15)
    }
}
