import RealmTestSupport
import Testing

@testable import ActorRealm

/// Iterates over the changes of one collection, where it is.
class RandomWatch {
    func next() async -> ToldChange? { nil }

    static func make(_ changes: PlainCollection.Changes, _ type: Int, _ classes: [PlainClass]) -> RandomWatch {
        switch changes {
        case .results(let changes): TypedWatch(changes, type, classes)
        case .list(let changes): TypedWatch(changes, type, classes)
        case .backlinks(let changes): TypedWatch(changes, type, classes)
        }
    }
}

private final class TypedWatch<Collection: RealmCollection>: RandomWatch where Collection.Element == DynamicObject {
    private var iterator: CollectionChanges<Collection>.Iterator
    private let type: Int
    private let classes: [PlainClass]

    init(_ changes: CollectionChanges<Collection>, _ type: Int, _ classes: [PlainClass]) {
        iterator = changes.makeAsyncIterator()
        self.type = type
        self.classes = classes
    }

    override func next() async -> ToldChange? {
        guard let change = await iterator.next() else { return nil }
        var told = ToldChange()
        switch change {
        case .initial: told.isInitial = true
        case .update(_, let deletions, let insertions, let modifications):
            told.deletions = deletions
            told.insertions = insertions
            told.modifications = modifications
            told.modificationsNew = change.modificationsNew
            told.moves = change.moves
        case .error(let error): told.failure = "\(error)"
        }
        if let collection = change.collection, !collection.isInvalidated {
            told.version = collection.realm?.core.version
            for object in collection {
                told.ids.append(object["id"] as? Int ?? -1)
                told.texts.append(PlainWorld.text(object, type, classes, depth: 2))
            }
        }
        return told
    }
}

/// Where changes are iterated over.
protocol RandomWatcher: Sendable {
    /// Begins to iterate, under a number.
    func begin(_ number: Int, _ changes: PlainCollection.Changes, _ type: Int, _ classes: [PlainClass]) async
    func next(_ number: Int) async -> ToldChange?
}

/// An actor with a realm of its own.
actor ActingWatcher: RandomWatcher {
    private var watches: [Int: RandomWatch] = [:]

    func begin(_ number: Int, _ changes: PlainCollection.Changes, _ type: Int, _ classes: [PlainClass]) {
        watches[number] = RandomWatch.make(changes, type, classes)
    }

    func next(_ number: Int) async -> ToldChange? {
        guard let watch = watches[number] else { return nil }
        return await watch.next()
    }
}

/// No actor: what is told is frozen.
///
/// Unchecked because a test asks for one change of a number after the other.
final class FreeWatcher: RandomWatcher, @unchecked Sendable {
    private var watch: RandomWatch?

    func begin(_ number: Int, _ changes: PlainCollection.Changes, _ type: Int, _ classes: [PlainClass]) async {
        watch = RandomWatch.make(changes, type, classes)
    }

    @concurrent
    func next(_ number: Int) async -> ToldChange? { await watch?.next() }
}
