import Foundation
import Synchronization
import Testing

@testable import ActorRealm

/// Logs that go with their realm or outlive it, and another file at a log's name.
extension LoggedRealmTests {
    @Test("Files that are deleted take their log with them")
    func deletion() throws {
        try withNewRealm(configuration()) { realm in
            defer { realm.close() }
            try add(0..<4, to: realm, "one")
            try kill()
        }
        #expect(hasLog("killed"))
        #expect(try Realm.deleteFiles(for: configuration("killed")))
        #expect(!hasLog("killed"))
        #expect(try recovered() == [])
    }

    @Test(
        "A file of the program's own at the log's name keeps no realm from opening, and stays",
        arguments: [false, true]
    )
    func ownFile(hadLog: Bool) throws {
        var first = configuration(keepsLog: hadLog)
        first.keepsLog = hadLog
        try withNewRealm(first) { realm in
            defer { realm.close() }
            try add(0..<2, to: realm, "one")
            #expect(hasLog() == hadLog)
        }
        try untilClosed()
        let own = Data("2026-11-30 started\n".utf8)
        let log = URL(fileURLWithPath: path("test") + ".log")
        try own.write(to: log)
        let lines = Mutex<[String]>([])
        var second = configuration()
        second.logger = Logger(level: .warn) { _, message in lines.withLock { $0.append(message) } }
        try withNewRealm(second) { realm in
            defer { realm.close() }
            for id in 2..<40 { try add([id], to: realm, "two") }
            #expect(describe(realm).count == 40)
            // It is said on another thread.
            let deadline = ContinuousClock.now + .seconds(60)
            while lines.withLock({ lines in lines.allSatisfy { !$0.contains("without a log") } }) {
                try #require(ContinuousClock.now < deadline, "nobody was told why there is no log")
                Thread.sleep(forTimeInterval: 0.001)
            }
        }
        try untilClosed()
        #expect(try Data(contentsOf: log) == own)
    }

    @Test("A realm that is made anew where a killed one was deleted by hand opens, and is written")
    func deletedByHand() throws {
        try withNewRealm(configuration()) { realm in
            defer { realm.close() }
            try add(0..<3, to: realm, "one")
            try kill()
        }
        #expect(hasLog("killed"))
        // Of the files only those that there are without a log.
        try FileManager.default.removeItem(atPath: path("killed"))
        try withNewRealm(configuration("killed")) { realm in
            defer { realm.close() }
            #expect(describe(realm) == [])
            try add(0..<2, to: realm, "two")
            #expect(describe(realm).count == 2)
        }
        #expect(hasLog("killed"))
    }

    @Test("The log of a realm that was moved away stays when the realm that has taken its name is deleted")
    func deletedBesideOther() throws {
        try withNewRealm(configuration()) { realm in
            defer { realm.close() }
            try add(0..<3, to: realm, "one")
            try kill()
        }
        try FileManager.default.moveItem(atPath: path("killed"), toPath: path("moved"))
        try withNewRealm(configuration("killed")) { realm in
            defer { realm.close() }
            try add(0..<2, to: realm, "two")
        }
        #expect(try Realm.deleteFiles(for: configuration("killed")))
        #expect(!FileManager.default.fileExists(atPath: path("killed")))
        try #require(hasLog("killed"))
        // Nor does it go with a realm that is not there.
        #expect(try !Realm.deleteFiles(for: configuration("killed")))
        try FileManager.default.moveItem(atPath: path("killed") + ".log", toPath: path("moved") + ".log")
        #expect(try recovered("moved").count == 3)
    }
}
