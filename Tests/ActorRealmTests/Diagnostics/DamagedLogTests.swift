import Foundation
import RealmTestSupport
import Testing

@testable import ActorRealm

private class OwnerBesideLog: Object {
    @Persisted(primaryKey: true) var name: String
    @Persisted(indexed: true) var age: Int
    @Persisted var notes: String?
    @Persisted var numbers: List<Int>
}

/// Flipped bytes and cut files of a realm that was killed while its log was open, and of that log.
///
/// An opening finds all that was acknowledged, or throws an error. Nothing traps, and what the lock file knows to be durable is never lost
/// without a word.
@Suite("Damage beside an open log", .timeLimit(.minutes(60)))
struct DamagedLogTests {
    let directory = TemporaryDirectory()

    private static let blockByteCount = 4_096
    /// One byte of so many is damaged with a seed, and one length of so many is tried.
    ///
    /// The seed says which: as many seeds that follow each other cover all of them. It is a prime, so that the places of one seed stand anywhere
    /// in pages and blocks.
    private static let byteStride = 1_999
    /// The same for the bytes of records, of which there are few.
    private static let recordStride = 37

    /// Where `REALM_DAMAGE_SEED` says to begin, as many as `REALM_DAMAGE_SEEDS` says; `Tests/campaigns damage` has all of them.
    private static let seeds: Range<UInt64> = {
        let environment = ProcessInfo.processInfo.environment
        let first = environment["REALM_DAMAGE_SEED"].flatMap { UInt64($0) } ?? .random(in: 0..<1_999)
        let count = environment["REALM_DAMAGE_SEEDS"].flatMap { UInt64($0) } ?? 1
        return first..<first + count
    }()

    /// What a kill leaves of a small realm, and what was acknowledged.
    private struct Killed {
        var realm: Data
        var log: Data
        var lock: Data
        /// What the realm held.
        var content: [String]
        /// What it held before the last commit.
        var contentBefore: [String]

        /// Where the last record stands: each commit has begun a new block.
        var lastBlock: Int { (log.lastIndex { $0 != 0 } ?? 0) / DamagedLogTests.blockByteCount }

        /// The places of the log in which records stand.
        var recordPlaces: [Int] {
            let byteCount = DamagedLogTests.blockByteCount
            return (1..<log.count / byteCount)
                .flatMap { block -> Range<Int> in
                    let start = block * byteCount
                    let last = log[start..<start + byteCount].lastIndex { $0 != 0 }
                    return start..<(last.map { $0 + 1 } ?? start)
                }
        }
    }

    private func configuration(_ name: String, keepsLog: Bool) -> Realm.Configuration {
        var configuration = Realm.Configuration(
            fileURL: URL(fileURLWithPath: directory.path(name)),
            objectTypes: [OwnerBesideLog.self] as [ObjectBase.Type]
        )
        if keepsLog { configuration.keepLog(ringByteCount: 8 * Self.blockByteCount) }
        return configuration
    }

    private func killed() throws -> Killed {
        let path = directory.path("victim.realm")
        // A copy is as short as it can be.
        try withNewRealm(configuration("first.realm", keepsLog: false)) { realm in
            defer { realm.close() }
            try realm.write {
                for index in 0..<24 {
                    let owner = OwnerBesideLog()
                    owner.name = "owner \(index)"
                    owner.age = index % 7
                    owner.notes = index % 5 == 0 ? String(repeating: "long ", count: 300) : nil
                    owner.numbers.append(objectsIn: 0..<index)
                    realm.add(owner)
                }
            }
            try realm.writeCopy(toFile: URL(fileURLWithPath: path))
        }
        return try withNewRealm(configuration("victim.realm", keepsLog: true)) { realm -> Killed in
            defer { realm.close() }
            func owner(_ index: Int) throws -> OwnerBesideLog {
                try #require(realm.object(ofType: OwnerBesideLog.self, forPrimaryKey: "owner \(index)"))
            }
            try realm.write { realm.create(OwnerBesideLog.self, value: ["name": "new", "age": 3]) }
            try realm.write {
                try owner(3).age = 100
                try owner(4).numbers.append(-1)
            }
            try realm.write { realm.delete(try owner(5)) }
            let before = describe(realm)
            try realm.write {
                try owner(6).notes = "the last commit"
                try owner(7).numbers.insert(-2, at: 0)
            }
            // Each has its record, and the log was not used again.
            try #require(FileManager.default.fileExists(atPath: path + ".log"))
            func data(_ suffix: String) throws -> Data { try Data(contentsOf: URL(fileURLWithPath: path + suffix)) }
            return Killed(
                realm: try data(""),
                log: try data(".log"),
                lock: try data(".lock"),
                content: describe(realm),
                contentBefore: before
            )
        }
    }

    /// Reads everything: rows, lists, an index, a primary key.
    private func describe(_ realm: Realm) -> [String] {
        let owners = realm.objects(OwnerBesideLog.self)
        let lines = owners.map { owner in
            "\(owner.name) \(owner.age) \(owner.notes ?? "") \(Array(owner.numbers))"
        }
        let found = realm.object(ofType: OwnerBesideLog.self, forPrimaryKey: "owner 7")?.age ?? -1
        return lines.sorted() + ["\(owners.where { $0.age == 3 }.count) \(found)"]
    }

    /// How an opening of damaged files went: with everything, with an error, or without the last commit.
    private enum Outcome { case intact, refused, torn }

    /// Opens files as a kill leaves them, with the setting or without it.
    private func open(
        _ realm: Data,
        _ log: Data?,
        _ lock: Data?,
        of killed: Killed,
        keepsLog: Bool,
        _ what: String
    ) throws -> Outcome {
        let name = "damaged-\(UInt64.random(in: 0 ... .max)).realm"
        let path = directory.path(name)
        for (suffix, data) in [("", realm), (".log", log), (".lock", lock)] as [(String, Data?)] {
            try data?.write(to: URL(fileURLWithPath: path + suffix))
        }
        defer { for suffix in ["", ".log", ".lock"] { try? FileManager.default.removeItem(atPath: path + suffix) } }
        do {
            return try withNewRealm(configuration(name, keepsLog: keepsLog)) { realm -> Outcome in
                defer { realm.close() }
                try realm.verify()
                let found = describe(realm)
                if found == killed.content { return .intact }
                #expect(found == killed.contentBefore, "\(what): what never was is believed")
                return .torn
            }
        } catch let error as Realm.Error {
            #expect([.invalidDatabase, .unsupportedFileFormatVersion].contains(error.code), "\(what): \(error)")
            return .refused
        }
    }

    private func tell(_ what: String, _ outcomes: [Outcome: Int]) {
        let count = outcomes.values.reduce(0, +)
        print(
            "damage beside a log, \(what): seeds \(Self.seeds.lowerBound) to \(Self.seeds.upperBound - 1), \(count) files: "
                + "\(outcomes[.intact] ?? 0) intact, \(outcomes[.refused] ?? 0) refused, "
                + "\(outcomes[.torn] ?? 0) without a last commit that nothing calls durable"
        )
        fflush(nil)
    }

    private func damaged(_ data: Data, at place: Int) -> Data {
        var data = data
        data[place] ^= 1 << UInt8(place % 8)
        return data
    }

    @Test("Rule 26: a flipped byte of a realm or its log takes nothing that the lock file or the log calls durable")
    func bytes() throws {
        let killed = try killed()
        let (stride, recordStride) = (UInt64(Self.byteStride), UInt64(Self.recordStride))
        let records = killed.recordPlaces
        #expect(records.count > 4 * 48)
        let others = Set(0..<killed.log.count).subtracting(records)
        var outcomes: [Outcome: Int] = [:]
        for seed in Self.seeds {
            for place in killed.realm.indices where UInt64(place) % stride == seed % stride {
                let what = "seed \(seed), byte \(place) of the realm"
                let outcome = try open(
                    damaged(killed.realm, at: place),
                    killed.log,
                    place % 2 == 0 ? killed.lock : nil,
                    of: killed,
                    keepsLog: place % 4 < 2,
                    what
                )
                // No record is damaged.
                #expect(outcome != .torn, "\(what): a commit is lost")
                outcomes[outcome, default: 0] += 1
            }
            var places = others.filter { UInt64($0) % stride == seed % stride }.sorted()
            for (index, place) in records.enumerated() where UInt64(index) % recordStride == seed % recordStride {
                places.append(place)
            }
            for place in places {
                let what = "seed \(seed), byte \(place) of the log"
                let log = damaged(killed.log, at: place)
                for lock in [killed.lock, nil] as [Data?] {
                    let outcome = try open(killed.realm, log, lock, of: killed, keepsLog: place % 2 == 0, what)
                    let mayTear = lock == nil && place / Self.blockByteCount == killed.lastBlock
                    #expect(outcome != .torn || mayTear, "\(what): a commit is lost")
                    outcomes[outcome, default: 0] += 1
                }
            }
        }
        tell("flipped bytes", outcomes)
        #expect(outcomes[.intact] ?? 0 > 0 && outcomes[.refused] ?? 0 > 10)
    }

    @Test("A realm that is cut beside its open log, and a log that is cut or gone, is an error, or nothing is missing")
    func lengths() throws {
        let killed = try killed()
        let stride = UInt64(Self.byteStride)
        var outcomes: [Outcome: Int] = [:]
        for seed in Self.seeds {
            // A file without a byte is no damaged one: it becomes a realm.
            for count in 1..<killed.realm.count where UInt64(count) % stride == seed % stride {
                let what = "seed \(seed), a realm of \(count) bytes"
                let lock = count % 2 == 0 ? killed.lock : nil
                let realm = killed.realm.prefix(count)
                let outcome = try open(realm, killed.log, lock, of: killed, keepsLog: count % 4 < 2, what)
                #expect(outcome != .torn, "\(what): a commit is lost")
                outcomes[outcome, default: 0] += 1
            }
            for count in 0..<killed.log.count where UInt64(count) % stride == seed % stride {
                let what = "seed \(seed), a log of \(count) bytes"
                let lock = count % 2 == 0 ? killed.lock : nil
                let log = killed.log.prefix(count)
                let outcome = try open(killed.realm, log, lock, of: killed, keepsLog: count % 4 < 2, what)
                // Its length is on the disk before anything names it.
                #expect(outcome == .refused, "\(what)")
                outcomes[outcome, default: 0] += 1
            }
        }
        for lock in [killed.lock, nil] as [Data?] {
            let outcome = try open(killed.realm, nil, lock, of: killed, keepsLog: true, "no log")
            #expect(outcome == .refused, "no log")
        }
        #expect(try open(killed.realm, killed.log, killed.lock, of: killed, keepsLog: true, "whole files") == .intact)
        tell("lengths", outcomes)
    }
}
