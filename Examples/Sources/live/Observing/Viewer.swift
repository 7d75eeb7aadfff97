import ActorRealm
import AsyncAlgorithms
import ExampleSupport
import Synchronization

/// The actor behind one connection that follows the list: it has a realm of its own and sends what its observer is
/// told.
///
/// Nothing is buffered for a slow client. The loop over the changes waits until the connection has taken an event; what
/// is committed meanwhile comes as one change, computed when it is asked for.
actor Viewer {
    /// The actors of this kind that exist, to show that none outlives its connection.
    static let existing = Atomic<Int>(0)

    /// What the connection sends, one event at a time.
    nonisolated let events = AsyncChannel<[UInt8]>()

    private let heartbeat: Duration
    private var realm: Realm!
    /// How many events the connection took.
    private var taken = 0

    /// A client that takes nothing for so many heartbeats is let go of: its observer would hold on to a version.
    private static let patience = 4

    init(configuration: Realm.Configuration, heartbeat: Duration) async throws {
        self.heartbeat = heartbeat
        Viewer.existing.add(1, ordering: .relaxed)
        // From here on `self` is whole, and its deinitializer runs even if opening throws.
        realm = try await Realm(configuration: configuration, actor: self)
    }

    deinit {
        Viewer.existing.subtract(1, ordering: .relaxed)
    }

    /// Sends changes until the task is cancelled, because the connection is gone or the server stops, or until the
    /// client takes nothing any more; then closes the realm.
    func run() async {
        await withTaskGroup { group in
            group.addTask { await self.follow() }
            group.addTask { await self.beat() }
            group.addTask { await self.watch() }
            await group.next()
            group.cancelAll()
        }
        events.finish()
        realm.close()
    }

    private func follow() async {
        await send(ServerSentEvent.beginning)
        // The loop runs on this actor, so the changes hold live objects of this actor's realm.
        for await change in Todo.list(in: realm).changes() {
            do {
                try await send(ListEvent.bytes(for: change))
            } catch {
                // The file cannot be read. The client comes back, and gets the whole list when there is one again.
                return Console.error("live: a view ends: \(error)")
            }
        }
    }

    private func beat() async {
        while (try? await Task.sleep(for: heartbeat)) != nil {
            await send(ServerSentEvent.heartbeat)
        }
    }

    private func watch() async {
        var known = taken
        var misses = 0
        while misses < Viewer.patience {
            do { try await Task.sleep(for: heartbeat) } catch { return }
            misses = taken == known ? misses + 1 : 0
            known = taken
        }
        Console.error("live: a client takes nothing, and is let go of")
    }

    /// Waits until the connection takes the bytes, or the task is cancelled.
    private func send(_ bytes: [UInt8]) async {
        await events.send(bytes)
        taken += 1
    }
}
