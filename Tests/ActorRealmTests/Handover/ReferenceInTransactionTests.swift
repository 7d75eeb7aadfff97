import ActorRealm
import Foundation
import RealmTestSupport
import Testing

/// References that are made in the write block that creates what they refer to.
@Suite("References made in a write transaction", .timeLimit(.minutes(60)))
struct ReferenceInTransactionTests {
    let file = TestFile()

    private actor Place {
        private var realm: Realm!

        init(_ configuration: Realm.Configuration) async throws {
            realm = try await Realm(configuration: configuration)
        }

        /// Creates an object and passes on references that were made in the same block.
        func make(_ name: String) async throws -> (
            ThreadSafeReference<Tally>, ThreadSafe<Tally>, ThreadSafeReference<Results<Tally>>
        ) {
            try await realm.asyncWrite {
                let tally = Tally(name: name)
                realm.add(tally)
                let found = realm.objects(Tally.self).where { $0.name == name }
                return (
                    ThreadSafeReference(to: tally), ThreadSafe(wrappedValue: tally), ThreadSafeReference(to: found)
                )
            }
        }

        func count(_ name: String) async throws {
            try await realm.asyncWrite { realm.create(Tally.self, value: ["name": name], update: .all).count += 1 }
        }

        func names(
            _ made: (ThreadSafeReference<Tally>, ThreadSafe<Tally>, ThreadSafeReference<Results<Tally>>)
        ) -> [String?] {
            [realm.resolve(made.0)?.name, made.1.wrappedValue?.name, realm.resolve(made.2)?.first?.name]
        }
    }

    @Test("lead to the object after the commit, while other commits are in flight")
    func resolved() async throws {
        let configuration = file.configuration
        let maker = try await Place(configuration)
        let taker = try await Place(configuration)
        let busy = Task {
            let other = try await Place(configuration)
            while !Task.isCancelled { try await other.count("other") }
        }
        for round in 0..<100 {
            let made = try await maker.make("\(round)")
            #expect(await taker.names(made) == Array(repeating: "\(round)", count: 3))
        }
        busy.cancel()
        _ = await busy.result
    }

    @MainActor
    @Test("lead to nil before the commit and after a rollback, whatever is created then")
    func rolledBack() async throws {
        let realm = try await Realm(configuration: file.fast)
        realm.beginWrite()
        let tally = Tally(name: "gone")
        realm.add(tally)
        let reference = ThreadSafeReference(to: tally)
        let early = ThreadSafeReference(to: tally)
        let wrapper = ThreadSafe(wrappedValue: tally)
        let other = try await Place(file.fast)
        #expect(
            await other.names((early, wrapper, ThreadSafeReference(to: realm.objects(Tally.self)))) == [nil, nil, nil]
        )
        realm.cancelWrite()
        try realm.write { realm.add(Tally(name: "new")) }
        #expect(realm.resolve(reference) == nil && wrapper.wrappedValue == nil)
    }
}
