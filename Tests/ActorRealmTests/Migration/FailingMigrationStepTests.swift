import Foundation
import RealmStorage
import RealmTestSupport
import Testing

@testable import ActorRealm

/// Every step of an opening that migrates is made to fail, one after the other.
///
/// After each failure the file is as before, or migrated: an opening may throw though what it did is durable. Trying again succeeds.
@Suite("Steps that fail under a migration", .timeLimit(.minutes(60)))
struct FailingMigrationStepTests {
    @Test(
        "A failure at any step of a migration leaves the old file or the new one, and trying again succeeds, with a log and without one",
        arguments: [false, true]
    )
    func everyStep(keepsLog: Bool) async throws {
        var failed = FailedSteps()
        let rounds = FailingStepCampaign.rounds(unlessSaid: 1)
        let seeds = FailingStepCampaign.seeds
        for seed in seeds {
            let subject = FailingMigrationSubject(seed: seed, keepsLog: keepsLog)
            do { try await subject.go(rounds: rounds) } catch {
                Issue.record("seed \(seed): \(error)")
                throw error
            }
            failed.add(await subject.failed)
        }
        FailingStepCampaign.report(
            """
            migrations\(keepsLog ? " with a log" : ""): seeds \(seeds.lowerBound) to \(seeds.upperBound - 1), \(rounds) rounds each
            \(failed.summary(compared: "content, schema version, whole file, who has it open"))
            """
        )
        for shape in FailingMigrationSubject.Shape.allCases { #expect(failed.contains("to \(shape)"), "\(shape)") }
    }
}

/// A file whose class goes round through three shapes.
private actor FailingMigrationSubject {
    class Crate: Object {
        override class func _realmObjectName() -> String? { "FailingCrate" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
    }

    class NumberedCrate: Crate {
        @Persisted(primaryKey: true) var id: Int
        @Persisted var content: Int
    }

    /// Another type of a property, an index and a list.
    class NamedCrate: Crate {
        @Persisted(primaryKey: true) var id: Int
        @Persisted(indexed: true) var content: String
        @Persisted var tags: List<String>
    }

    /// Another primary key.
    class KeyedCrate: Crate {
        @Persisted var id: Int
        @Persisted(primaryKey: true) var content: String
    }

    enum Shape: Int, CaseIterable, CustomStringConvertible {
        case numbered, named, keyed

        var type: Crate.Type {
            switch self {
            case .numbered: NumberedCrate.self
            case .named: NamedCrate.self
            case .keyed: KeyedCrate.self
            }
        }

        var next: Shape { Shape(rawValue: (rawValue + 1) % Self.allCases.count)! }

        var description: String {
            switch self {
            case .numbered: "numbers"
            case .named: "names"
            case .keyed: "keys"
            }
        }
    }

    private let file = RealmFileInUse()
    private let failures = StepFailures()
    private let seed: UInt64
    private let keepsLog: Bool
    private var random: SplitMix64
    private var realm: Realm!
    private var shape = Shape.numbered
    private var version: UInt64 = 0
    /// What is durable.
    private var expected: [Int: Int] = [:]
    private(set) var failed = FailedSteps()

    init(seed: UInt64, keepsLog: Bool) {
        self.seed = seed
        self.keepsLog = keepsLog
        random = SplitMix64(seed: seed)
    }

    func go(rounds: Int) async throws {
        try await open(shape, version)
        for round in 0..<rounds {
            for _ in Shape.allCases { try await everyFailureOfMigrating("round \(round) of seed \(seed)") }
        }
        close()
    }

    /// Goes on to the next shape once for each step, and back to it by way of the others in between.
    private func everyFailureOfMigrating(_ when: String) async throws {
        let target = shape.next
        for number in 0... {
            let when = "failure \(number) of migrating to \(target) in \(when)"
            try await write()
            close()
            try await file.isLeft("before \(when)")
            failures.arm(after: number)
            var thrown: (any Error)?
            do { try await open(target, version + 1) } catch { thrown = error }
            let outcome = failures.outcome.failed
            failures.arm(after: nil)
            if let outcome { failed.add("\(outcome)", number: number, of: "to \(target)") }
            if let thrown {
                if outcome == nil { throw thrown }
                try await file.isLeft("by \(when)")
                try await checkFailed(target, when)
                try await open(target, version + 1)
            }
            (shape, version) = (target, version + 1)
            try await check(when)
            if outcome == nil { return }
            while shape.next != target { try await migrate() }
        }
    }

    /// The next shape, with nothing that fails.
    private func migrate() async throws {
        close()
        try await open(shape.next, version + 1)
        (shape, version) = (shape.next, version + 1)
    }

    /// Looks at a file whose migration has thrown: it has the shape of before or that of afterwards, whole.
    private func checkFailed(_ target: Shape, _ when: String) async throws {
        do {
            try await open(shape, version)
        } catch Realm.Error.schemaMismatch {
            try await open(target, version + 1)
        }
        try await check(when)
        close()
        try await file.isLeft("after \(when)")
    }

    private func check(_ when: String) async throws {
        failed.comparisons += 1
        try #require(content == expected, "\(when)")
        try realm.verify()
        #expect(!realm.isInWriteTransaction, "\(when)")
        try await file.until("one version is in use after \(when)") {
            realm.core.coordinator.file.pinnedVersionCount == 1
        }
    }

    // MARK: Pieces

    private func configuration(_ shape: Shape, _ version: UInt64) -> Realm.Configuration {
        var configuration = file.configuration
        configuration.objectTypes = [shape.type]
        configuration.schemaVersion = version
        configuration.failures = failures
        configuration.keepsLog = keepsLog
        // What is done behind the last commit would take a step at some moment.
        configuration.adjustLog = { $0.clock = nil }
        configuration.migrationBlock = { migration, _ in
            migration.enumerateObjects(ofType: "FailingCrate") { old, new in
                switch shape {
                case .numbered: new?["content"] = Int(old?["content"] as? String ?? "") ?? -1
                case .named: new?["content"] = "\(old?["content"] as? Int ?? -1)"
                case .keyed: break
                }
            }
        }
        return configuration
    }

    private func open(_ shape: Shape, _ version: UInt64) async throws {
        realm = try await Realm(configuration: configuration(shape, version), actor: self)
    }

    private func close() {
        realm?.close()
        realm = nil
    }

    private var content: [Int: Int] {
        let crates = realm.dynamicObjects("FailingCrate")
        return Dictionary(
            uniqueKeysWithValues: crates.map { crate in
                let value = (crate["content"] as? Int) ?? Int(crate["content"] as? String ?? "") ?? -1
                return (crate["id"] as? Int ?? -1, value)
            }
        )
    }

    /// Adds an object, or removes one; no two have the same content, which is a key at times.
    private func write() async throws {
        let id = Int(random.next() % 60)
        let content = id * 1_000 + Int(random.next() % 1_000)
        let crates = realm.dynamicObjects("FailingCrate").filter("id = \(id)")
        let isThere = !crates.isEmpty
        let shape = shape
        try await realm.asyncWrite {
            if isThere { realm.delete(crates) }
            if random.next() % 4 > 0 {
                let stored: Any = shape == .numbered ? content : "\(content)"
                realm.dynamicCreate("FailingCrate", value: ["id": id, "content": stored] as [String: Any])
                expected[id] = content
            } else {
                expected[id] = nil
            }
        }
    }
}
