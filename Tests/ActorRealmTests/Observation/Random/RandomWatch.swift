import RealmTestSupport
import Testing

@testable import ActorRealm

/// Iterates over the changes of one collection, where it is.
class RandomWatch {
    func next() async -> ToldChange? { nil }
}

/// Of a list, a set, results or linking objects.
final class TypedWatch<Collection: RealmCollection>: RandomWatch {
    private var iterator: CollectionChanges<Collection>.Iterator
    private let text: (Any?) -> String

    init(_ changes: CollectionChanges<Collection>, _ text: @escaping (Any?) -> String) {
        iterator = changes.makeAsyncIterator()
        self.text = text
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
            for element in collection { told.texts.append(text(element)) }
        }
        return told
    }
}

/// Of a map.
final class MapWatch<Value: RealmCollectionValue>: RandomWatch {
    private var iterator: MapChanges<String, Value>.Iterator
    private let text: (Any?) -> String

    init(_ changes: MapChanges<String, Value>, _ text: @escaping (Any?) -> String) {
        iterator = changes.makeAsyncIterator()
        self.text = text
    }

    override func next() async -> ToldChange? {
        guard let change = await iterator.next() else { return nil }
        var told = ToldChange()
        switch change {
        case .initial: told.isInitial = true
        case .update(_, let deletions, let insertions, let modifications):
            told.names = .init(
                deletions: deletions.map { PlainText($0) },
                insertions: insertions.map { PlainText($0) },
                modifications: modifications.map { PlainText($0) }
            )
        case .error(let error): told.failure = "\(error)"
        }
        if let map = change.collection, !map.isInvalidated {
            told.version = map.realm?.core.version
            for (key, value) in map {
                told.keys.append(PlainText(key))
                told.texts.append(text(value))
            }
        }
        return told
    }
}

/// Where changes are iterated over.
protocol RandomWatcher: Sendable {
    /// Begins to iterate, under a number.
    func begin(_ number: Int, _ changes: PlainChanges) async
    func next(_ number: Int) async -> ToldChange?
}

/// An actor with a realm of its own.
actor ActingWatcher: RandomWatcher {
    private var watches: [Int: RandomWatch] = [:]

    func begin(_ number: Int, _ changes: PlainChanges) { watches[number] = changes.begin() }

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

    func begin(_ number: Int, _ changes: PlainChanges) async { watch = changes.begin() }

    @concurrent
    func next(_ number: Int) async -> ToldChange? { await watch?.next() }
}
