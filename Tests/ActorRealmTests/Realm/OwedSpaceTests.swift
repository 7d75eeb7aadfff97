import Foundation
import RealmStorage
import RealmTestSupport
import Testing

@testable import ActorRealm

/// The space that a realm needs for pages which are made later.
@Suite("Pages on demand, and their space", .timeLimit(.minutes(60)))
struct OwedSpaceTests {
    private let file = TestFile()
    private let clock = HandClock()

    private func configuration(
        isOn: Bool = true,
        _ makeDevice: @escaping @Sendable (any StorageDevice) -> any StorageDevice = { $0 }
    ) -> Realm.Configuration {
        var configuration = file.configuration
        configuration.keepLog(ringByteCount: nil)
        let adjust = configuration.adjustLog
        configuration.adjustLog = { log in
            adjust?(&log)
            log.pagesOnDemand = isOn
        }
        configuration.clock = clock.clock
        configuration.makeDevice = makeDevice
        configuration.objectTypes = [Tally.self, InMemoryNote.self]
        return configuration
    }

    private func add(_ names: [String], to realm: Realm) throws {
        for name in names { try realm.write { _ = realm.create(Tally.self, value: ["name": name]) } }
    }

    private func names(_ realm: Realm) -> [String] { realm.objects(Tally.self).map(\.name).sorted() }

    private func owes(_ realm: Realm) -> Bool { realm.core.coordinator.writes.owesPages }

    /// A realm with a log, which owes the pages of what two writes have added.
    private func withOwing(_ configuration: Realm.Configuration, _ body: (Realm) throws -> Void) throws {
        try withNewRealm(configuration) { realm in
            defer { realm.close() }
            try add(["a", "b", "c"], to: realm)
            try #require(owes(realm))
            try body(realm)
        }
    }

    @Test("A block that finds no space while it changes what was acknowledged before it fails alone")
    func fullWhileSettling() throws {
        let isFull = FullDevice.Switch()
        try withOwing(configuration { FullDevice($0, isFull) }) { realm in
            let refusal = #expect(throws: Realm.Error.self) {
                try realm.write {
                    for index in 0..<20 {
                        let value: [String: Any] = ["number": index, "data": Data(count: 1 << 20)]
                        _ = realm.create(InMemoryNote.self, value: value)
                    }
                    isFull.isOn = true
                    realm.object(ofType: Tally.self, forPrimaryKey: "a")?.count = 1
                }
            }
            isFull.isOn = false
            #expect(refusal?.code == .outOfDiskSpace)
            #expect(isFull.refused > 0)
            #expect(!realm.core.coordinator.file.hasStopped)
            #expect(names(realm) == ["a", "b", "c"])
            try add(["d"], to: realm)
            #expect(names(realm) == ["a", "b", "c", "d"])
            try realm.verify()
        }
    }

    @Test("On a full disk commits that need no space do not fail", arguments: [true, false])
    func tightDisk(isOn: Bool) throws {
        let control = TightDevice.Control()
        try withNewRealm(configuration(isOn: isOn) { TightDevice($0, control) }) { realm in
            defer { realm.close() }
            try add(["a", "b", "c"], to: realm)
            let tally = try #require(realm.objects(Tally.self).first)
            control.isTight = true
            for count in 0..<200 { try realm.write { tally.count = count } }
            #expect(tally.count == 199)
            try realm.verify()
        }
    }

    @Test("Behind a commit that finds no space whoever tries again builds on nothing that owes its pages")
    func trying() throws {
        let control = TightDevice.Control()
        try withOwing(configuration { TightDevice($0, control) }) { realm in
            control.isTight = true
            let refusal = #expect(throws: Realm.Error.self) {
                try add([String(repeating: "x", count: 4 << 20)], to: realm)
            }
            #expect(refusal?.code == .outOfDiskSpace)
            try realm.write {
                #expect(!owes(realm))
                realm.object(ofType: Tally.self, forPrimaryKey: "a")?.count = 1
            }
            #expect(names(realm) == ["a", "b", "c"])
            try realm.verify()
        }
    }

    @Test("A commit that found no space is alone when it is tried again, also behind other writes")
    func tryingBehindAnother() throws {
        let control = TightDevice.Control()
        try withOwing(configuration { TightDevice($0, control) }) { realm in
            control.isTight = true
            for count in 1...2 {
                let refusal = #expect(throws: Realm.Error.self) {
                    try add([String(repeating: "x", count: 4 << 20)], to: realm)
                }
                #expect(refusal?.code == .outOfDiskSpace)
                for _ in 0..<3 {
                    try realm.write { realm.object(ofType: Tally.self, forPrimaryKey: "a")?.count = count }
                }
            }
            let core = realm.core
            try core.beginBlocking(WriteRequest([], nil, #fileID, #line))
            #expect(!owes(realm))
            core.cancelTransaction()
            try realm.verify()
        }
    }

    @Test(
        "Behind a commit that found no space others owe their pages again once the file is longer, or a minute has passed",
        arguments: [true, false]
    )
    func owingAgain(isLonger: Bool) throws {
        let control = TightDevice.Control()
        let large = String(repeating: "x", count: 4 << 20)
        try withOwing(configuration { TightDevice($0, control) }) { realm in
            control.isTight = true
            #expect(throws: Realm.Error.self) { try add([large], to: realm) }
            control.isTight = false
            for name in ["d", "e", "f"] {
                try add([name], to: realm)
                #expect(!owes(realm))
            }
            if isLonger { try add([large], to: realm) } else { clock.advance(seconds: 61) }
            try add(["g", "h", "i"], to: realm)
            #expect(owes(realm))
            try realm.verify()
        }
    }

    @Test("A loop of small writes leaves a small file small")
    func smallFile() throws {
        try withNewRealm(configuration()) { realm in
            defer { realm.close() }
            try add(["a", "b", "c"], to: realm)
            let tally = try #require(realm.objects(Tally.self).first)
            var owing = 0
            for _ in 0..<600 {
                try realm.write { tally.count += 1 }
                if owes(realm) { owing += 1 }
            }
            #expect(owing > 500)
            #expect(tally.count == 600)
            #expect(realm.core.coordinator.file.byteCount < 1 << 19)
        }
    }
}
