import ActorRealm
import Foundation

/// How a write is made.
enum WriteKind: CaseIterable, Sendable {
    case asynchronous, limited, twoSteps, blocking
    /// `writeAsync`, every other time with a block that begins the commit itself.
    case callback
    /// `beginWrite`, and `commitAsyncWrite` for its end.
    case handedOver

    /// Whether the thread is blocked until it is this write's turn.
    var blocks: Bool { self == .blocking || self == .handedOver }
}

/// An actor of the storm, with a realm of its own.
protocol Writer: Actor {
    /// What it writes with; set before its first write.
    var desk: Desk? { get set }
    /// Whether its writes may block its thread.
    static var mayBlock: Bool { get }
}

/// An actor of Swift's pool, whose threads nothing may block.
actor PoolWriter: Writer {
    static let mayBlock = false
    var desk: Desk?
}

/// An actor on a queue, which has threads of its own.
actor QueueWriter: Writer {
    static let mayBlock = true
    var desk: Desk?
    private let executor = QueueExecutor("storm")

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
}

/// What an actor of the storm writes with.
final class Desk {
    let realm: Realm
    let number: Int
    let ledger: Ledger

    init(_ realm: Realm, _ number: Int, _ ledger: Ledger) {
        self.realm = realm
        self.number = number
        self.ledger = ledger
        realm.autorefresh = false
    }
}

extension Writer {
    /// Opens the actor's realm.
    func open(_ number: Int, _ configuration: Realm.Configuration, _ ledger: Ledger) async throws {
        desk = Desk(try await Realm(configuration: configuration, actor: self), number, ledger)
    }

    /// Writes one entry; throws when it is not written.
    func write(_ id: Int, _ kind: WriteKind) async throws {
        guard let desk else { preconditionFailure("open the realm first") }
        let (realm, ledger) = (desk.realm, desk.ledger)
        if kind.blocks { ledger.block(desk.number) }
        defer { if kind == .blocking { ledger.unblock(desk.number) } }
        let stamp = ledger.stamp()
        let began = ContinuousClock.now
        switch kind {
        case .asynchronous:
            try await realm.asyncWrite { put(id, kind, stamp) }
        case .limited:
            try await realm.asyncWrite(timeout: .milliseconds(Int.random(in: 1...5_000))) { put(id, kind, stamp) }
        case .twoSteps:
            let transaction = try await realm.beginAsyncWrite()
            put(id, kind, stamp)
            await Task.yield()
            precondition(realm.isInWriteTransaction, "the transaction was lost in between")
            try await transaction.commit()
        case .blocking:
            try PoolSampler.whileBlocking { try realm.write { put(id, kind, stamp) } }
        case .callback:
            try await completion { done in
                realm.writeAsync {
                    self.put(id, kind, stamp)
                    if id.isMultiple(of: 2) { realm.commitAsyncWrite() }
                } onComplete: {
                    done($0)
                }
            }
        case .handedOver:
            do {
                defer { ledger.unblock(desk.number) }
                try PoolSampler.whileBlocking { try realm.beginWriteTransaction() }
                put(id, kind, stamp)
            }
            try await completion { realm.commitAsyncWrite($0) }
        }
        ledger.wrote(id, after: ContinuousClock.now - began)
    }

    /// Waits for what a write of callback form says at its end.
    private func completion(of write: (_ done: @escaping ((any Error)?) -> Void) -> Void) async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            write { error in
                if let error { continuation.resume(throwing: error) } else { continuation.resume() }
            }
        }
    }

    private func put(_ id: Int, _ kind: WriteKind, _ stamp: Ledger.Stamp) {
        guard let desk else { preconditionFailure("open the realm first") }
        desk.ledger.began(stamp, of: desk.number, isBlocking: kind.blocks)
        precondition(desk.realm.object(ofType: Entry.self, forPrimaryKey: id) == nil, "entry \(id) was written twice")
        desk.realm.create(Entry.self, value: ["id": id, "writer": desk.number] as [String: Any])
        desk.realm.object(ofType: Total.self, forPrimaryKey: 0)!.count += 1
    }
}
