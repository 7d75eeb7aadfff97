import Foundation
import RealmModel
import RealmTestSupport
import Testing

@testable import ActorRealm
@testable import RealmStorage

/// Indexes and rules that were to go with a commit whose process is killed before anybody knows of it.
@Suite("Rules whose withdrawal is killed", .timeLimit(.minutes(60)))
struct KilledWithdrawalTests {
    let directory = TemporaryDirectory()

    private var path: String { directory.path("ruled.realm") }

    /// When the process is killed that drops the rules: behind the first of the two copies of its header, behind both, or behind their
    /// flush.
    enum Moment: String, CaseIterable {
        case firstCopy, bothCopies, flush
    }

    private final class KillingDevice: ForwardingDevice {
        let base: any StorageDevice
        private let moment: Moment
        // One commit is brought to the file at a time.
        private nonisolated(unsafe) var hasContent = false
        private nonisolated(unsafe) var hasHeader = false

        init(_ base: any StorageDevice, _ moment: Moment) {
            self.base = base
            self.moment = moment
        }

        func write(_ pieces: [(UnsafeRawPointer, Int)], at offset: Int) throws(StorageError) {
            guard offset < FileHeader.slotPageCount * pageByteCount else {
                hasContent = true
                return try base.write(pieces, at: offset)
            }
            if hasContent, moment == .firstCopy {
                try base.write([(pieces[0].0, pageByteCount)], at: offset)
                kill(getpid(), SIGKILL)
            }
            try base.write(pieces, at: offset)
            hasHeader = hasContent
            if hasHeader, moment == .bothCopies { kill(getpid(), SIGKILL) }
        }

        func synchronize() throws(StorageError) {
            try base.synchronize()
            if moment == .flush, hasHeader { kill(getpid(), SIGKILL) }
        }
    }

    private static func configuration(_ path: String, _ type: ObjectBase.Type) -> Realm.Configuration {
        var configuration = OutdatedRealmTests.configuration(path, [type], version: 1)
        configuration.durability = .flushed
        return configuration
    }

    /// Has a process drop the rules that nobody declares, and die of it.
    private func dropRules(_ moment: Moment) async {
        await #expect(processExitsWith: .signal(SIGKILL)) {
            [path = path as String, moment = moment.rawValue as String] in
            var configuration = Self.configuration(path, Rules.Plain.self)
            let moment = try #require(Moment(rawValue: moment))
            configuration.makeDevice = { KillingDevice($0, moment) }
            try withNewRealm(configuration) { _ in }
        }
    }

    /// The versions that the slots of the header hold.
    private var slotVersions: [UInt64] {
        get throws {
            let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
            return try bytes.withUnsafeBytes { bytes in
                try HeaderRecovery.slots(in: #require(bytes.baseAddress), path: path).compactMap { $0?.version }
            }
        }
    }

    private func expectRules(_ strict: Program) async throws {
        try await strict.write { realm in
            realm.create(WithdrawnRuleTests.Strict.self, value: ["id": 2, "n": 8, "text": "two"])
        }
        let error = await #expect(throws: Realm.Error.self) {
            try await strict.write { realm in
                _ = try realm.insert(WithdrawnRuleTests.Strict.self, value: ["id": 3, "n": 8, "text": "one"])
            }
        }
        #expect(error?.code == .duplicateValue)
        let found = await strict.perform { realm in
            realm.objects(WithdrawnRuleTests.Strict.self).filter("n == 8").map(\.id) as [Int]
        }
        #expect(found == [2])
    }

    private func create() throws {
        try withNewRealm(Self.configuration(path, WithdrawnRuleTests.Strict.self)) { realm in
            try realm.write {
                _ = realm.create(WithdrawnRuleTests.Strict.self, value: ["id": 1, "n": 7, "text": "one"])
            }
        }
    }

    private func verify() throws {
        let snapshot = try StorageFile.open(path: path).beginRead()
        let stored = try SchemaReconciler.storedSchema(of: snapshot)?["Ruled"]
        #expect(stored?["text"]?.isUnique == true && stored?["n"]?.isIndexed == true)
        #expect(stored?.compoundIndexes.first?.isUnique == true)
        try FileVerifier.verify(snapshot)
    }

    @Test("Beside others they have never gone, and stay", .secondProcess, arguments: Moment.allCases)
    func besideOthers(moment: Moment) async throws {
        try create()
        let beside = try await Program(Self.configuration(path, WithdrawnRuleTests.Beside.self))
        let version = await beside.perform { $0.core.coordinator.file.newestVersion }
        await dropRules(moment)
        #expect(await beside.perform { $0.core.coordinator.file.newestVersion } == version)
        #expect(try slotVersions.max() == version + 1)
        // It waits for nobody, and finds what the one that was killed wanted to drop.
        let strict = try await Program(Self.configuration(path, WithdrawnRuleTests.Strict.self))
        #expect(await strict.perform { $0.core.coordinator.file.newestVersion } == version)
        try await expectRules(strict)
        await #expect(processExitsWith: .success) { [path = path as String] in
            try withNewRealm(Self.configuration(path, WithdrawnRuleTests.Strict.self)) { realm in
                #expect(realm.objects(WithdrawnRuleTests.Strict.self).count == 2)
                #expect(throws: Realm.Error.self) {
                    try realm.write {
                        _ = try realm.insert(WithdrawnRuleTests.Strict.self, value: ["id": 4, "n": 8, "text": "two"])
                    }
                }
            }
        }
        try verify()
        withExtendedLifetime((beside, strict)) {}
    }

    @Test(
        "Where nobody else has the file open, the next opening adds those again that it declares",
        .secondProcess,
        arguments: Moment.allCases
    )
    func alone(moment: Moment) async throws {
        try create()
        let version = try #require(try slotVersions.max())
        await dropRules(moment)
        #expect(try slotVersions.max() == version + 1)
        let strict = try await Program(Self.configuration(path, WithdrawnRuleTests.Strict.self))
        try await expectRules(strict)
        try verify()
    }
}
