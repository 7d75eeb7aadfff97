import ActorRealm
import Foundation
import RealmTestSupport
import Synchronization

class Chore: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var name = ""
    @Persisted var isDone = false
    @Persisted var priority = 0
    @Persisted var owner: ChoreOwner?
    @Persisted var tags: List<String>
}

class ChoreOwner: Object {
    @Persisted var name = ""
    @Persisted var tasks: List<Chore>
    @Persisted(originProperty: "owner") var owned: LinkingObjects<Chore>
}

/// A file of its own per test.
struct ObservedFile {
    let directory = TemporaryDirectory()

    var configuration: Realm.Configuration {
        var configuration = Realm.Configuration(fileURL: directory.url.appendingPathComponent("observed.realm"))
        configuration.objectTypes = [Chore.self, ChoreOwner.self]
        return configuration
    }
}

/// What an observer was told, without objects, in order.
enum Told: Equatable, Sendable {
    case initial([String])
    case update([String], deletions: [Int], insertions: [Int], modifications: [Int])
    case error
}

extension RealmCollectionChange where CollectionType: Collection, CollectionType.Element == Chore {
    var told: Told {
        switch self {
        case .initial(let tasks): .initial(tasks.map(\.name))
        case .update(let tasks, let deletions, let insertions, let modifications):
            .update(tasks.map(\.name), deletions: deletions, insertions: insertions, modifications: modifications)
        case .error: .error
        }
    }
}

/// Something that several isolations add to, and a test waits for.
final class Journal<Entry: Sendable>: Sendable {
    private let state = Mutex<[Entry]>([])

    var entries: [Entry] { state.withLock { $0 } }

    func add(_ entry: Entry) { state.withLock { $0.append(entry) } }

    /// Waits until there are so many entries, for as long as the test may take.
    func wait(for count: Int) async -> [Entry] {
        _ = await eventually { entries.count >= count }
        return entries
    }

    /// What is there when every block on these actors knows what was committed by now.
    func settled(_ workers: Worker...) async -> [Entry] {
        for worker in workers { await worker.isTold() }
        return entries
    }
}

/// Waits until something is so; false when the time limit of the test has passed before.
func eventually(
    isolation: isolated (any Actor)? = #isolation,
    _ condition: () async throws -> Bool
) async rethrows -> Bool {
    while try await !condition() {
        try? await Task.sleep(for: .milliseconds(5))
        // Without a call between them Swift 6.3.1 calls a closure behind an `await` where that ended, not on the actor.
        if Task.isCancelled { return false }
    }
    return true
}

/// An actor that writes and observes.
actor Worker {
    var realm: Realm!

    init(_ configuration: Realm.Configuration) async throws {
        realm = try await Realm(configuration: configuration, actor: self)
    }

    @discardableResult
    func add(_ id: Int, _ name: String, isDone: Bool = false, priority: Int = 0) async throws -> Int64 {
        try await realm.asyncWrite {
            let task = realm.create(
                Chore.self,
                value: ["id": id, "name": name, "isDone": isDone, "priority": priority]
            )
            return ObjectReference(to: task).key
        }
    }

    func rename(_ id: Int, _ name: String) async throws {
        try await realm.asyncWrite { realm.object(ofType: Chore.self, forPrimaryKey: id)?.name = name }
    }

    func delete(_ id: Int) async throws {
        try await realm.asyncWrite {
            if let task = realm.object(ofType: Chore.self, forPrimaryKey: id) { realm.delete(task) }
        }
    }

    func deleteAll() async throws {
        try await realm.asyncWrite { realm.deleteAll() }
    }

    func changes() -> CollectionChanges<Results<Chore>> {
        realm.objects(Chore.self).changes()
    }

    func changes(ofTask id: Int, keyPaths: [String]? = nil) -> ObjectChanges<Chore>? {
        realm.object(ofType: Chore.self, forPrimaryKey: id)?.changes(keyPaths: keyPaths)
    }

    /// Runs something with the realm on the actor.
    func with<Result: Sendable>(_ body: @Sendable (isolated Worker, Realm) async throws -> Result) async rethrows
        -> Result
    {
        try await body(self, realm)
    }

    /// Waits until every block that observes on this actor knows what was committed by now.
    func isTold() async { await realm.asyncRefresh() }

    func close() {
        realm.close()
        realm = nil
    }

    func reopen(_ configuration: Realm.Configuration) async throws {
        realm = try await Realm(configuration: configuration, actor: self)
    }
}
