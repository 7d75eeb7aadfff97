import Foundation
import RealmModel
import RealmStorage
import RealmTestSupport
import Testing

@testable import ActorRealm

/// What a realm does that owes pages for which there is no space.
@Suite("Pages on demand, and a full disk", .timeLimit(.minutes(60)))
struct FullDiskTests {
    private let file = TestFile()
    private let clock = HandClock()
    private let isFull = FullDevice.Switch()

    private func configuration() -> Realm.Configuration {
        var configuration = file.configuration
        configuration.keepLog()
        let adjust = configuration.adjustLog
        configuration.adjustLog = { log in
            adjust?(&log)
            log.pagesOnDemand = true
        }
        configuration.clock = clock.clock
        let isFull = isFull
        configuration.makeDevice = { FullDevice($0, isFull) }
        return configuration
    }

    /// A realm on a full disk, which owes the pages of what three writes have changed.
    private func withOwing(
        _ configuration: Realm.Configuration? = nil,
        _ body: (Realm, Tally) throws -> Void
    ) throws {
        try withNewRealm(configuration ?? self.configuration()) { realm in
            defer { realm.close() }
            try realm.write { _ = realm.create(Tally.self, value: ["name": "a"]) }
            let tally = try #require(realm.objects(Tally.self).first)
            for count in 1...3 { try realm.write { tally.count = count } }
            try #require(realm.core.coordinator.writes.owesPages)
            isFull.isOn = true
            defer { isFull.isOn = false }
            try body(realm, tally)
        }
    }

    /// What the next opening finds.
    private func countBehindClose() throws -> Int? {
        try withNewRealm(configuration()) { realm in
            defer { realm.close() }
            try realm.verify()
            return realm.objects(Tally.self).first?.count
        }
    }

    @Test("What was acknowledged is read, a write says that there is no space, and writing goes on once there is some")
    func goesOn() throws {
        try withOwing { realm, tally in
            let storage = realm.core.coordinator.file
            realm.refresh()
            #expect(tally.count == 3)
            #expect(isFull.refused > 0)
            for _ in 0..<2 {
                let refusal = #expect(throws: Realm.Error.self) { try realm.write { tally.count = 7 } }
                #expect(refusal?.code == .outOfDiskSpace)
                #expect(tally.count == 3)
                #expect(realm.freeze().objects(Tally.self).first?.count == 3)
                #expect(!storage.hasStopped)
                // Nothing is damaged.
                try realm.verify()
            }
            realm.invalidate()
            #expect(realm.objects(Tally.self).first?.count == 3)
            isFull.isOn = false
            let again = try #require(realm.objects(Tally.self).first)
            for count in 4...80 { try realm.write { again.count = count } }
            #expect(again.count == 80)
            #expect(storage.reasonOfMissingPages == nil)
            try realm.verify()
        }
        #expect(try countBehindClose() == 80)
    }

    @Test("Rule 22: where it cannot be made in memory either, a write brings it to the file once there is space")
    func withoutMemory() throws {
        let isShortOfMemory = FullDevice.Switch()
        var configuration = configuration()
        let adjust = configuration.adjustLog
        configuration.adjustLog = { log in
            adjust?(&log)
            let replay = log.replay
            log.replay = { records, transaction in
                // Nothing of such a file comes to the disk.
                if isShortOfMemory.isOn, transaction.file.options.isReadOnly {
                    throw StorageError(.io, "There is no memory for it")
                }
                return try replay(records, transaction)
            }
        }
        try withOwing(configuration) { realm, tally in
            isShortOfMemory.isOn = true
            #expect(throws: Realm.Error.self) { try tally.value(of: \.count) }
            for _ in 0..<2 {
                let refusal = #expect(throws: Realm.Error.self) { try realm.write { tally.count = 7 } }
                #expect(refusal?.code == .outOfDiskSpace)
            }
            isFull.isOn = false
            try realm.write {
                #expect(tally.count == 3)
                tally.count = 4
            }
            #expect(tally.count == 4)
            #expect(realm.core.coordinator.file.reasonOfMissingPages == nil)
        }
        #expect(try countBehindClose() == 4)
    }

    @Test("A write that is to be published with it fails alone")
    func failsAlone() throws {
        try withOwing { realm, tally in
            let refusal = #expect(throws: Realm.Error.self) {
                try realm.write {
                    for index in 0..<2_000 { _ = realm.create(Tally.self, value: ["name": "name \(index)"]) }
                }
            }
            #expect(refusal?.code == .outOfDiskSpace)
            #expect(tally.count == 3)
            #expect(realm.objects(Tally.self).count == 1)
            isFull.isOn = false
            try realm.write { tally.count = 4 }
            #expect(tally.count == 4)
        }
        #expect(try countBehindClose() == 4)
    }

    @Test("A realm that reads it in memory goes to the file when somebody else has made its pages")
    func madeByOther() throws {
        try withOwing { realm, tally in
            #expect(tally.count == 3)
            #expect(realm.core.model.snapshot.isInMemory)
            isFull.isOn = false
            let storage = realm.core.coordinator.file
            let turn = try realm.core.coordinator.writes.acquireBlocking(for: .none)
            realm.core.coordinator.writes.transactionBegins()
            try storage.beginWrite().rollback()
            realm.core.coordinator.writes.finish(turn)
            #expect(storage.reasonOfMissingPages == nil)
            // It is no other version.
            #expect(!realm.refresh())
            #expect(!realm.core.model.snapshot.isInMemory)
            #expect(tally.count == 3)
        }
        #expect(try countBehindClose() == 3)
    }

    @Test("A close on the full disk leaves it to the next opening")
    func closing() throws {
        try withNewRealm(configuration()) { realm in
            defer { realm.close() }
            try realm.write { _ = realm.create(Tally.self, value: ["name": "a"]) }
            let tally = try #require(realm.objects(Tally.self).first)
            for count in 1...3 { try realm.write { tally.count = count } }
            isFull.isOn = true
        }
        #expect(FileManager.default.fileExists(atPath: file.directory.path("test.realm") + ".log"))
        isFull.isOn = false
        #expect(try countBehindClose() == 3)
    }
}
