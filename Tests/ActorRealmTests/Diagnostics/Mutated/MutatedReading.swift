import ActorRealm
import Foundation

/// Reads everything that objects of a class hold, in the forms that throw.
struct MutatedReading<Root: ObjectBase> {
    private let reads: [(Root) throws -> Void]

    init(_ reads: [(Root) throws -> Void]) { self.reads = reads }

    /// Reads each property, so that damage in one does not keep the others from being read, and throws the first error.
    func callAsFunction(_ object: Root) throws {
        var failure: (any Error)?
        func attempt(_ body: () throws -> Void) {
            do { try body() } catch { failure = failure ?? error }
        }
        attempt { try object.requireReadable() }
        for read in reads { attempt { try read(object) } }
        _ = object.isInvalidated
        _ = object.description
        if let failure { throw failure }
    }

    static func value<Value: _Persistable>(_ path: KeyPath<Root, Value>) -> (Root) throws -> Void {
        { _ = try $0.value(of: path) }
    }

    static func elements<Collection: RealmCollection & _Persistable>(
        _ path: KeyPath<Root, Collection>,
        _ body: @escaping (Collection.Element) throws -> Void = { _ in }
    ) -> (Root) throws -> Void {
        { object in
            let collection = try object.value(of: path)
            try collection.requireReadable()
            guard let first = collection.first, let last = collection.last else { return }
            _ = collection.index(of: first)
            _ = collection[collection.count - 1]
            for element in collection { try body(element) }
            try body(last)
        }
    }

    static func entries<Value: RealmCollectionValue>(
        _ path: KeyPath<Root, Map<String, Value>>,
        _ body: @escaping (Value) throws -> Void = { _ in }
    ) -> (Root) throws -> Void where Map<String, Value>: _Persistable {
        { object in
            let map = try object.value(of: path)
            try map.requireReadable()
            guard let name = map.keys.last, let value = map[name] else { return }
            try body(value)
            for entry in map { try body(entry.value) }
            _ = map.count + map.values.count
        }
    }
}

extension Mutated {
    private typealias OfOwner = MutatedReading<Owner>
    private typealias OfNote = MutatedReading<Note>

    static func read(_ part: Part) throws {
        typealias OfPart = MutatedReading<Part>
        try MutatedReading([
            OfPart.value(\.text), OfPart.value(\.size), OfPart.elements(\.inner), OfPart.elements(\.owners),
        ])(part)
    }

    static var owners: MutatedReading<Owner> {
        MutatedReading([
            OfOwner.value(\.id), OfOwner.value(\.name), OfOwner.value(\.mail), OfOwner.value(\.born),
            OfOwner.value(\.mood), OfOwner.value(\.isActive), OfOwner.value(\.own),
            { if let part = try $0.value(of: \.home) { try read(part) } },
            OfOwner.elements(\.parts, read), OfOwner.entries(\.drawers) { if let part = $0 { try read(part) } },
            { if let friend = try $0.value(of: \.friend) { _ = try friend.value(of: \.friend?.friend?.name) } },
            OfOwner.elements(\.friends) { _ = try $0.value(of: \.mood) }, OfOwner.elements(\.notes),
            OfOwner.entries(\.named), OfOwner.entries(\.required), OfOwner.elements(\.admirers),
            OfOwner.elements(\.listed) { _ = try $0.value(of: \.name) },
        ])
    }

    static var notes: MutatedReading<Note> {
        MutatedReading([
            OfNote.value(\.text), OfNote.value(\.photo), OfNote.value(\.cost), OfNote.value(\.mark),
            OfNote.value(\.object), OfNote.value(\.weight), OfNote.value(\.height), OfNote.value(\.small),
            OfNote.elements(\.words), OfNote.elements(\.numbers), OfNote.entries(\.places), OfNote.elements(\.sizes),
            OfNote.value(\.anything), OfNote.elements(\.everything), OfNote.elements(\.owners),
        ])
    }

    static var ticks: MutatedReading<Tick> {
        MutatedReading([MutatedReading<Tick>.value(\.number), MutatedReading<Tick>.value(\.label)])
    }

    static var keys: MutatedReading<Key> {
        MutatedReading([MutatedReading<Key>.value(\.key), MutatedReading<Key>.value(\.size)])
    }
}
