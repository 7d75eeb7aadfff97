import ActorRealm
import Foundation

/// One actor of the storm, with a realm of its own.
actor Writer {
    /// How a write is made.
    enum Kind: CaseIterable, Sendable {
        case asynchronous, limited, twoSteps, blocking
    }

    private var realm: Realm!
    private let number: Int
    private let ledger: Ledger
    /// Whether no write of this actor ever blocks its thread: then its writes must come in their order.
    let isPure: Bool

    init(_ number: Int, isPure: Bool, _ configuration: Realm.Configuration, _ ledger: Ledger) async throws {
        self.number = number
        self.isPure = isPure
        self.ledger = ledger
        realm = try await Realm(configuration: configuration, actor: self)
        realm.autorefresh = false
    }

    /// Writes one entry; throws when it is not written.
    func write(_ id: Int, _ kind: Kind) async throws {
        let stamp = isPure ? ledger.stamp() : nil
        defer { if let stamp { ledger.forget(stamp) } }
        let began = ContinuousClock.now
        switch kind {
        case .asynchronous:
            try await realm.asyncWrite { put(id, stamp) }
        case .limited:
            try await realm.asyncWrite(timeout: .milliseconds(Int.random(in: 1...5_000))) { put(id, stamp) }
        case .twoSteps:
            let transaction = try await realm.beginAsyncWrite()
            put(id, stamp)
            await Task.yield()
            precondition(realm.isInWriteTransaction, "the transaction was lost in between")
            try await transaction.commit()
        case .blocking:
            try PoolSampler.whileBlocking { try realm.write { put(id, stamp) } }
        }
        ledger.wrote(id, after: ContinuousClock.now - began)
    }

    private func put(_ id: Int, _ stamp: Int?) {
        if let stamp { ledger.began(stamp) }
        precondition(realm.object(ofType: Entry.self, forPrimaryKey: id) == nil, "entry \(id) was written twice")
        realm.create(Entry.self, value: ["id": id, "writer": number] as [String: Any])
        realm.object(ofType: Total.self, forPrimaryKey: 0)!.count += 1
    }
}
