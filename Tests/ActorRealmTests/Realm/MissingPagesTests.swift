import Foundation
import RealmStorage
import RealmTestSupport
import Synchronization
import Testing

@testable import ActorRealm

/// What a realm reads of what it has acknowledged, where writing has stopped before it had pages.
@Suite("Pages on demand that cannot be made", .timeLimit(.minutes(60)))
struct MissingPagesTests {
    /// Says whether records can be applied.
    private final class Refusal: Sendable {
        private let state = Mutex(false)

        var isOn: Bool {
            get { state.withLock { $0 } }
            set { state.withLock { $0 = newValue } }
        }
    }

    let file = TestFile()
    private let clock = HandClock()
    let isBroken = FullDevice.Switch(.io)
    private let refusal = Refusal()

    func configuration() -> Realm.Configuration {
        var configuration = file.configuration
        configuration.keepLog()
        let adjust = configuration.adjustLog
        let refusal = refusal
        configuration.adjustLog = { log in
            adjust?(&log)
            log.pagesOnDemand = true
            let replay = log.replay
            log.replay = { records, transaction in
                if refusal.isOn { throw StorageError(.io, "No record can be applied") }
                return try replay(records, transaction)
            }
        }
        configuration.clock = clock.clock
        let isBroken = isBroken
        configuration.makeDevice = { FullDevice($0, isBroken) }
        return configuration
    }

    private func add(_ names: [String], to realm: Realm) throws {
        for name in names { try realm.write { _ = realm.create(Tally.self, value: ["name": name]) } }
    }

    func names(_ realm: Realm) -> [String] { realm.objects(Tally.self).map(\.name).sorted() }

    private func owes(_ realm: Realm) -> Bool { realm.core.coordinator.writes.owesPages }

    /// A realm which owes the pages of what three writes have changed.
    private func withOwing(_ body: (Realm, Tally) throws -> Void) throws {
        try withNewRealm(configuration()) { realm in
            defer { realm.close() }
            try add(["a"], to: realm)
            let tally = try #require(realm.objects(Tally.self).first)
            for count in 1...3 { try realm.write { tally.count = count } }
            try #require(owes(realm))
            try body(realm, tally)
        }
    }

    /// The same where the disk is broken; the next opening finds what was acknowledged.
    private func withBrokenDisk(_ body: (Realm, Tally) throws -> Void) throws {
        try withOwing { realm, tally in
            isBroken.isOn = true
            defer { isBroken.isOn = false }
            try body(realm, tally)
        }
        try withNewRealm(configuration()) { realm in
            defer { realm.close() }
            #expect(realm.objects(Tally.self).first?.count == 3)
        }
    }

    @Test("The realm reads what was acknowledged, however it is asked, and however often")
    func reading() throws {
        try withBrokenDisk { realm, tally in
            realm.refresh()
            #expect(tally.count == 3)
            #expect(isBroken.refused > 0)
            #expect(realm.freeze().objects(Tally.self).first?.count == 3)
            #expect(tally.freeze().count == 3)
            let refusal = #expect(throws: Realm.Error.self) { try add(["d"], to: realm) }
            #expect(refusal?.description.contains("acknowledged") == true)
            #expect(names(realm) == ["a"])
            #expect(tally.count == 3)
            realm.invalidate()
            #expect(realm.objects(Tally.self).first?.count == 3)
        }
    }

    @Test("A read that throws elsewhere reads what was acknowledged, too, and goes on doing so")
    func throwingReads() throws {
        try withBrokenDisk { realm, tally in
            for _ in 0..<3 {
                let count = try tally.value(of: \.count)
                #expect(count == 3)
            }
            #expect(isBroken.refused > 0)
            #expect(tally.count == 3)
        }
    }

    @Test("Each verification says that what was acknowledged has no pages")
    func verifying() throws {
        try withBrokenDisk { realm, tally in
            for _ in 0..<2 {
                let missing = #expect(throws: Realm.Error.self) { try realm.verify() }
                #expect(missing?.description.contains("acknowledged") == true)
            }
            #expect(tally.count == 3)
        }
    }

    @Test("Where what was acknowledged cannot be had in memory either, each read that can throw does")
    func notInMemory() throws {
        try withBrokenDisk { realm, tally in
            refusal.isOn = true
            defer { refusal.isOn = false }
            for _ in 0..<3 {
                #expect(throws: Realm.Error.self) { try tally.value(of: \.count) }
                // It has nothing to say.
                _ = tally.count
            }
            refusal.isOn = false
            // Before anything that throws, which would move the realm itself.
            #expect(realm.refresh())
            #expect(tally.count == 3)
            let count = try tally.value(of: \.count)
            #expect(count == 3)
        }
    }

    @Test("A commit whose record is gone with the log throws where its pages cannot be made, and alone")
    func lostLog() throws {
        try withOwing { realm, tally in
            try FileManager.default.removeItem(atPath: file.directory.path("test.realm") + ".log")
            isBroken.isOn = true
            defer { isBroken.isOn = false }
            #expect(throws: Realm.Error.self) { try realm.write { tally.count = 4 } }
            #expect(tally.count == 3)
        }
    }
}
