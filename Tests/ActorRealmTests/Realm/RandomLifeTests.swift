import Foundation
import RealmTestSupport
import Synchronization
import Testing

@testable import ActorRealm

/// What was written for good, as a plain program has it.
private final class Record: Sendable {
    private let names = Mutex<Set<String>>([])

    var kept: Set<String> { names.withLock { $0 } }
    func keep(_ name: String) { names.withLock { _ = $0.insert(name) } }
}

/// An actor with writes that wait, open transactions, tokens and iterators, which goes away at any point.
private actor Mayfly {
    var realm: Realm!
    private var transaction: Realm.AsyncTransaction?
    private var tokens: [NotificationToken] = []
    private let record: Record

    init(_ configuration: Realm.Configuration, _ record: Record) async throws {
        self.record = record
        realm = try await Realm(configuration: configuration, actor: self)
    }

    private func make(_ name: String) { realm.create(Tally.self, value: ["name": name, "count": 1]) }

    /// Asks for a write of callback form; once its block has run, it is for good.
    func ask(_ name: String) {
        let (realm, record) = (realm!, record)
        realm.writeAsync {
            realm.create(Tally.self, value: ["name": name, "count": 1])
            record.keep(name)
        }
    }

    /// Asks for one that commits itself, or not at all.
    func askToBegin(_ name: String, commits: Bool) {
        let (realm, record) = (realm!, record)
        realm.beginAsyncWrite {
            realm.create(Tally.self, value: ["name": name, "count": 1])
            guard commits else { return }
            record.keep(name)
            realm.commitAsyncWrite()
        }
    }

    func askAndCancel(_ name: String) {
        let id = realm.writeAsync { Issue.record("It was cancelled.") }
        try? realm.cancelAsyncWrite(id)
    }

    func write(_ name: String) async throws {
        try await realm.asyncWrite { make(name) }
        record.keep(name)
    }

    func writeBlocking(_ name: String) throws {
        try realm.write(timeout: .seconds(1_800)) { make(name) }
        record.keep(name)
    }

    /// Begins a transaction and leaves it open.
    func begin(_ name: String) async throws {
        guard transaction == nil else { return }
        let begun = try await realm.beginAsyncWrite()
        if transaction != nil { return begun.cancel() }
        transaction = begun
        make(name)
    }

    func end(commits: String?) async throws {
        guard let ending = transaction else { return }
        transaction = nil
        if let name = commits {
            record.keep(name)
            try await ending.commit()
        } else {
            ending.cancel()
        }
    }

    func observe() -> NotificationToken {
        let token = realm.objects(Tally.self).observe { _ in }
        tokens.append(token)
        return realm.observe { _, _ in }
    }

    /// Iterates until it is cancelled.
    func iterate() async -> Int {
        var count = 0
        for await _ in realm.objects(Tally.self).changes() { count += 1 }
        return count
    }
}

@Suite("The life and death of actors that write and observe", .timeLimit(.minutes(60)))
struct RandomLifeTests {
    @Test("whatever an actor leaves behind, everybody else goes on, and what was committed is there")
    func random() async throws {
        let environment = ProcessInfo.processInfo.environment
        let seed = environment["REALM_LIFE_SEED"].flatMap(UInt64.init) ?? UInt64.random(in: 0..<(1 << 40))
        let rounds = environment["REALM_LIFE_ROUNDS"].flatMap(UInt64.init) ?? 40
        var cases = 0
        for round in seed..<seed + rounds {
            var random = SplitMix64(seed: round)
            func pick(_ count: Int) -> Int { Int(random.next() % UInt64(count)) }
            let file = TestFile()
            let configuration = round.isMultiple(of: 3) ? file.configuration : file.fast
            let record = Record()
            let survivor = try await Mayfly(configuration, record)
            var tokens: [NotificationToken] = []
            var iterations: [Task<Int, Never>] = []
            var graves: [@Sendable () -> Bool] = []
            for life in 0..<3 {
                var fly: Mayfly? = try await Mayfly(configuration, record)
                weak let gone = fly
                graves.append { gone == nil }
                var opened: String?
                for step in 0..<6 {
                    let name = "\(life) \(step)"
                    cases += 1
                    // Who has a transaction open must not wait behind it, nor begin to observe in it.
                    let action = opened == nil ? pick(10) : [0, 1, 2, 3, 5, 6][pick(6)]
                    switch action {
                    case 0: await fly!.ask(name)
                    case 1: await fly!.askToBegin(name, commits: true)
                    case 2: await fly!.askToBegin(name, commits: false)
                    case 3: await fly!.askAndCancel(name)
                    case 4: tokens.append(await fly!.observe())
                    case 5:
                        let iterating = fly!
                        let iteration = Task { await iterating.iterate() }
                        // An iteration keeps its actor alive: it is cancelled before that is to go.
                        iterations.append(iteration)
                    case 6:
                        if let name = opened {
                            try await fly!.end(commits: pick(2) == 0 ? name : nil)
                            opened = nil
                        }
                    case 7: try await fly!.write(name)
                    case 8: try await fly!.writeBlocking(name)
                    default:
                        try await fly!.begin(name)
                        opened = name
                    }
                }
                if pick(2) == 0 { await survivor.ask("survivor \(life)") }
                for iteration in iterations { iteration.cancel() }
                for iteration in iterations { _ = await iteration.value }
                iterations = []
                fly = nil
                try await survivor.write("behind \(life)")
            }
            for grave in graves { #expect(await eventually { grave() }, "REALM_LIFE_SEED=\(round)") }
            try await survivor.write("last")
            let names = try withNewRealm(configuration) { Set($0.objects(Tally.self).map(\.name)) }
            let kept = record.kept
            #expect(names == kept, "REALM_LIFE_SEED=\(round): \(names.symmetricDifference(kept))")
            for token in tokens { token.invalidate() }
        }
        CampaignRecord.add("life and death", seeds: seed..<seed + rounds, cases: cases, violations: 0)
    }
}
