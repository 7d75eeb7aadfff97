import Foundation
import RealmStorage
import RealmTestSupport
import Synchronization
import Testing

@testable import ActorRealm

/// Writes that are acknowledged by their records while one realm has the file, and whose pages are made when somebody asks.
@Suite("Pages on demand", .timeLimit(.minutes(60)))
struct PagesOnDemandTests {
    private let file = TestFile()
    private let clock = HandClock()
    private var path: String { file.directory.path("test.realm") }
    private var hasLog: Bool { FileManager.default.fileExists(atPath: path + ".log") }

    private func configuration(ringByteCount: Int? = nil, isOn: Bool = true) -> Realm.Configuration {
        var configuration = file.configuration
        configuration.keepLog(ringByteCount: ringByteCount)
        let adjust = configuration.adjustLog
        configuration.adjustLog = { log in
            adjust?(&log)
            log.pagesOnDemand = isOn
        }
        configuration.clock = clock.clock
        return configuration
    }

    private func add(_ names: [String], to realm: Realm) throws {
        for name in names { try realm.write { _ = realm.create(Tally.self, value: ["name": name]) } }
    }

    private func names(_ realm: Realm) -> [String] { realm.objects(Tally.self).map(\.name).sorted() }

    /// What an opening finds that comes behind a kill.
    private func namesBehindKill() throws -> [String] {
        let copy = file.directory.path("killed-\(UInt64.random(in: 0 ... .max)).realm")
        for suffix in ["", ".log"] where FileManager.default.fileExists(atPath: path + suffix) {
            try FileManager.default.copyItem(atPath: path + suffix, toPath: copy + suffix)
        }
        var configuration = file.configuration
        configuration.fileURL = URL(fileURLWithPath: copy)
        return try withNewRealm(configuration) { realm in
            defer { realm.close() }
            try realm.verify()
            return names(realm)
        }
    }

    private func owes(_ realm: Realm) -> Bool { realm.core.coordinator.writes.owesPages }

    /// A realm with a log, which owes the pages of what two writes have added.
    private func withOwing<Result>(
        _ configuration: Realm.Configuration? = nil,
        _ body: (Realm) throws -> Result
    ) throws -> Result {
        try withNewRealm(configuration ?? self.configuration()) { realm in
            defer { realm.close() }
            try add(["a", "b", "c"], to: realm)
            try #require(owes(realm))
            return try body(realm)
        }
    }

    @Test("Without the setting each commit has its pages")
    func off() throws {
        try withNewRealm(configuration(isOn: false)) { realm in
            defer { realm.close() }
            let version = realm.core.coordinator.file.newestVersion
            for name in ["a", "b", "c", "d"] {
                try add([name], to: realm)
                #expect(!owes(realm))
            }
            #expect(realm.core.coordinator.file.newestVersion == version + 4)
        }
    }

    @Test("Writes behind each other leave the newest version as it is, and a kill loses none of them")
    func behindEachOther() throws {
        try withOwing { realm in
            let file = realm.core.coordinator.file
            var versions = Set<UInt64>()
            for index in 0..<40 {
                try add(["n\(index)"], to: realm)
                versions.insert(file.newestVersion)
            }
            // Some have their pages, where space has to be secured for those behind them.
            #expect(versions.count < 15)
            if !owes(realm) {
                try add(["n40"], to: realm)
                try realm.write { realm.delete(try #require(realm.object(ofType: Tally.self, forPrimaryKey: "n40"))) }
            }
            #expect(owes(realm))
            let version = file.newestVersion
            let all = (["a", "b", "c"] + (0..<40).map { "n\($0)" }).sorted()
            #expect(try namesBehindKill() == all)
            #expect(names(realm) == all)
            #expect(!owes(realm))
            #expect(file.newestVersion > version)
            #expect(try namesBehindKill() == all)
            try realm.verify()
        }
        #expect(!hasLog)
        #expect(try withNewRealm(file.configuration) { names($0).count } == 43)
    }

    @Test("What the block of a write reads and changes is what those before it left")
    func blocks() throws {
        try withOwing { realm in
            var owing = 0
            for round in 0..<20 {
                try realm.write {
                    let tally = try #require(realm.object(ofType: Tally.self, forPrimaryKey: "a"))
                    #expect(tally.count == round)
                    tally.count += 1
                    if round == 10, let other = realm.object(ofType: Tally.self, forPrimaryKey: "b") {
                        realm.delete(other)
                    }
                }
                if owes(realm) { owing += 1 }
            }
            #expect(owing > 10)
            #expect(realm.object(ofType: Tally.self, forPrimaryKey: "a")?.count == 20)
            #expect(names(realm) == ["a", "c"])
            #expect(try namesBehindKill() == ["a", "c"])
        }
    }

    struct Failure: Error {}

    @Test("A block that throws leaves what was acknowledged before it")
    func rolledBack() throws {
        try withOwing { realm in
            #expect(throws: Failure.self) {
                try realm.write {
                    realm.deleteAll()
                    throw Failure()
                }
            }
            #expect(owes(realm))
            #expect(try namesBehindKill() == ["a", "b", "c"])
            try add(["d"], to: realm)
            realm.beginWrite()
            #expect(!owes(realm))
            realm.deleteAll()
            realm.cancelWrite()
            #expect(names(realm) == ["a", "b", "c", "d"])
            try realm.verify()
        }
    }

    @Test("Another realm of the process finds what was acknowledged, and every later commit has its pages")
    func secondRealm() throws {
        try withOwing { realm in
            let other = DispatchQueue(label: "other")
            let second = try other.sync {
                let second = try Realm(configuration: configuration(), queue: other)
                #expect(names(second) == ["a", "b", "c"])
                #expect(!owes(second))
                return second
            }
            try add(["d", "e"], to: realm)
            #expect(!owes(realm))
            try other.sync {
                second.refresh()
                #expect(names(second) == ["a", "b", "c", "d", "e"])
                try add(["f"], to: second)
                second.close()
            }
            realm.refresh()
            #expect(names(realm) == ["a", "b", "c", "d", "e", "f"])
            // Alone again.
            try add(["g", "h"], to: realm)
            #expect(owes(realm))
            #expect(names(realm).count == 8)
        }
    }

    enum Reading: CaseIterable {
        case observe, freeze, reference, copy, verify, versions, asyncObject, refresh, invalidate
    }

    @Test("Everything that reads the newest version has the pages made", arguments: Reading.allCases)
    func readings(_ reading: Reading) throws {
        try withOwing { realm in
            var token: NotificationToken?
            switch reading {
            case .observe: token = realm.objects(Tally.self).observe { _ in }
            case .freeze: #expect(names(realm.freeze()) == ["a", "b", "c"])
            case .reference:
                let object = try #require(realm.object(ofType: Tally.self, forPrimaryKey: "c"))
                let reference = ThreadSafeReference(to: object)
                try withNewRealm(configuration()) { second in
                    defer { second.close() }
                    #expect(second.resolve(reference)?.name == "c")
                }
            case .copy:
                let copy = file.directory.path("copy.realm")
                try realm.writeCopy(toFile: URL(fileURLWithPath: copy))
                var configuration = file.configuration
                configuration.fileURL = URL(fileURLWithPath: copy)
                #expect(try withNewRealm(configuration) { names($0) } == ["a", "b", "c"])
            case .verify: try realm.verify()
            case .versions: _ = realm.activeVersions
            case .asyncObject: #expect(realm.objects(Tally.self).count == 3)
            case .refresh: realm.refresh()
            case .invalidate: realm.invalidate()
            }
            #expect(names(realm) == ["a", "b", "c"])
            #expect(!owes(realm))
            if token != nil {
                try add(["d", "e"], to: realm)
                #expect(!owes(realm))
            }
            token?.invalidate()
        }
        #expect(!hasLog)
    }

    @Test("Some milliseconds behind the last commit pages are made, though nobody asks")
    func idle() throws {
        try withOwing { realm in
            let file = realm.core.coordinator.file
            let version = file.newestVersion
            clock.advance(seconds: 0.011)
            let deadline = ContinuousClock.now + .seconds(1_800)
            while owes(realm) || file.newestVersion == version {
                try #require(ContinuousClock.now < deadline)
                Thread.sleep(forTimeInterval: 0.001)
            }
            // The thread is done with it.
            realm.core.coordinator.writes.waitForFlushes()
            clock.advance(seconds: 0.02)
            #expect(names(realm) == ["a", "b", "c"])
            try add(["d"], to: realm)
            try add(["e", "f"], to: realm)
            #expect(owes(realm))
            #expect(names(realm).count == 6)
        }
    }

    @Test("A write that comes alone has its pages at once")
    func alone() throws {
        try withOwing { realm in
            #expect(names(realm).count == 3)
            for name in ["d", "e", "f"] {
                clock.advance(seconds: 1)
                realm.core.coordinator.writes.waitForFlushes()
                try add([name], to: realm)
                #expect(!owes(realm))
            }
        }
    }

    @Test("Rule 32: a close leaves one file; so does a realm that is let go of")
    func closed() throws {
        try withOwing { _ in }
        #expect(!hasLog)
        try withNewRealm(configuration()) { realm in
            try add(["d", "e", "f"], to: realm)
            try #require(owes(realm))
            try realm.write { _ = realm.create(Tally.self, value: ["name": "g"]) }
            realm.close()
            #expect(!hasLog)
        }
        #expect(try withNewRealm(file.configuration) { names($0) } == ["a", "b", "c", "d", "e", "f", "g"])
    }

    @Test("A log that is half full has pages made, and a checkpoint behind them", arguments: [8, 64])
    func fullLog(blocks: Int) throws {
        try withNewRealm(configuration(ringByteCount: blocks * 4_096)) { realm in
            defer { realm.close() }
            let all = (0..<300).map { "name \(1_000 + $0)" }
            for (index, name) in all.enumerated() {
                try add([name], to: realm)
                if index % 50 == 49 { #expect(try namesBehindKill() == Array(all[...index])) }
            }
            #expect(names(realm) == all)
            try realm.verify()
        }
    }

    @Test("Other forms of writing go on behind what has no pages")
    func otherForms() async throws {
        actor Place {
            var realm: Realm!

            func go(_ configuration: Realm.Configuration) async throws -> [String] {
                realm = try await Realm(configuration: configuration, actor: self)
                func add(_ name: String) throws {
                    try realm.write { _ = realm.create(Tally.self, value: ["name": name]) }
                }
                for name in ["a", "b", "c"] { try add(name) }
                try await realm.asyncWrite { _ = realm.create(Tally.self, value: ["name": "d"]) }
                for name in ["e", "f", "g"] { try add(name) }
                let transaction = try await realm.beginAsyncWrite()
                _ = realm.create(Tally.self, value: ["name": "h"])
                try await transaction.commit()
                for name in ["i", "j"] { try add(name) }
                try realm.beginWriteTransaction()
                _ = realm.create(Tally.self, value: ["name": "k"])
                try realm.commitWrite()
                for name in ["l", "m"] { try add(name) }
                await realm.asyncRefresh()
                defer { realm.close() }
                return realm.objects(Tally.self).map(\.name).sorted()
            }
        }
        #expect(try await Place().go(configuration()) == "abcdefghijklm".map { String($0) })
        #expect(!hasLog)
    }

    @Test("Pages that cannot be made stop writing; the error says so, and the next opening finds everything")
    func failedMaking() throws {
        let isBroken = FullDevice.Switch(.io)
        var configuration = configuration()
        configuration.makeDevice = { FullDevice($0, isBroken) }
        try withNewRealm(configuration) { realm in
            defer { realm.close() }
            try add(["a", "b", "c"], to: realm)
            try #require(owes(realm))
            isBroken.isOn = true
            let refusal = #expect(throws: Realm.Error.self) { try realm.verify() }
            #expect(refusal?.description.contains("acknowledged") == true)
            isBroken.isOn = false
            let write = #expect(throws: Realm.Error.self) { try add(["d"], to: realm) }
            #expect(write?.description.contains("acknowledged") == true)
            #expect(try namesBehindKill() == ["a", "b", "c"])
        }
        #expect(hasLog)
        try withNewRealm(self.configuration()) { realm in
            defer { realm.close() }
            #expect(names(realm) == ["a", "b", "c"])
        }
        #expect(!hasLog)
    }

    @Test("A record that cannot be made durable stops writing, and those before it stay", arguments: 0..<3)
    func failedRecord(step: Int) throws {
        let failures = StepFailures()
        var configuration = configuration()
        configuration.failures = failures
        try withNewRealm(configuration) { realm in
            defer { realm.close() }
            try add(["a", "b", "c"], to: realm)
            try #require(owes(realm))
            failures.arm(after: step)
            #expect(throws: Realm.Error.self) { try add(["d"], to: realm) }
            failures.arm(after: nil)
            #expect(try namesBehindKill().filter { $0 != "d" } == ["a", "b", "c"])
        }
        try withNewRealm(self.configuration()) { realm in
            defer { realm.close() }
            #expect(names(realm).starts(with: ["a", "b", "c"]))
        }
    }

    @Test("Rule 23: a log that was deleted is left, and what it had is in the file")
    func deletedLog() throws {
        try withOwing { realm in
            try FileManager.default.removeItem(atPath: path + ".log")
            try add(["d"], to: realm)
            #expect(!owes(realm))
            #expect(try namesBehindKill() == ["a", "b", "c", "d"])
            #expect(names(realm) == ["a", "b", "c", "d"])
        }
    }

    @Test("Rule 47: what a block freezes is what the commits before it left")
    func freezingInBlock() throws {
        try withOwing { realm in
            let storage = realm.core.coordinator.file
            let version = storage.newestVersion
            let (frozen, last, sent) = try realm.write { () -> (Realm, Tally, Frozen<Results<Tally>>) in
                let last = try #require(realm.object(ofType: Tally.self, forPrimaryKey: "c"))
                last.count = 7
                _ = realm.create(Tally.self, value: ["name": "d"])
                let frozen = realm.freeze()
                // Where "c" is not in it, freezing it ends the process.
                try #require(names(frozen) == ["a", "b", "c"])
                // Nothing was made of it in the file.
                try #require(storage.newestVersion == version)
                return (frozen, last.freeze(), realm.objects(Tally.self).frozen)
            }
            #expect(last.name == "c")
            #expect(last.count == 0)
            #expect(sent.value.map(\.name).sorted() == ["a", "b", "c"])
            #expect(names(realm) == ["a", "b", "c", "d"])
            #expect(names(frozen) == ["a", "b", "c"])
        }
    }

    @Test("A commit that finds no space fails alone, and leaves what was acknowledged before it")
    func fullDisk() throws {
        let isFull = FullDevice.Switch()
        var configuration = configuration()
        configuration.makeDevice = { FullDevice($0, isFull) }
        try withOwing(configuration) { realm in
            let ballast = String(repeating: "x", count: 200)
            isFull.isOn = true
            let refusal = #expect(throws: Realm.Error.self) {
                try realm.write {
                    for index in 0..<10_000 { _ = realm.create(Tally.self, value: ["name": "\(index) \(ballast)"]) }
                }
            }
            isFull.isOn = false
            #expect(refusal?.code == .outOfDiskSpace)
            #expect(isFull.refused > 0)
            #expect(!realm.core.coordinator.file.hasStopped)
            #expect(try namesBehindKill() == ["a", "b", "c"])
            #expect(names(realm) == ["a", "b", "c"])
            try add(["d"], to: realm)
            #expect(names(realm) == ["a", "b", "c", "d"])
            try realm.verify()
        }
    }

    @Test("A block that is rolled back leaves no space behind in those before it")
    func rolledBackSpace() throws {
        var configuration = configuration()
        configuration.objectTypes = [Tally.self, InMemoryNote.self]
        try withOwing(configuration) { realm in
            let storage = realm.core.coordinator.file
            let before = storage.byteCount
            #expect(throws: Failure.self) {
                try realm.write {
                    for index in 0..<12 {
                        let value: [String: Any] = ["number": index, "data": Data(count: 1 << 20)]
                        _ = realm.create(InMemoryNote.self, value: value)
                    }
                    throw Failure()
                }
            }
            #expect(owes(realm))
            #expect(names(realm) == ["a", "b", "c"])
            #expect(storage.byteCount < before + (4 << 20))
            try realm.verify()
        }
    }
}
