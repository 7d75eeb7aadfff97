import ActorRealm
import ExampleSupport
import Foundation
import Synchronization

/// The three ways to hear of changes: a sequence on the actor that iterates it, and blocks on an actor of one's choice for
/// a collection and for an object.
@MainActor
final class Watch {
    /// What was heard, written by the background actor and read by the main actor.
    private final class Journal: Sendable {
        private let lines = Mutex<[String]>([])
        private let size = Mutex<Int?>(nil)

        func note(_ line: String, collectionCount: Int? = nil) {
            lines.withLock { $0.append(line) }
            if let collectionCount { size.withLock { $0 = collectionCount } }
        }

        var all: [String] { lines.withLock { $0 } }
        var collectionCount: Int? { size.withLock { $0 } }
    }

    private let journal = Journal()
    private var tokens: [NotificationToken] = []
    private var following: Task<Void, Never>?
    private var followedCount: Int?

    init(configuration: Realm.Configuration, todoNamed name: String) async throws {
        let realm = try await Realm(configuration: configuration)
        await realm.asyncRefresh()
        let todos = realm.objects(Todo.self)
        let journal = journal

        // The block runs on the background actor with a collection of that actor's own realm.
        tokens.append(
            await todos.observe(on: BackgroundActor.shared) { _, change in
                switch change {
                case .initial(let todos):
                    journal.note("collection: begins with \(todos.count)", collectionCount: todos.count)
                case .update(let todos, let deletions, let insertions, let modifications):
                    journal.note(
                        "collection: \(deletions.count) deleted, \(insertions.count) inserted, "
                            + "\(modifications.count) modified",
                        collectionCount: todos.count
                    )
                case .error(let error):
                    journal.note("collection: \(error)")
                }
            }
        )

        if let todo = todos.where({ $0.name == name }).first {
            tokens.append(
                await todo.observe(on: BackgroundActor.shared) { (_, change: ObjectChange<Todo>) in
                    switch change {
                    case .change(_, let properties):
                        for property in properties {
                            journal.note("object: \(property.name) became \(property.newValue ?? "nil")")
                        }
                    case .deleted:
                        journal.note("object: deleted")
                    case .error(let error):
                        journal.note("object: \(error)")
                    }
                }
            )
        }

        // The iterating actor is the actor whose objects the changes hold: here the main actor.
        following = Task { [weak self] in
            for await change in todos.changes() {
                switch change {
                case .initial(let todos): self?.followedCount = todos.count
                case .update(let todos, _, _, _): self?.followedCount = todos.count
                case .error(let error): journal.note("sequence: \(error)")
                }
            }
        }
    }

    /// Waits until all have heard of the last change, and prints what they heard.
    func finish(expectedCount: Int) async throws {
        let deadline = ContinuousClock.now + .seconds(240)
        while ContinuousClock.now < deadline {
            let heardOfDeletion = journal.all.contains("object: deleted")
            if heardOfDeletion, journal.collectionCount == expectedCount, followedCount == expectedCount { break }
            try await Task.sleep(for: .milliseconds(2))
        }
        following?.cancel()
        await following?.value
        for token in tokens { token.invalidate() }
        for line in journal.all { Console.line("   \(line)") }
        guard journal.collectionCount == expectedCount, followedCount == expectedCount else {
            throw Silence(
                description: "\(expectedCount) todos are left, the observer knows of "
                    + "\(journal.collectionCount ?? 0), the sequence of \(followedCount ?? 0)."
            )
        }
        Console.line("   the sequence on the main actor ends with \(expectedCount)")
    }

    /// An observer was not told of the last change.
    struct Silence: Error, CustomStringConvertible {
        var description: String
    }
}
