import Foundation
import RealmStorage
import RealmTestSupport
import Testing

@testable import ActorRealm

class CopiedEntry: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted(indexed: true) var title: String
}

/// Transactions that are copied with `writeCopy`, and go on.
@Suite("Transactions that are copied and go on", .timeLimit(.minutes(60)))
struct CopiedTransactionTests {
    let file = TestFile()

    actor Writer {
        private var realm: Realm!

        init(_ configuration: Realm.Configuration) async throws {
            realm = try await Realm(configuration: configuration, actor: self)
        }

        private func add(_ names: Range<Int>) {
            for name in names { realm.create(Tally.self, value: ["name": "\(name)", "count": name] as [String: Any]) }
        }

        func write(_ names: Range<Int>) async throws { try await realm.asyncWrite { add(names) } }

        func copyAndGoOn(_ names: Range<Int>, _ more: Range<Int>, to url: URL) async throws {
            let transaction = try await realm.beginAsyncWrite()
            add(names)
            try realm.writeCopy(toFile: url)
            for name in names { realm.object(ofType: Tally.self, forPrimaryKey: "\(name)")?.count = -name }
            add(more)
            try await transaction.commit()
        }

        var preparedCount: Int { realm.core.coordinator.writes.preparedCount }
        var isFlushing: Bool { realm.core.coordinator.writes.state.withLock { $0.publishing != nil } }

        func counts() async throws -> [String: Int] {
            await realm.asyncRefresh()
            try realm.verify()
            return Dictionary(uniqueKeysWithValues: realm.objects(Tally.self).map { ($0.name, $0.count) })
        }
    }

    @Test("What a transaction writes behind its copy is there beside what is sealed together with it")
    func goingOn() async throws {
        let gate = GatedDevice.Control()
        var configuration = file.configuration
        configuration.makeDevice = { GatedDevice($0, gate) }
        let writers = [
            try await Writer(configuration), try await Writer(configuration), try await Writer(configuration),
        ]
        try await writers[0].write(0..<300)
        // The device is busy, so that commits wait to be sealed together.
        gate.close()
        async let first: Void = writers[0].write(300..<310)
        while await !writers[0].isFlushing { await Task.yield() }
        let copy = URL(fileURLWithPath: file.directory.path("copy.realm"))
        async let second: Void = writers[1].copyAndGoOn(400..<420, 500..<900, to: copy)
        while await writers[0].preparedCount < 1 { await Task.yield() }
        async let third: Void = writers[2].write(1_000..<1_010)
        while await writers[0].preparedCount < 2 { await Task.yield() }
        gate.open()
        _ = try await (first, second, third)
        var expected: [String: Int] = [:]
        for name in [0..<310, 500..<900, 1_000..<1_010].joined() { expected["\(name)"] = name }
        for name in 400..<420 { expected["\(name)"] = -name }
        for writer in writers { #expect(try await writer.counts() == expected) }
    }

    /// Makes a realm with objects, and copies transactions of it, of whose steps another one fails each time, until none does.
    ///
    /// - Parameters:
    ///   - count: The objects: more than one cluster.
    ///   - change: What each transaction changes.
    ///   - check: What must hold behind its copy; it ends the transaction.
    /// - Throws: What one of them throws.
    private static func failCopies(
        ofRealmWith count: Int,
        change: (Realm) throws -> Void,
        check: (Realm, _ step: Int) throws -> Void
    ) throws {
        let file = TestFile()
        let failures = StepFailures()
        var configuration = file.fast
        configuration.objectTypes = [CopiedEntry.self]
        configuration.failures = failures
        try withNewRealm(configuration) { realm in
            func add(_ ids: Range<Int>) {
                for id in ids { realm.create(CopiedEntry.self, value: ["id": id, "title": "t\(id)"] as [String: Any]) }
            }
            try realm.write { add(0..<count) }
            for step in 0... {
                realm.beginWrite()
                try change(realm)
                realm.core.coordinator.file.doubtEveryPage()
                failures.arm(after: step)
                try? realm.writeCopy(toFile: URL(fileURLWithPath: file.directory.path("copy\(step).realm")))
                let failed = failures.outcome.failed
                failures.arm(after: nil)
                try check(realm, step)
                #expect(realm.objects(CopiedEntry.self).count == count, "step \(step)")
                if failed == nil { break }
            }
            try realm.verify()
        }
    }

    @Test("A transaction whose copy fails at any step can still be read and written, and is committed whole or refused")
    func failingCopies() async {
        await #expect(processExitsWith: .success) {
            try CopiedTransactionTests.failCopies(ofRealmWith: 2_500) { realm in
                for id in 10_000..<10_050 {
                    realm.create(CopiedEntry.self, value: ["id": id, "title": "new \(id)"] as [String: Any])
                }
            } check: { realm, step in
                let entries = realm.objects(CopiedEntry.self)
                #expect(entries.count == 2_550 && entries[2_000].title == "t2000", "step \(step)")
                realm.create(CopiedEntry.self, value: ["id": 20_000, "title": "after"] as [String: Any])
                if step % 2 == 0 {
                    realm.cancelWrite()
                } else if (try? realm.commitWrite()) != nil {
                    #expect(entries.count == 2_551, "step \(step)")
                    try realm.verify()
                    try realm.write { realm.delete(entries.where { $0.id >= 10_000 }) }
                }
            }
        }
    }

    @Test(
        "A transaction that has deleted objects has those that are left, as they are, when its copy fails at any step"
    )
    func failingCopiesBehindDeletions() async {
        await #expect(processExitsWith: .success) {
            // Deletions leave a cluster that is not joined with its neighbour.
            let left = (0..<1_500).filter { $0 >= 900 || $0 % 3 > 0 }
            try CopiedTransactionTests.failCopies(ofRealmWith: 1_500) { realm in
                let doomed = (0..<300).compactMap { realm.object(ofType: CopiedEntry.self, forPrimaryKey: $0 * 3) }
                realm.delete(doomed)
            } check: { realm, step in
                let entries = realm.objects(CopiedEntry.self)
                let ids = Array(entries.map(\.id))
                #expect(ids == left, "step \(step)")
                let titles = Array(entries.map(\.title))
                #expect(titles == left.map { "t\($0)" }, "step \(step)")
                realm.cancelWrite()
            }
        }
    }
}
