import ActorRealm
import Foundation
import RealmTestSupport
import Testing

private class DamagedOwner: Object {
    @Persisted(primaryKey: true) var name: String
    @Persisted var age: Int
    @Persisted(indexed: true) var city: String
    @Persisted var dogs: List<DamagedDog>
}

private class DamagedDog: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var weight: Double
    @Persisted var notes: String?
    @Persisted(originProperty: "dogs") var owners: LinkingObjects<DamagedOwner>
}

/// Flipped bytes and cut files: an opening or a read works on intact data or throws an error; nothing traps, hangs or is
/// believed wrongly.
@Suite struct DamageTests {
    let directory = TemporaryDirectory()
    private let types = [DamagedOwner.self, DamagedDog.self] as [ObjectBase.Type]

    private func configuration(_ name: String) -> Realm.Configuration {
        Realm.Configuration(fileURL: URL(fileURLWithPath: directory.path(name)), objectTypes: types)
    }

    /// A closed file with every kind of page, and what is in it.
    private func makeFile(ownersInBatch: Int = 60) throws -> (Data, String) {
        let configuration = configuration("original.realm")
        let content: String
        do {
            let realm = try Realm(configuration: configuration)
            for batch in 0..<4 {
                try realm.write {
                    for index in 0..<ownersInBatch {
                        let owner = DamagedOwner()
                        owner.name = "owner \(batch * ownersInBatch + index)"
                        owner.age = index % 90
                        owner.city = "city \(index % 17)"
                        for number in 0..<(index % 4) {
                            let dog = DamagedDog()
                            dog.id = (batch * ownersInBatch + index) * 10 + number
                            dog.weight = Double(number) * 1.5
                            dog.notes = number == 2 ? String(repeating: "long ", count: 300) : nil
                            owner.dogs.append(dog)
                        }
                        realm.add(owner)
                    }
                }
            }
            content = describe(realm)
            realm.close()
        }
        return (try Data(contentsOf: URL(fileURLWithPath: directory.path("original.realm"))), content)
    }

    /// Reads everything: rows, lists, backlinks, an index, a primary key.
    private func describe(_ realm: Realm) -> String {
        var text = ""
        for owner in realm.objects(DamagedOwner.self) {
            text += "\(owner.name) \(owner.age) \(owner.city) \(owner.dogs.map(\.id).reduce(0, +))\n"
        }
        for dog in realm.objects(DamagedDog.self) {
            text += "\(dog.id) \(dog.weight) \(dog.notes?.count ?? -1) \(dog.owners.first?.name ?? "")\n"
        }
        text += "\(realm.objects(DamagedOwner.self).where { $0.city == "city 3" }.count) "
        text += realm.object(ofType: DamagedOwner.self, forPrimaryKey: "owner 77")?.city ?? "none"
        return text
    }

    /// How one damaged file behaved.
    private enum Outcome { case intact, refused, namesPage }

    private func open(_ data: Data, content: String, _ name: String, _ what: String) throws -> Outcome {
        let configuration = configuration(name)
        try data.write(to: try #require(configuration.fileURL))
        defer {
            try? FileManager.default.removeItem(atPath: directory.path(name))
            try? FileManager.default.removeItem(atPath: directory.path(name) + ".lock")
        }
        do {
            let realm = try Realm(configuration: configuration)
            #expect(describe(realm) == content, "\(what): wrong data was believed")
            try realm.verify()
            realm.close()
            return .intact
        } catch let error as Realm.Error {
            #expect([.invalidDatabase, .unsupportedFileFormatVersion].contains(error.code), "\(what): \(error)")
            return error.localizedDescription.contains("page") ? .namesPage : .refused
        }
    }

    @Test func `a byte flipped at any of 1,000 places is an error that names the page, or has no effect`() throws {
        let seed = UInt64.random(in: 0...9999)
        var random = SplitMix64(seed: seed)
        let (original, content) = try makeFile()
        var outcomes: [Outcome: Int] = [:]
        for round in 0..<1000 {
            var damaged = original
            let offset = Int.random(in: 0..<damaged.count, using: &random)
            damaged[offset] ^= UInt8(1 << Int.random(in: 0..<8, using: &random))
            let outcome = try open(damaged, content: content, "flip-\(round).realm", "seed \(seed), byte \(offset)")
            outcomes[outcome, default: 0] += 1
        }
        print("flipped bytes: \(original.count) bytes, seed \(seed), \(outcomes)")
        #expect(outcomes[.namesPage] ?? 0 > 300)
    }

    @Test func `a file cut at any of ten places is an error`() throws {
        let (original, content) = try makeFile()
        // Behind that the file is as the system made it, with room for what is to come.
        let end = (original.lastIndex { $0 != 0 } ?? 0) + 1
        #expect(end * 2 > original.count)
        for part in 0..<10 {
            let count = max(1, original.count * part / 10)
            let outcome = try open(original.prefix(count), content: content, "cut-\(part).realm", "\(count) bytes")
            #expect(outcome != .intact || count >= end, "\(count) of \(end) bytes")
        }
    }

    /// A file of 64 KiB and a little; `REALM_EVERY_BYTE` asks for it.
    ///
    /// Minutes on a release build, in a folder in memory.
    @Test(.enabled(if: ProcessInfo.processInfo.environment["REALM_EVERY_BYTE"] != nil))
    func `every byte flipped, and every length`() throws {
        let (whole, content) = try makeFile(ownersInBatch: 4)
        var configuration = configuration("whole.realm")
        try whole.write(to: try #require(configuration.fileURL))
        let copy = directory.path("compact.realm")
        configuration.readOnly = true
        let realm = try Realm(configuration: configuration)
        try realm.writeCopy(toFile: URL(fileURLWithPath: copy))
        realm.close()
        let original = try Data(contentsOf: URL(fileURLWithPath: copy))
        var flips: [Outcome: Int] = [:]
        for offset in original.indices {
            var damaged = original
            damaged[offset] ^= UInt8(1 << (offset % 8))
            flips[try open(damaged, content: content, "flip.realm", "byte \(offset)"), default: 0] += 1
        }
        var lengths: [Outcome: Int] = [:]
        // A file without a byte is no damaged one: it becomes a realm.
        for count in 1..<original.count {
            let outcome = try open(original.prefix(count), content: content, "cut.realm", "\(count) bytes")
            #expect(outcome != .intact, "\(count) bytes")
            lengths[outcome, default: 0] += 1
        }
        let counts = [flips, lengths]
            .map { "\($0[.namesPage] ?? 0) name the page, \($0[.refused] ?? 0) refused, \($0[.intact] ?? 0) intact" }
        print("every byte of \(original.count) flipped: \(counts[0]); every length: \(counts[1])")
    }
}
