package import ActorRealm
import Foundation
import RealmTestSupport

/// What is looked at.
package final class Witness: Object {
    @Persisted var number: Int
}

/// Live objects are taken to places of all kinds, right after they were used where they belong, and the check that every access
/// makes is asked there for its verdict.
package struct MisuseTrials: Sendable {
    /// A live object that is taken where it does not belong, as only unchecked code can.
    private struct Leak: @unchecked Sendable {
        let realm: Realm
        let object: Witness
    }

    private struct Owner: Sendable {
        let place: any Place
        let leak: Leak
        /// The context that it stands for: places with the same one may use each other's objects.
        let context: Int
    }

    /// How often the check was asked, and was wrong.
    package struct Outcome: Sendable {
        package var foreignVerdicts = 0
        /// Uses from elsewhere that would have gone on.
        package var passed = 0
        package var ownVerdicts = 0
        /// Uses where the object belongs that would have ended the process.
        package var refused = 0
    }

    private let owners: [Owner]
    /// Where objects are taken, with the contexts; nil for places that are never the same twice.
    private let visitors: [(place: any Place, context: Int?)]

    package init(_ configuration: Realm.Configuration) async throws {
        var places: [(any Place, Int)] = (0..<6).map { (DefaultActor(), $0) }
        for context in 10..<12 {
            let executor = QueueExecutor()
            places += [(GuestActor(executor), context), (GuestActor(executor), context)]
        }
        places.append((GlobalPlace(), 20))
        places += [(MainPlace(), 21), (MainQueuePlace(), 21)]
        places += (30..<33).map { (QueuePlace(), $0) }
        places += (40..<42).map { (ThreadPlace(), $0) }
        var owners: [Owner] = []
        for (place, context) in places {
            owners.append(Owner(place: place, leak: try await Self.leak(from: place, configuration), context: context))
        }
        visitors = places.map { ($0, $1) } + [(PoolPlace(), nil), (WorkerPlace(), nil)]
        for context in 50..<52 {
            let leak = try await Self.leak(from: PoolPlace(), configuration)
            owners.append(Owner(place: PoolPlace(), leak: leak, context: context))
        }
        self.owners = owners
    }

    private static func leak(from place: any Place, _ configuration: Realm.Configuration) async throws -> Leak {
        let result = await place.run {
            Swift.Result {
                let realm = try place.open(configuration)
                let object = try realm.write { realm.create(Witness.self, value: ["number": 7]) }
                return Leak(realm: realm, object: object)
            }
        }
        return try result.get()
    }

    /// Asks so many times, in several tasks at once.
    package func run(verdicts: Int, seed: UInt64) async -> Outcome {
        await withTaskGroup(of: Outcome.self) { group in
            let tasks = 4
            for task in 0..<tasks {
                group.addTask { await run(verdicts: verdicts / tasks, random: SplitMix64(seed: seed &+ UInt64(task))) }
            }
            return await group.reduce(into: Outcome()) { sum, part in
                sum.foreignVerdicts += part.foreignVerdicts
                sum.passed += part.passed
                sum.ownVerdicts += part.ownVerdicts
                sum.refused += part.refused
            }
        }
    }

    private func run(verdicts: Int, random: SplitMix64) async -> Outcome {
        var random = random
        var outcome = Outcome()
        while outcome.foreignVerdicts < verdicts {
            let (owner, visitor) = pick(&random)
            let leak = owner.leak
            let isPassing = owner.context >= 50
            if !isPassing {
                // The last proof comes from where the object belongs.
                outcome.ownVerdicts += 1
                if await !owner.place.run({ leak.object.wouldAdmitCaller && leak.object.number == 7 }) {
                    outcome.refused += 1
                }
            }
            let isAdmitted = await visitor.place.run { leak.object.wouldAdmitCaller }
            if visitor.context == owner.context {
                outcome.ownVerdicts += 1
                if !isAdmitted { outcome.refused += 1 }
            } else {
                outcome.foreignVerdicts += 1
                if isAdmitted { outcome.passed += 1 }
            }
        }
        return outcome
    }

    private func pick(_ random: inout SplitMix64) -> (Owner, (place: any Place, context: Int?)) {
        (
            owners[Int.random(in: 0..<owners.count, using: &random)],
            visitors[Int.random(in: 0..<visitors.count, using: &random)]
        )
    }

    /// Uses an object from elsewhere, which ends the process; returns when it did not.
    package func misuse(seed: UInt64) async {
        var random = SplitMix64(seed: seed)
        while true {
            let (owner, visitor) = pick(&random)
            if visitor.context == owner.context { continue }
            let leak = owner.leak
            if owner.context < 50 { _ = await owner.place.run { leak.object.number } }
            let kind = Int.random(in: 0..<4, using: &random)
            return await visitor.place.run {
                switch kind {
                case 0: _ = leak.object.number
                case 1: _ = leak.realm.objects(Witness.self).count
                case 2: for object in leak.realm.objects(Witness.self) { _ = object }
                default: leak.object.number = 8
                }
            }
        }
    }
}
