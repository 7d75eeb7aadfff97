import Dispatch
import Foundation
import RealmStorage
import RealmTestSupport
import Synchronization
import Testing

@testable import ActorRealm

@Suite("What a migration would do") struct MigrationPlanTests {
    enum Mood: String, PersistableEnum { case calm, grumpy }

    class Moody: Object {
        @Persisted(primaryKey: true) var id: Int
        @Persisted(indexed: true) var age: Int?
        @Persisted var feeling: Mood
        @Persisted var fullName: String
        @Persisted(unique: true) var faxNumber: String
        @Persisted var nick: Int
        @Persisted var marks: List<Int>
        @Persisted var added: String = "added"
        @Persisted var twin: Moody?
        override class func _realmObjectName() -> String? { "Person" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
    }

    private let directory = TemporaryDirectory()
    private let file: LossFile

    init() throws { file = try LossFile(directory.path("planned.realm")) }

    private func summary(_ changes: [MigrationPlan.Change]) -> [String] {
        changes.map {
            "\($0.propertyName ?? $0.className) \($0.kind) \($0.type ?? "-") \($0.valueCount)/\($0.objectCount)"
        }
    }

    @Test func `a plan says what is added, removed, renamed and retyped`() async throws {
        let plan = try await Realm.migrationPlan(for: file.configuration(Moody.self, version: 3))
        #expect(plan.oldSchemaVersion == 1 && plan.newSchemaVersion == 3 && !plan.isEmpty && !plan.needsHigherVersion)
        // Six faxes are empty, so that none can be unique; no text is a mood; and 'added' has nothing of 'fax'.
        #expect(summary(plan.renamed) == ["name renamed(to: \"fullName\") string 10/10"])
        #expect(summary(plan.removed) == ["fax removed string 4/10", "price removed decimal128 2/10"])
        #expect(summary(plan.retyped) == ["nick retyped(to: \"int\") string? 3/10"])
        #expect(
            summary(plan.added) == [
                "feeling added string 0/10", "faxNumber added string 0/10", "added added string 0/10",
            ]
        )
        #expect(summary(plan.changes.filter { $0.kind == .madeOptional }) == ["age madeOptional int 9/10"])
        #expect(plan.objectCount == 10)
        #expect(plan.estimatedDuration > .microseconds(10) && plan.estimatedDuration < .milliseconds(1))
        let lines = plan.description.split(separator: "\n").map(String.init)
        #expect(lines[0] == "Migration from version 1 to 3: 10 objects to rewrite, about 0.1 s.")
        for line in [
            "- 'Person.name' (string) seems to be 'Person.fullName' now, by its type and values: 10 values in 10 objects",
            "- 'Person.fax' (string) is removed: 4 values in 10 objects",
            "- 'Person.nick' (string?) becomes int: 3 values in 10 objects", "- 'Person.added' (string) is added",
            "- 'Person.age' (int) becomes optional: 9 values in 10 objects stay",
            "- 'Person.faxNumber' changes its index or its rules",
        ] { #expect(lines.contains(line), "\(line)\n\(plan)") }
        #expect(try file.isUnchanged)
    }

    @Test func `values that are cases of an enum make it the better guess`() async throws {
        try withNewRealm(file.configuration(Losing.Before.self, version: 1)) { realm in
            try realm.write { realm.objects(Losing.Before.self).setValue("calm", forKey: "fax") }
        }
        let plan = try await Realm.migrationPlan(for: file.configuration(Moody.self, version: 2))
        #expect(
            summary(plan.renamed) == [
                "name renamed(to: \"fullName\") string 10/10", "fax renamed(to: \"feeling\") string 10/10",
            ]
        )
    }

    @Test func `a plan needs neither the write lock nor the block, and tells a version that is too low`() async throws {
        let configuration = file.configuration(Losing.Smaller.self, version: 1) { _, _ in
            Issue.record("the block ran")
        }
        let queue = DispatchQueue(label: "writer")
        let realm = try queue.sync {
            let realm = try Realm(configuration: file.configuration(Losing.Before.self, version: 1), queue: queue)
            realm.beginWrite()
            realm.create(Losing.Before.self, value: ["id": 100, "fax": "not committed"])
            return Unchecked(realm)
        }
        let plan = try await Realm.migrationPlan(for: configuration)
        #expect(plan.needsHigherVersion && plan.oldSchemaVersion == 1 && plan.newSchemaVersion == 1)
        #expect(plan.removed.first?.valueCount == 4)
        #expect(plan.description.contains("It needs a higher `schemaVersion` than 1."))
        queue.sync {
            realm.value.cancelWrite()
            realm.value.close()
        }
        #expect(try file.isUnchanged)
    }

    private struct Unchecked: @unchecked Sendable {
        let value: Realm
        init(_ value: Realm) { self.value = value }
    }

    /// Counts the flushes that are asked for.
    private final class CountingDevice: ForwardingDevice {
        let base: any StorageDevice
        private let flushes: Counter

        init(_ base: any StorageDevice, _ flushes: Counter) {
            self.base = base
            self.flushes = flushes
        }

        func synchronize() throws(StorageError) {
            flushes.increment()
            try base.synchronize()
        }
    }

    @Test func `a plan beside an opening that migrates the file says what it is until that is durable`() async throws {
        let gate = GatedDevice.Control()
        let flushes = Counter()
        let plain = file.configuration(Losing.Smaller.self, version: 2)
        let closed = Journal<Int>()
        var configuration = file.configuration(Losing.Smaller.self, version: 2) { _, _ in
            gate.close()
            closed.add(flushes.value)
        }
        configuration.durability = .flushed
        configuration.makeDevice = { CountingDevice(GatedDevice($0, gate), flushes) }
        let before = try await Realm.migrationPlan(for: plain)
        #expect(before.oldSchemaVersion == 1 && before.removed.count == 5)
        let opening = Task { [configuration] in
            try await withUnsafeThrowingContinuation { continuation in
                Thread.detachNewThread {
                    continuation.resume(with: Swift.Result { try withNewRealm(configuration) { _ in } })
                }
            }
        }
        // The commit of the migration is written, and waits for the device.
        let count = await closed.wait(for: 1)[0]
        #expect(await eventually { flushes.value > count })
        let beside = try await Realm.migrationPlan(for: plain)
        #expect(beside.oldSchemaVersion == 1)
        #expect(summary(beside.changes) == summary(before.changes))
        gate.open()
        try await opening.value
        let after = try await Realm.migrationPlan(for: plain)
        #expect(after.oldSchemaVersion == 2 && after.isEmpty)
    }

    @Test func `behind the highest version there is a plan as well`() async throws {
        final class Old: Object {
            override class func _realmObjectName() -> String? { "Thing" }
            override class func shouldIncludeInDefaultSchema() -> Bool { false }
            @Persisted var a: String
        }
        final class New: Object {
            override class func _realmObjectName() -> String? { "Thing" }
            override class func shouldIncludeInDefaultSchema() -> Bool { false }
            @Persisted var b: Int
        }
        let file = TestFile()
        var configuration = file.fast
        configuration.schemaVersion = .max
        configuration.objectTypes = [Old.self]
        try withNewRealm(configuration) { _ in }
        configuration.objectTypes = [New.self]
        let plan = try await Realm.migrationPlan(for: configuration)
        #expect(plan.needsHigherVersion && plan.changes.count == 2)
    }

    @Test func `a file that fits has nothing to do, and a file that is not there is an error`() async throws {
        var configuration = file.configuration(Losing.Before.self, version: 1)
        let plan = try await Realm.migrationPlan(for: configuration)
        #expect(plan.isEmpty && plan.changes.isEmpty && plan.estimatedDuration == .zero)
        #expect(plan.description == "Migration from version 1 to 1: nothing to do.")
        configuration.schemaVersion = 2
        #expect(try await Realm.migrationPlan(for: configuration).isEmpty == false)
        configuration.schemaVersion = 0
        await #expect(throws: Realm.Error(.schemaMismatch, fileURL: file.url)) {
            try await Realm.migrationPlan(for: configuration)
        }
        configuration.fileURL = URL(fileURLWithPath: directory.path("nothing.realm"))
        await #expect(throws: Realm.Error(.fileNotFound, fileURL: configuration.fileURL)) {
            try await Realm.migrationPlan(for: configuration)
        }
        #expect(!FileManager.default.fileExists(atPath: directory.path("nothing.realm")))
    }

    @Test func `classes that the file does not have are added`() async throws {
        var configuration = file.configuration(Losing.Before.self, version: 2)
        configuration.objectTypes = [Losing.Before.self, NewTag.self]
        let plan = try await Realm.migrationPlan(for: configuration)
        #expect(summary(plan.changes) == ["Tag added - 0/0"])
        #expect(plan.objectCount == 0)
        #expect(plan.description.contains("- class 'Tag' is added"))
    }

    @Test func `what a plan counts is what opening then says it has dropped`() async throws {
        let journal = MigrationJournal()
        let configuration = file.configuration(Losing.Smaller.self, version: 2, journal)
        let plan = try await Realm.migrationPlan(for: configuration)
        try withNewRealm(configuration) { _ in }
        #expect(plan.removed.count == 5)
        for change in plan.removed {
            #expect(
                journal.lines(.warn)
                    .contains {
                        $0.contains("migration.property: \(change.propertyName ?? "")")
                            && $0.contains("migration.lost: \(change.valueCount)")
                    }
            )
        }
    }
}
