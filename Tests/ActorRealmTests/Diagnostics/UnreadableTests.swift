import Foundation
import RealmTestSupport
import Testing

@testable import ActorRealm
@testable import RealmModel
@testable import RealmStorage

@Suite("Damage that calls meet which do not throw", .timeLimit(.minutes(60)))
struct UnreadableTests {
    final class Rack: Object {
        override class func _realmObjectName() -> String? { "UnreadableRack" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
        @Persisted(primaryKey: true) var name: String
        @Persisted var books: List<Volume>
        @Persisted var marks: MutableSet<String>
        @Persisted var notes: Map<String, String>
        @Persisted var slips: List<Slip>
        @Persisted var named: Map<String, Slip?>
        @Persisted var cover: Slip?
        @Persisted var anything: AnyRealmValue
    }

    final class Volume: Object {
        override class func _realmObjectName() -> String? { "UnreadableVolume" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
        @Persisted(primaryKey: true) var number: Int
        @Persisted(indexed: true) var title: String
        @Persisted var text: String
        @Persisted var bytes: Data
        @Persisted var slip: Slip?
        @Persisted var next: Volume?
    }

    final class Slip: EmbeddedObject {
        override class func _realmObjectName() -> String? { "UnreadableSlip" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
        @Persisted var text: String
        @Persisted var number: Int
    }

    final class VolumeProjection: Projection<Volume> {
        @Projected(\Volume.title) var heading: String
        @Projected(\Volume.slip?.text) var slipText: String?
    }

    private static let types: [ObjectBase.Type] = [Rack.self, Volume.self, Slip.self]
    /// More than one leaf has, so that some are met behind what is read of a class first.
    private static let count = 1_100
    private let directory = TemporaryDirectory()

    private func configuration(_ name: String) -> Realm.Configuration {
        var configuration = Realm.Configuration(
            fileURL: URL(fileURLWithPath: directory.path(name)),
            objectTypes: Self.types
        )
        configuration.durability = .unflushed
        return configuration
    }

    private static func slip(_ number: Int) -> [String: Any] {
        ["text": String(repeating: "slip \(number) ", count: 20), "number": number]
    }

    private func fill(_ realm: Realm) throws {
        try realm.write {
            let rack = realm.create(Rack.self, value: ["name": "a", "cover": Self.slip(-1), "anything": [1, "x"]])
            var last: Volume?
            for number in 0..<Self.count {
                let book = realm.create(
                    Volume.self,
                    value: [
                        "number": number, "title": "title \(number % 7)", "slip": Self.slip(number),
                        "text": String(repeating: "t", count: number % 50 == 0 ? 6_000 : 300),
                        "bytes": Data(repeating: 7, count: 40),
                    ]
                )
                book.next = last
                last = book
                rack.books.append(book)
                rack.marks.insert("mark \(number)")
                rack.notes["note \(number)"] = "text \(number)"
            }
            for number in 0..<60 {
                rack.slips.append(Slip(value: Self.slip(number)))
                rack.named["slip \(number)"] = Slip(value: Self.slip(number))
            }
        }
    }

    /// What was met in damaged files.
    struct Outcome {
        var unreadable = 0
        var fine = 0
    }

    /// The rows of the objects.
    struct Keys {
        let rack: Int64
        let volumes: [Int64]
    }

    /// Opens a file as a large one is opened, without reading it whole.
    private func open(_ configuration: Realm.Configuration) throws -> RealmCoordinator {
        let settings = try OpenSettings(configuration)
        let file = try StorageFile.open(path: settings.path, options: settings.options)
        return RealmCoordinator(file: file, path: settings.path, settings: settings)
    }

    private func forEachDamagedFile(
        seed: UInt64,
        rounds: Int,
        flips: Int = 3,
        _ body: (RealmCoordinator, Realm.Configuration, Keys, inout Outcome) throws -> Void
    ) throws -> Outcome {
        // Flushed: else a page that does not fit is taken for one that was cut short, and the commit is rolled back.
        var flushed = configuration("original")
        flushed.durability = .flushed
        let keys = try withNewRealm(flushed) { realm in
            try fill(realm)
            return Keys(
                rack: realm.objects(Rack.self).first!.rowKey,
                volumes: realm.objects(Volume.self).map(\.rowKey)
            )
        }
        let original = try Data(contentsOf: URL(fileURLWithPath: directory.path("original")))
        var random = SplitMix64(seed: seed)
        var outcome = Outcome()
        for round in 0..<rounds {
            var damaged = original
            for _ in 0..<flips {
                let offset = Int.random(in: 16_384..<damaged.count, using: &random)
                damaged[offset] ^= UInt8(1 << Int.random(in: 0..<8, using: &random))
            }
            let configuration = configuration("damaged \(round)")
            let path = directory.path("damaged \(round)")
            defer { for end in ["", ".lock"] { try? FileManager.default.removeItem(atPath: path + end) } }
            try damaged.write(to: URL(fileURLWithPath: path))
            do {
                try body(open(configuration), configuration, keys, &outcome)
            } catch let error as Realm.Error where error.code == .invalidDatabase {
                outcome.unreadable += 1
            } catch let error as StorageError where error.code == .corrupt {
                outcome.unreadable += 1
            }
        }
        return outcome
    }

    /// The objects of a damaged file, made without reading their rows.
    private struct Objects {
        fileprivate let racks: TableAccessor
        fileprivate let volumes: TableAccessor
        fileprivate let keys: Keys

        var rack: Rack { unsafeDowncast(racks.makeObject(key: keys.rack), to: Rack.self) }

        func volume(_ number: Int) -> Volume {
            unsafeDowncast(volumes.makeObject(key: keys.volumes[number]), to: Volume.self)
        }
    }

    /// As ``forEachDamagedFile(seed:rounds:flips:_:)``, with the realm of each whose classes can be found.
    private func forEachDamagedRealm(
        seed: UInt64,
        rounds: Int,
        flips: Int = 3,
        _ body: (Realm, Objects, inout Outcome) throws -> Void
    ) throws -> Outcome {
        try forEachDamagedFile(seed: seed, rounds: rounds, flips: flips) { coordinator, configuration, keys, outcome in
            let realm = try coordinator.coreForCurrentContext(configuration: configuration).realm()
            try realm.requireReadable(Rack.self)
            try realm.requireReadable(Volume.self)
            let racks = try #require(realm.core.accessor(for: Rack.self))
            let volumes = try #require(realm.core.accessor(for: Volume.self))
            try body(realm, Objects(racks: racks, volumes: volumes, keys: keys), &outcome)
        }
    }

    /// What a process of trials has met.
    private func counted(_ text: String) throws -> Outcome {
        let match = try #require(text.firstMatch(of: /unreadable ([0-9]+), fine ([0-9]+)\./), "\(text)")
        print("damage and calls that do not throw: \(match.0)")
        return Outcome(unreadable: Int(match.1) ?? 0, fine: Int(match.2) ?? 0)
    }

    private static func tell(_ outcome: Outcome) {
        FileHandle.standardError.write(Data("unreadable \(outcome.unreadable), fine \(outcome.fine).".utf8))
    }

    private static let seed = UInt64(ProcessInfo.processInfo.environment["REALM_UNREADABLE_SEED"] ?? "") ?? 1
    private static let rounds = Int(ProcessInfo.processInfo.environment["REALM_UNREADABLE_ROUNDS"] ?? "") ?? 8

    // MARK: Reading

    @Test("isInvalidated and descriptions end nothing, and requireReadable() of an object throws", .secondProcess)
    func describing() async throws {
        let report = ChildReport()
        await #expect(processExitsWith: .success) { [report = report as ChildReport] in
            report.begin()
            Self.tell(try UnreadableTests().describeDamaged(seed: Self.seed, rounds: Self.rounds))
        }
        let outcome = try counted(report.take())
        #expect(outcome.unreadable > 20 && outcome.fine > 200)
    }

    private func describeDamaged(seed: UInt64, rounds: Int) throws -> Outcome {
        try forEachDamagedRealm(seed: seed, rounds: rounds) { realm, objects, outcome in
            func note(_ text: String) {
                if text.contains("[unreadable: ") { outcome.unreadable += 1 } else { outcome.fine += 1 }
            }
            func look(_ object: ObjectBase) {
                let isInvalidated = object.isInvalidated
                do {
                    try object.requireReadable()
                    outcome.fine += 1
                } catch {
                    #expect((error as? Realm.Error)?.code == .invalidDatabase, "\(error)")
                    outcome.unreadable += 1
                }
                #expect(!isInvalidated)
                note(object.description)
            }
            for number in stride(from: 0, to: Self.count, by: 9) {
                let volume = objects.volume(number)
                look(volume)
                note(VolumeProjection(projecting: volume).description)
            }
            let rack = objects.rack
            look(rack)
            #expect(!rack.books.isInvalidated && !rack.marks.isInvalidated && !rack.notes.isInvalidated)
            for text in [
                rack.books.description, rack.marks.description, rack.notes.description, rack.slips.description,
                rack.named.description, realm.objects(Volume.self).description,
                realm.objects(Volume.self).where { $0.title == "title 3" }.description,
                realm.objects(Volume.self).sorted(by: \.title).description,
                realm.objects(Volume.self).projectTo.text.description,
                rack.freeze().description, rack.books.freeze().description,
            ] { note(text) }
        }
    }

    @Test("A description of what is whole says so, and one of what is unreadable says why in its place")
    func descriptions() throws {
        let realm = try memoryRealm(Self.types)
        try fill(realm)
        let rack = try #require(realm.objects(Rack.self).first)
        try rack.requireReadable()
        #expect(!rack.description.contains("unreadable") && rack.description.contains("title 3"))
        #expect(!realm.objects(Volume.self).description.contains("unreadable"))
        try realm.write { realm.delete(rack) }
        let error = #expect(throws: Realm.Error.self) { try rack.requireReadable() }
        #expect(error?.code == .invalidatedObject)
        try Volume().requireReadable()
    }

    // MARK: Writing

    @Test("A setter and an update keep the damage that they meet, and the commit throws it", .secondProcess)
    func writing() async throws {
        let report = ChildReport()
        await #expect(processExitsWith: .success) { [report = report as ChildReport] in
            report.begin()
            Self.tell(try UnreadableTests().writeDamaged(seed: Self.seed + 1, rounds: Self.rounds))
        }
        let outcome = try counted(report.take())
        #expect(outcome.unreadable > 10)
    }

    private func writeDamaged(seed: UInt64, rounds: Int) throws -> Outcome {
        try forEachDamagedRealm(seed: seed, rounds: rounds, flips: 1) { realm, objects, outcome in
            for policy in [Realm.UpdatePolicy.modified, .all] {
                for part in 0..<3 {
                    do {
                        try realm.write {
                            for number in stride(from: part, to: Self.count, by: 60) {
                                objects.volume(number).text = "new"
                                let other = Volume()
                                other.number = number + 1
                                other.title = "other"
                                other.slip = Slip(value: Self.slip(7))
                                realm.add(other, update: policy)
                            }
                            let rack = objects.rack
                            rack.books.append(Volume(value: ["number": (policy == .all ? 2_000 : 3_000) + part]))
                            rack.marks.insert("new \(part)")
                            rack.notes["new \(part)"] = "note"
                            rack.cover = Slip(value: Self.slip(part))
                            realm.create(
                                Rack.self,
                                value: [
                                    "name": "a", "cover": Self.slip(3), "slips": (0..<50).map { Self.slip($0) },
                                    "named": ["slip 1": Self.slip(1)], "marks": ["m"], "notes": ["n": "o"],
                                    "books": [["number": part]],
                                ],
                                update: policy
                            )
                        }
                        outcome.fine += 1
                    } catch let error as Realm.Error where error.code == .invalidDatabase {
                        outcome.unreadable += 1
                    }
                }
            }
        }
    }

    // MARK: Migrations

    @Test("What iterations, descriptions and updates meet inside a migration, the opening throws", .secondProcess)
    func migrating() async throws {
        let report = ChildReport()
        await #expect(processExitsWith: .success) { [report = report as ChildReport] in
            report.begin()
            Self.tell(try UnreadableTests().migrateDamaged(seed: Self.seed + 2, rounds: Self.rounds))
        }
        let outcome = try counted(report.take())
        #expect(outcome.unreadable > 5)
    }

    private func migrateDamaged(seed: UInt64, rounds: Int) throws -> Outcome {
        try forEachDamagedFile(seed: seed, rounds: rounds) { coordinator, configuration, _, outcome in
            var configuration = configuration
            configuration.schemaVersion = 1
            configuration.migrationBlock = { migration, _ in
                migration.enumerateObjects(ofType: "UnreadableRack") { old, new in
                    for rack in [old!, new!] {
                        for (number, book) in rack.dynamicList("books").enumerated() {
                            _ = book["title"]
                            // Each describes those that it leads to as well.
                            if number % 9 == 0 { _ = book.description }
                        }
                        if let marks = rack["marks"] as? MutableSet<String> { for mark in marks { _ = mark } }
                        if let notes = rack["notes"] as? Map<String, String> { for entry in notes { _ = entry } }
                        for slip in rack.dynamicList("slips") { _ = slip["text"] }
                        _ = rack.description
                        _ = rack.dynamicList("books").description
                    }
                    new!["cover"] = Self.slip(5)
                }
                for policy in [Realm.UpdatePolicy.modified, .all] {
                    migration.create(
                        "UnreadableRack",
                        value: [
                            "name": "a", "cover": Self.slip(3), "slips": (0..<50).map { Self.slip($0) },
                            "named": ["slip 1": Self.slip(1)], "marks": ["m"],
                            "books": [["number": 1, "text": "new", "slip": Self.slip(8)] as [String: Any]],
                        ],
                        update: policy
                    )
                }
            }
            try coordinator.reconcile(
                with: DeclaredSchema.make(for: configuration),
                configuration: configuration,
                for: Opener()
            )
            outcome.fine += 1
        }
    }

    // MARK: Where a class begins

    /// A file in which nobody can tell where the rows of a class begin.
    private func realmWithoutBeginning(of className: String) throws -> Realm {
        let configuration = configuration("beginning")
        try withNewRealm(configuration) { try fill($0) }
        let coordinator = try open(configuration)
        let file = coordinator.file
        let schema = try ModelView(snapshot: file.beginRead()).schema
        let table = try #require(schema[className]?.tableID)
        try file.lockForWriting()
        let transaction = try file.beginWrite()
        try CatalogKey.store([1, 2, 3], CatalogKey.table, table, in: transaction)
        try file.publish([try transaction.prepareCommit()])
        file.unlockForWriting()
        return try coordinator.coreForCurrentContext(configuration: configuration).realm()
    }

    @Test("requireReadable(_:) throws where objects(_:) would end the process, and so does insert", .secondProcess)
    func beginning() async throws {
        let realm = try realmWithoutBeginning(of: "UnreadableVolume")
        func code(_ body: () throws -> Void) -> Realm.Error.Code? {
            do {
                try body()
                return nil
            } catch { return (error as? Realm.Error)?.code }
        }
        #expect(code { try realm.requireReadable(Volume.self) } == .invalidDatabase)
        #expect(code { try realm.requireReadable(className: "UnreadableVolume") } == .invalidDatabase)
        #expect(code { try realm.requireReadable(VolumeProjection.self) } == .invalidDatabase)
        #expect(code { try realm.write { _ = try realm.insert(Volume.self, value: [:]) } } == .invalidDatabase)
        // Links lead from it to the other one.
        #expect(code { try realm.requireReadable(Rack.self) } == .invalidDatabase)
        #expect(realm.objects(Rack.self).count == 1)
        let rack = try #require(realm.objects(Rack.self).first)
        #expect(code { try rack.requireReadable() } == nil && code { _ = try rack.value(of: \.name) } == nil)
        #expect(code { _ = try rack.value(of: \.books) } == .invalidDatabase)
        #expect(rack.description.contains("books = [unreadable: "))
        #expect(code { try realm.requireReadable(Slip.self) } == .invalidInput)
        #expect(code { try realm.requireReadable(Todo.self) } == .invalidInput)
        #expect(code { try realm.requireReadable(className: "Nobody") } == .invalidInput)
        await #expect(processExitsWith: .failure) {
            _ = try UnreadableTests().realmWithoutBeginning(of: "UnreadableVolume").objects(Volume.self)
        }
    }

    @Test("A list or a map of a class that cannot be found is unreadable, asked and described", .secondProcess)
    func unreadableElements() async throws {
        await #expect(processExitsWith: .success) {
            let realm = try UnreadableTests().realmWithoutBeginning(of: "UnreadableSlip")
            let rack = try #require(realm.objects(Rack.self).first)
            func isThrown(_ body: () throws -> Void) -> Bool {
                do {
                    try body()
                    return false
                } catch { return (error as? Realm.Error)?.code == .invalidDatabase }
            }
            #expect(rack.slips.description.hasPrefix("[unreadable: "))
            #expect(rack.named.description.hasPrefix("[unreadable: "))
            #expect(AnyRealmCollection(rack.slips).description.hasPrefix("[unreadable: "))
            #expect(rack.description.contains("slips = [unreadable: "))
            #expect(isThrown { try rack.slips.requireReadable() })
            #expect(isThrown { try rack.slips.requireReadable(\.text) })
            #expect(isThrown { try rack.named.requireReadable() })
            #expect(isThrown { try AnyRealmCollection(rack.slips).requireReadable() })
            #expect(isThrown { try rack.slips.projectTo.text.requireReadable() })
            #expect(isThrown { _ = try rack.slips.filter(RealmPredicate(parsing: "number > 1")) })
            #expect(!rack.slips.isInvalidated && !rack.named.isInvalidated)
            try rack.marks.requireReadable()
            realm.close()
            try rack.slips.requireReadable()
        }
    }
}
