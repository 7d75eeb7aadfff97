import Foundation
import Glibc
import RealmStorage
import RealmTestSupport
import Synchronization
import Testing

@testable import ActorRealm

private class LoggedNote: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted(indexed: true) var title: String
    @Persisted var numbers: List<Int>
    @Persisted var words: MutableSet<String>
    @Persisted var next: LoggedNote?
}

private class LoggedOther: Object {
    @Persisted var size: Int
}

/// Realms whose commits a log makes durable: the setting is off unless it is asked for.
@Suite("Realms with a log", .timeLimit(.minutes(60)))
struct LoggedRealmTests {
    let directory = TemporaryDirectory()

    func path(_ name: String) -> String { directory.path(name + ".realm") }

    func configuration(_ name: String = "test", keepsLog: Bool = true) -> Realm.Configuration {
        var configuration = Realm.Configuration(
            fileURL: URL(fileURLWithPath: path(name)),
            objectTypes: [LoggedNote.self] as [ObjectBase.Type]
        )
        if keepsLog { configuration.keepLog() } else { configuration.keepsLog = false }
        return configuration
    }

    func hasLog(_ name: String = "test") -> Bool {
        FileManager.default.fileExists(atPath: path(name) + ".log")
    }

    /// Waits until no thread of the process holds a file that was closed.
    func untilClosed() throws {
        let deadline = ContinuousClock.now + .seconds(1_800)
        while StorageFile.isOpenAnywhere(path: path("test")) {
            try #require(ContinuousClock.now < deadline, "the file is still open")
            Thread.sleep(forTimeInterval: 0.001)
        }
    }

    /// What a kill leaves now, by another name.
    func kill(_ name: String = "killed") throws {
        for suffix in ["", ".log"] where FileManager.default.fileExists(atPath: path("test") + suffix) {
            try FileManager.default.copyItem(atPath: path("test") + suffix, toPath: path(name) + suffix)
        }
    }

    func describe(_ realm: Realm) -> [String] {
        realm.objects(LoggedNote.self).sorted(by: \.id)
            .map { note in
                "\(note.id) \(note.title) \(note.numbers.count) \(note.numbers.first ?? -1) \(note.words.count) "
                    + "\(note.next?.id ?? -1) \(realm.objects(LoggedNote.self).where { $0.title == note.title }.count)"
            }
    }

    /// Opens what a kill left, and returns what it holds; nothing is left of the log then.
    func recovered(_ name: String = "killed") throws -> [String] {
        try withNewRealm(configuration(name)) { realm in
            defer { realm.close() }
            #expect(!hasLog(name))
            try realm.verify()
            return describe(realm)
        }
    }

    func add(_ ids: some Sequence<Int>, to realm: Realm, _ title: String) throws {
        try realm.write {
            for id in ids { realm.create(LoggedNote.self, value: ["id": id, "title": title]) }
        }
    }

    @Test("Without the setting there is no log, and with durability unflushed there is none either")
    func off() throws {
        var unflushed = configuration("unflushed")
        unflushed.durability = .unflushed
        for (name, configuration) in [("test", configuration(keepsLog: false)), ("unflushed", unflushed)] {
            let realm = try Realm(configuration: configuration)
            defer { realm.close() }
            try add(0..<3, to: realm, "one")
            #expect(!hasLog(name))
        }
    }

    @Test("Rule 32: a realm that is closed is one file, and opens without the setting")
    func close() throws {
        try withNewRealm(configuration()) { realm in
            defer { realm.close() }
            try add(0..<3, to: realm, "one")
            #expect(hasLog())
            try add(3..<5, to: realm, "two")
            try realm.verify()
        }
        try untilClosed()
        #expect(!hasLog())
        try withNewRealm(configuration(keepsLog: false)) { realm in
            defer { realm.close() }
            #expect(describe(realm).count == 5)
            try realm.verify()
            try add(5..<6, to: realm, "three")
            #expect(!hasLog())
        }
        try untilClosed()
        #expect(!hasLog())
    }

    @Test("Rule 46: salvage applies the log of a realm that was killed, and is the remedy where the log is missing")
    func salvage() throws {
        let held = try withNewRealm(configuration()) { realm in
            defer { realm.close() }
            try add(0..<3, to: realm, "one")
            try add(3..<5, to: realm, "two")
            try kill()
            return describe(realm)
        }
        func salvage(_ name: String) throws -> Realm.SalvageReport {
            try Realm.salvage(
                from: URL(fileURLWithPath: path("killed")),
                to: URL(fileURLWithPath: path(name))
            )
        }
        func content(_ name: String) throws -> [String] {
            try withNewRealm(configuration(name, keepsLog: false)) { realm in
                defer { realm.close() }
                try realm.verify()
                return describe(realm)
            }
        }
        let report = try salvage("salvaged")
        #expect(report.commitsApplied == 2)
        #expect(report.isComplete)
        #expect(report.description.contains("log: 2 commits applied"))
        #expect(try content("salvaged") == held)
        try FileManager.default.removeItem(atPath: path("killed") + ".log")
        let refused = #expect(throws: Realm.Error.self) { try recovered() }
        #expect(refused.map { "\($0)".contains("salvage") } == true)
        let incomplete = try salvage("without-log")
        #expect(!incomplete.isComplete)
        #expect(incomplete.description.contains("missing"))
        // What the header tells of: nothing was written before there was a log.
        #expect(try content("without-log") == [])
    }

    @Test("Rule 25: after a kill, opening applies the records of all forms of writing")
    func forms() async throws {
        actor Writer {
            var realm: Realm!

            init(_ configuration: Realm.Configuration) async throws {
                realm = try await Realm(configuration: configuration, actor: self)
            }

            func write() async throws {
                try realm.write { realm.create(LoggedNote.self, value: ["id": 1, "title": "write"]) }
                try await realm.asyncWrite { realm.create(LoggedNote.self, value: ["id": 2, "title": "async"]) }
                let transaction = try await realm.beginAsyncWrite()
                let note = realm.create(LoggedNote.self, value: ["id": 3, "title": "two steps"])
                note.numbers.append(objectsIn: 0..<900)
                await Task.yield()
                await Task.detached { await self.look() }.value
                note.numbers.remove(at: 0)
                note.words.insert("word")
                try await transaction.commit()
                let again = try await realm.beginAsyncWrite()
                note.numbers.insert(-7, at: 0)
                await Task.detached { await self.look() }.value
                note.numbers.append(8)
                note.next = realm.object(ofType: LoggedNote.self, forPrimaryKey: 1)
                try await again.commit()
                try realm.write { realm.delete(realm.object(ofType: LoggedNote.self, forPrimaryKey: 2)!) }
            }

            func look() { _ = realm.objects(LoggedNote.self).count }

            func describe(_ test: LoggedRealmTests) -> [String] { test.describe(realm) }

            func close() { realm.close() }
        }
        let writer = try await Writer(configuration())
        try await writer.write()
        let held = await writer.describe(self)
        #expect(held.count == 2 && held[1].hasPrefix("3 two steps 901 -7 1 1"))
        try kill()
        #expect(hasLog("killed"))
        #expect(try recovered() == held)
        await writer.close()
    }

    @Test("Rules 6 and 41: writes of many tasks share flushes of the log, and all of them are there after a kill")
    func tasks() async throws {
        let file = ObservedFile()
        var configuration = file.configuration
        configuration.keepLog()
        let flushes = CountingDevice.Count()
        configuration.makeDevice = { CountingDevice($0, flushes) }
        var workers: [Worker] = []
        for id in 0..<12 {
            let worker = try await Worker(configuration)
            try await worker.add(id, "first")
            workers.append(worker)
        }
        let before = flushes.value.load(ordering: .relaxed)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (index, worker) in workers.enumerated() {
                group.addTask {
                    for round in 0..<10 { try await worker.add(1_000 + index * 10 + round, "many") }
                    try await worker.rename(index, "renamed")
                }
            }
            try await group.waitForAll()
        }
        // Of the realm file: where it became longer, and a checkpoint.
        #expect(flushes.value.load(ordering: .relaxed) - before < 10)
        let path = file.directory.url.appendingPathComponent("observed.realm").path
        let copy = file.directory.path("killed.realm")
        for suffix in ["", ".log"] { try FileManager.default.copyItem(atPath: path + suffix, toPath: copy + suffix) }
        var killed = configuration
        killed.fileURL = URL(fileURLWithPath: copy)
        let opened = try await Worker(killed)
        let names = await opened.with { _, realm in Array(realm.objects(Chore.self).map(\.name)) }
        #expect(names.count { $0 == "many" } == 120)
        #expect(names.count { $0 == "renamed" } == 12)
        try await opened.with { _, realm in try realm.verify() }
        await opened.close()
        for worker in workers { await worker.close() }
    }

    @Test("Rules 33 and 35: a realm that was killed opens whole without the setting, unflushed, and for reading only")
    func withoutSetting() throws {
        let held = try withNewRealm(configuration()) { realm in
            defer { realm.close() }
            try add(0..<4, to: realm, "one")
            for name in ["plain", "unflushed", "reading"] { try kill(name) }
            return describe(realm)
        }
        var unflushed = configuration("unflushed")
        unflushed.durability = .unflushed
        var reading = configuration("reading", keepsLog: false)
        reading.readOnly = true
        let others = ["plain": configuration("plain", keepsLog: false), "unflushed": unflushed, "reading": reading]
        for (name, other) in others {
            #expect(hasLog(name))
            try withNewRealm(other) { realm in
                defer { realm.close() }
                #expect(describe(realm) == held, "\(name)")
                #expect(!hasLog(name), "\(name)")
                try realm.verify()
            }
        }
    }

    @Test("Rule 35: a realm that was killed opens for reading only where nothing may be written, and stays as it is")
    func nothingToBeWritten() async {
        await #expect(processExitsWith: .success) {
            let suite = LoggedRealmTests()
            let folder = suite.directory.url.path
            let held = try withNewRealm(suite.configuration()) { realm in
                defer { realm.close() }
                try suite.add(0..<4, to: realm, "one")
                try suite.kill()
                return suite.describe(realm)
            }
            let files = ["", ".log"].map { suite.path("killed") + $0 }
            let before = try files.map { try Data(contentsOf: URL(fileURLWithPath: $0)) }
            for file in files { #expect(chmod(file, 0o644) == 0) }
            #expect(chmod(folder, 0o555) == 0)
            // Who may do everything becomes somebody who may not.
            if getuid() == 0 { #expect(seteuid(65_533) == 0) }
            var found = stat()
            guard stat(suite.path("killed"), &found) == 0 else {
                // Nobody else comes to the folder for temporary files: there is nothing to try.
                #expect(errno == EACCES && seteuid(0) == 0)
                return
            }
            var reading = suite.configuration("killed", keepsLog: false)
            reading.readOnly = true
            try withNewRealm(reading) { realm in
                defer { realm.close() }
                #expect(suite.describe(realm) == held)
                #expect(suite.describe(realm.freeze()) == held)
                #expect(realm.objects(LoggedNote.self).where { $0.title == "one" }.count == 4)
                try realm.verify()
            }
            #expect(try files.map { try Data(contentsOf: URL(fileURLWithPath: $0)) } == before)
            if getuid() == 0 { #expect(seteuid(0) == 0) }
            #expect(chmod(folder, 0o700) == 0)
            #expect(try suite.recovered() == held)
            withExtendedLifetime(suite) {}
        }
    }

    @Test("Rule 46: verification reads the log, too")
    func verifying() throws {
        let held = try withNewRealm(configuration()) { realm in
            defer { realm.close() }
            try add(0..<3, to: realm, "one")
            try add(3..<5, to: realm, "two")
            try realm.verify()
            let log = path("test") + ".log"
            let whole = try Data(contentsOf: URL(fileURLWithPath: log))
            // Of its newest record.
            let place = try #require(whole.indices.last { whole[$0] != 0 })
            let handle = try FileHandle(forUpdating: URL(fileURLWithPath: log))
            defer { try? handle.close() }
            try handle.seek(toOffset: UInt64(place))
            try handle.write(contentsOf: Data([whole[place] ^ 1]))
            let damage = #expect(throws: Realm.Error.self) { try realm.verify() }
            #expect(damage?.code == .invalidDatabase)
            #expect(damage?.description.contains("log") == true)
            try handle.seek(toOffset: UInt64(place))
            try handle.write(contentsOf: Data([whole[place]]))
            try realm.verify()
            return describe(realm)
        }
        #expect(held.count == 5)
    }

    @Test("Rule 35: so do its schema version, a plan, a copy of it as a seed, and its compaction")
    func otherOpenings() async throws {
        func held(_ configuration: Realm.Configuration) throws -> [String] {
            try withNewRealm(configuration) { realm in
                defer { realm.close() }
                return describe(realm)
            }
        }
        let names = ["version", "plan", "seed", "compacted"]
        let wanted = try withNewRealm(configuration()) { realm in
            defer { realm.close() }
            try add(0..<4, to: realm, "one")
            for name in names { try kill(name) }
            return describe(realm)
        }
        #expect(try schemaVersionAtURL(URL(fileURLWithPath: path("version"))) == 0)
        let plan = try await Realm.migrationPlan(for: configuration("plan", keepsLog: false))
        #expect(plan.isEmpty)
        var seeded = configuration("seeded", keepsLog: false)
        seeded.seedFilePath = URL(fileURLWithPath: path("seed"))
        #expect(try held(seeded) == wanted)
        try Realm.compact(configuration("compacted", keepsLog: false))
        #expect(try held(configuration("compacted", keepsLog: false)) == wanted)
        for name in names { #expect(!hasLog(name), "\(name)") }
    }

    @Test("Rules 20 and 40: a migration beside an open log is kept as pages, and records go on behind it")
    func migration() throws {
        let held = try withNewRealm(configuration()) { realm in
            defer { realm.close() }
            try add(0..<4, to: realm, "one")
            var both = configuration()
            both.objectTypes = [LoggedNote.self, LoggedOther.self]
            try withNewRealm(both) { other in
                defer { other.close() }
                try other.write { other.create(LoggedOther.self, value: ["size": 3]) }
            }
            realm.refresh()
            try add(4..<6, to: realm, "two")
            try kill()
            return describe(realm)
        }
        #expect(held.count == 6)
        #expect(try recovered() == held)
        var both = configuration("killed")
        both.objectTypes = [LoggedNote.self, LoggedOther.self]
        try withNewRealm(both) { realm in
            defer { realm.close() }
            #expect(realm.objects(LoggedOther.self).map(\.size) == [3])
        }
    }

    @Test("Rule 42: a realm that was killed is compacted behind its records, and leaves one file")
    func compacting() throws {
        let held = try withNewRealm(configuration()) { realm in
            defer { realm.close() }
            try add(0..<400, to: realm, "one")
            try realm.write {
                for note in realm.objects(LoggedNote.self).filter({ $0.id % 9 != 0 }) { realm.delete(note) }
            }
            try kill()
            return describe(realm)
        }
        try Realm.compact(configuration("killed"))
        #expect(!hasLog("killed"))
        #expect(try recovered() == held)
    }

    @Test("Rule 44: a small log is emptied by checkpoints while commits go on, and a kill at any of them loses nothing")
    func checkpoints() throws {
        var small = configuration()
        small.keepLog(ringByteCount: 8 * 4096)
        try withNewRealm(small) { realm in
            defer { realm.close() }
            for round in 0..<40 {
                try add([round], to: realm, "round \(round % 3)")
                if round % 4 == 0 {
                    try kill("killed \(round)")
                    #expect(try recovered("killed \(round)") == describe(realm))
                }
            }
        }
        try untilClosed()
        #expect(!hasLog())
    }
}

/// A device that counts flushes.
private final class CountingDevice: ForwardingDevice {
    final class Count: Sendable { let value = Atomic(0) }

    let base: any StorageDevice
    let count: Count

    init(_ base: any StorageDevice, _ count: Count) {
        self.base = base
        self.count = count
    }

    func synchronize() throws(StorageError) {
        count.value.add(1, ordering: .relaxed)
        try base.synchronize()
    }
}
