import Foundation
import Glibc
import Logging
import RealmStorage
import RealmTestSupport
import Synchronization
import Testing

@testable import ActorRealm

private class Note: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted(indexed: true) var title: String
    @Persisted var body: Data
    @Persisted var related: List<Note>
    @Persisted var numbers: List<Int>
    @Persisted var next: Note?
}

@Suite struct RealmCompactingTests {
    let directory = TemporaryDirectory()

    private func configuration(_ name: String) -> Realm.Configuration {
        Realm.Configuration(
            fileURL: URL(fileURLWithPath: directory.path(name)),
            objectTypes: [Note.self] as [ObjectBase.Type]
        )
    }

    private func length(_ name: String) throws -> Int {
        try #require(try FileManager.default.attributesOfItem(atPath: directory.path(name))[.size] as? Int)
    }

    /// A closed file of which most is free; returns what it holds.
    private func makeFile(_ name: String) throws -> [String] {
        let realm = try Realm(configuration: configuration(name))
        defer { realm.close() }
        try realm.write {
            for id in 0..<400 {
                let note = Note()
                note.id = id
                note.title = "note \(id % 31)"
                note.body = Data(repeating: UInt8(id % 251), count: id % 9 == 0 ? 5_000 : 40)
                for number in 0..<(id % 50 == 0 ? 700 : 3) { note.numbers.append(number) }
                realm.add(note)
                if let before = realm.object(ofType: Note.self, forPrimaryKey: id - 1) {
                    note.next = before
                    note.related.append(before)
                }
            }
        }
        try realm.write { for note in Array(realm.objects(Note.self)) where note.id % 8 != 0 { realm.delete(note) } }
        return describe(realm)
    }

    private func describe(_ realm: Realm) -> [String] {
        realm.objects(Note.self)
            .map { note in
                "\(note.id) \(note.title) \(note.body.count) \(note.numbers.count) \(note.next?.id ?? -1) "
                    + "\(Array(note.related.map(\.id))) \(realm.objects(Note.self).where { $0.title == note.title }.count)"
            }
    }

    @Test func `compacting a closed file keeps everything and leaves no free space`() throws {
        let content = try makeFile("a.realm")
        let (before, after) = try Realm.compact(configuration("a.realm"))
        #expect(before > after * 2)
        #expect(try length("a.realm") == after)
        let names = try FileManager.default.contentsOfDirectory(atPath: directory.url.path)
        #expect(!names.contains { $0.contains("compacting") }, "\(names)")
        let realm = try Realm(configuration: configuration("a.realm"))
        #expect(describe(realm) == content)
        try realm.verify()
        try realm.write { realm.create(Note.self, value: ["id": 10_000, "title": "new"]) }
        try realm.verify()
    }

    @Test(.timeLimit(.minutes(60))) @MainActor
    func `an open file of which most is free becomes shorter while others write little`() async throws {
        let realm = try await Realm(configuration: configuration("open.realm"))
        try realm.write {
            for id in 0..<2_000 {
                let note = Note()
                note.id = id
                note.body = Data(repeating: 1, count: 5_000)
                realm.add(note)
            }
        }
        let before = try length("open.realm")
        try realm.write { realm.delete(realm.objects(Note.self).where { $0.id > 0 }) }
        var title = 0
        let isShorter = try await eventually {
            title += 1
            try realm.write { realm.objects(Note.self).first?.title = "\(title)" }
            return try length("open.realm") < before / 4
        }
        #expect(isShorter)
        try realm.verify()
    }

    @Test func `the work on space rests between two times, the longer the less there was to do`() throws {
        let file = try StorageFile.open(path: directory.path("rest.realm"), options: StorageOptions())
        let keeper = SpaceKeeper(file: file)
        let second: UInt64 = 1_000_000_000
        var moment = SpaceKeeper.now
        #expect(keeper.begins(at: moment))
        #expect(!keeper.begins(at: moment + 100 * second))
        for (hadProgress, seconds) in [(true, 1), (false, 2), (false, 4), (true, 1)] as [(Bool, UInt64)] {
            moment = SpaceKeeper.now
            keeper.rest(afterProgress: hadProgress)
            let end = SpaceKeeper.now + seconds * second
            #expect(!keeper.begins(at: moment + seconds * second - 1))
            #expect(keeper.begins(at: end))
        }
    }

    @Test func `a realm that is open cannot be compacted`() throws {
        _ = try makeFile("b.realm")
        let realm = try Realm(configuration: configuration("b.realm"))
        let error = #expect(throws: Realm.Error.self) { try Realm.compact(configuration("b.realm")) }
        #expect(error?.code == .alreadyOpen)
        withExtendedLifetime(realm) {}
    }

    @Test func `a copy is compact, holds the newest version, and never takes another file's place`() throws {
        let content = try makeFile("c.realm")
        let realm = try Realm(configuration: configuration("c.realm"))
        let url = URL(fileURLWithPath: directory.path("copy.realm"))
        try realm.writeCopy(toFile: url)
        #expect(try length("copy.realm") * 2 < length("c.realm"))
        let error = #expect(throws: Realm.Error.self) { try realm.writeCopy(toFile: url) }
        #expect(error?.code == .fileExists)
        let copy = try Realm(configuration: configuration("copy.realm"))
        #expect(describe(copy) == content)
        try copy.verify()
    }

    @Test func `a copy and a salvage go to no place that is no file's`() throws {
        let configuration = configuration("places.realm")
        let source = try #require(configuration.fileURL)
        let place = try #require(URL(string: "http://localhost/copied.realm"))
        func expectRefused(_ body: () throws -> Void) {
            let error = #expect(throws: Realm.Error.self) { try body() }
            #expect(error?.code == .invalidInput)
        }
        try withNewRealm(configuration) { realm in expectRefused { try realm.writeCopy(toFile: place) } }
        expectRefused { _ = try Realm.salvage(from: source, to: place) }
        expectRefused { _ = try Realm.salvage(from: place, to: URL(fileURLWithPath: directory.path("salvaged.realm"))) }
        #expect(!FileManager.default.fileExists(atPath: "/copied.realm"))
    }

    @Test(arguments: [false, true])
    func `inside a write transaction a copy holds what the transaction sees, and the transaction goes on`(
        commits: Bool
    ) throws {
        let content = try makeFile("w.realm")
        let realm = try Realm(configuration: configuration("w.realm"))
        func change(_ first: Int) throws {
            for id in first..<(first + 30) {
                let note = realm.create(Note.self, value: ["id": id, "title": "note \(id % 7)"])
                note.numbers.append(objectsIn: 0..<(id % 10 == 0 ? 900 : 2))
                note.related.append(objectsIn: realm.objects(Note.self).where { $0.id < 40 })
            }
            let notes = realm.objects(Note.self)
            realm.delete(try #require(notes.last))
            for note in Array(notes) where note.id % 16 == 0 {
                note.title = "changed \(first)"
                note.body = Data(repeating: 7, count: 6_000)
                if !note.numbers.isEmpty { note.numbers.removeLast() }
            }
        }
        realm.beginWrite()
        for round in 0..<3 {
            try change(1_000 * (round + 1))
            let inside = describe(realm)
            try realm.writeCopy(toFile: URL(fileURLWithPath: directory.path("inside\(round).realm")))
            #expect(describe(realm) == inside)
            let copy = try Realm(configuration: configuration("inside\(round).realm"))
            #expect(describe(copy) == inside)
            try copy.verify()
        }
        try change(9_000)
        let last = describe(realm)
        if commits { try realm.commitWrite() } else { realm.cancelWrite() }
        #expect(describe(realm) == (commits ? last : content))
        try realm.verify()
        try realm.write { try change(20_000) }
        let after = describe(realm)
        realm.close()
        let again = try Realm(configuration: configuration("w.realm"))
        #expect(describe(again) == after)
        try again.verify()
    }

    @Test func `a file is compacted at its first opening when the configuration wants it`() throws {
        let content = try makeFile("d.realm")
        let before = try length("d.realm")
        var configuration = configuration("d.realm")
        configuration.shouldCompactOnLaunch = { total, used in total > used * 2 }
        do {
            let realm = try Realm(configuration: configuration)
            #expect(describe(realm) == content)
            try realm.verify()
            realm.close()
        }
        let after = try length("d.realm")
        #expect(after * 2 < before)
        configuration.shouldCompactOnLaunch = { total, used in
            Issue.record("asked again: \(used) of \(total)")
            return false
        }
        configuration.shouldCompactOnLaunch = { _, _ in false }
        let realm = try Realm(configuration: configuration)
        #expect(try length("d.realm") == after)
        withExtendedLifetime(realm) {}
    }

    @Test(arguments: [".compacting", ".compacting.claim", ".compacting.lock"])
    func `a file opens as it is where something else stands at a name that compacting needs`(suffix: String) throws {
        let content = try makeFile("taken.realm")
        let place = directory.path("taken.realm" + suffix)
        try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: false)
        let lines = Mutex<[String]>([])
        var configuration = configuration("taken.realm")
        configuration.shouldCompactOnLaunch = { _, _ in true }
        configuration.logger = Logger(level: .warn) { _, message in lines.withLock { $0.append(message) } }
        try withNewRealm(configuration) { realm in
            #expect(describe(realm) == content)
            try realm.verify()
            realm.close()
        }
        #expect(lines.withLock { $0 }.contains { $0.contains("was not compacted") })
        #expect(FileManager.default.fileExists(atPath: place))
        #expect(throws: Realm.Error.self) { try Realm.compact(configuration) }
    }

    @Test func `a file opens as it is where there is no room to compact it`() async {
        await #expect(processExitsWith: .success) {
            let suite = RealmCompactingTests()
            try withNewRealm(suite.configuration("full.realm")) { realm in
                try realm.write {
                    for id in 0..<1_000 {
                        let note = Note()
                        note.id = id
                        note.body = Data(repeating: 1, count: 5_000)
                        realm.add(note)
                    }
                }
                realm.close()
            }
            signal(SIGXFSZ, SIG_IGN)
            // Less than the new file needs, and more than a lock file does: that counts as a full disk.
            var limit = rlimit(rlim_cur: 2 << 20, rlim_max: 2 << 20)
            #expect(setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0)
            var configuration = suite.configuration("full.realm")
            configuration.shouldCompactOnLaunch = { _, _ in true }
            let count = try withNewRealm(configuration) { $0.objects(Note.self).count }
            #expect(count == 1_000)
            let names = try FileManager.default.contentsOfDirectory(atPath: suite.directory.url.path)
            #expect(!names.contains { $0.contains("compacting") }, "\(names)")
            withExtendedLifetime(suite) {}
        }
    }

    @Test func `a block that decides about compacting, and asks for its own realm, gets an error`() async {
        await #expect(processExitsWith: .success) {
            let file = TestFile()
            try withNewRealm(file.fast) { $0.close() }
            let asked = Counter()
            var configuration = file.fast
            configuration.shouldCompactOnLaunch = { [fast = file.fast] _, _ in
                asked.increment()
                let deleting = #expect(throws: Realm.Error.self) { try Realm.deleteFiles(for: fast) }
                let compacting = #expect(throws: Realm.Error.self) { try Realm.compact(fast) }
                // On the thread of the caller.
                let opening = #expect(throws: Realm.Error.self) { try withNewRealm(fast) { $0.close() } }
                for error in [deleting, compacting, opening] { #expect(error?.code == .alreadyOpen) }
                return false
            }
            let isEmpty = try withNewRealm(configuration) { $0.isEmpty }
            #expect(isEmpty && asked.value == 1)
            let isDeleted = try Realm.deleteFiles(for: file.fast)
            #expect(isDeleted)
        }
    }

    /// What a process of another user has left that was killed while it compacted the file.
    @Test func `a file opens as it is where its user may not compact it`() async {
        await #expect(processExitsWith: .success) {
            let suite = RealmCompactingTests()
            // Who may do everything becomes somebody who may not.
            if getuid() == 0 { #expect(chown(suite.directory.url.path, 65_533, 0) == 0 && seteuid(65_533) == 0) }
            var found = stat()
            guard stat(suite.directory.url.path, &found) == 0 else {
                // Nobody else comes to the folder for temporary files: there is nothing to try.
                #expect(errno == EACCES && seteuid(0) == 0)
                return
            }
            let content = try suite.makeFile("e.realm")
            let claim = suite.directory.path("e.realm.compacting.claim")
            #expect(FileManager.default.createFile(atPath: claim, contents: nil) && chmod(claim, 0) == 0)
            let lines = Mutex<[String]>([])
            var configuration = suite.configuration("e.realm")
            configuration.shouldCompactOnLaunch = { _, _ in true }
            configuration.logger = Logger(level: .warn) { _, message in lines.withLock { $0.append(message) } }
            try withNewRealm(configuration) { realm in
                #expect(suite.describe(realm) == content)
                try realm.write { _ = realm.create(Note.self, value: ["id": 10_000, "title": "new"]) }
                try realm.verify()
                realm.close()
            }
            #expect(lines.withLock { $0 }.contains { $0.contains("was not compacted") })
            let error = #expect(throws: Realm.Error.self) { try Realm.compact(configuration) }
            #expect(error?.code == .filePermissionDenied)
            if getuid() == 0 { #expect(seteuid(0) == 0) }
            withExtendedLifetime(suite) {}
        }
    }
}
