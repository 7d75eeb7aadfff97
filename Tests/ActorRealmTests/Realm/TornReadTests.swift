import ActorRealm
import Foundation
import RealmTestSupport
import Testing

private class TornAccount: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var balance: Int
}

/// Reads beside a writer see one version or another, and never a mixture.
///
/// `REALM_SUM_READS` sets the number of sums (default 3,000).
@Suite struct TornReadTests {
    let directory = TemporaryDirectory()

    private actor Bank {
        var realm: Realm!

        init(_ configuration: Realm.Configuration) async throws {
            realm = try await Realm(configuration: configuration, actor: self)
        }

        func open(_ count: Int) async throws {
            try await realm.asyncWrite { realm in
                for id in 0..<count { realm.create(TornAccount.self, value: ["id": id, "balance": 1000]) }
            }
        }

        func transfer(_ random: inout SplitMix64, count: Int) async throws {
            let from = Int.random(in: 0..<count, using: &random)
            let to = Int.random(in: 0..<count, using: &random)
            let amount = Int.random(in: 1...50, using: &random)
            try await realm.asyncWrite { realm in
                realm.object(ofType: TornAccount.self, forPrimaryKey: from)!.balance -= amount
                realm.object(ofType: TornAccount.self, forPrimaryKey: to)!.balance += amount
            }
        }

        /// Sums on the columns and over objects in turn; the number of versions seen.
        func sum(_ count: Int, expected: Int) -> (versions: Int, wrong: Int) {
            var versions: Set<UInt64> = []
            var wrong = 0
            let accounts = realm.objects(TornAccount.self)
            for round in 0..<count {
                realm.refresh()
                versions.insert(realm.version)
                let total: Int =
                    round % 16 == 0 ? accounts.reduce(0) { $0 + $1.balance } : accounts.sum(of: \.balance)
                if total != expected { wrong += 1 }
            }
            return (versions.count, wrong)
        }
    }

    @Test func `a snapshot read beside a writer always sums to the same total`() async throws {
        let reads = Int(ProcessInfo.processInfo.environment["REALM_SUM_READS"] ?? "") ?? 3000
        var configuration = Realm.Configuration(
            fileURL: URL(fileURLWithPath: directory.path("bank.realm")),
            objectTypes: [TornAccount.self]
        )
        configuration.durability = .unflushed
        let writer = try await Bank(configuration)
        let reader = try await Bank(configuration)
        try await writer.open(100)
        let writing = Task {
            var random = SplitMix64(seed: 77)
            var commits = 0
            while !Task.isCancelled {
                try await writer.transfer(&random, count: 100)
                commits += 1
            }
            return commits
        }
        var versions = 0
        var wrong = 0
        var done = 0
        while done < reads {
            let part = await reader.sum(1000, expected: 100_000)
            versions += part.versions
            wrong += part.wrong
            done += 1000
        }
        writing.cancel()
        let commits = (try? await writing.value) ?? 0
        print("sums: \(done), of which wrong \(wrong), over \(versions) versions; commits beside them: \(commits)")
        #expect(wrong == 0)
        #expect(versions > 1)
    }
}
