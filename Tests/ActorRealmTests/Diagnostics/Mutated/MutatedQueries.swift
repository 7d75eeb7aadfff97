import ActorRealm
import Foundation

/// Queries, orders, sections and aggregates of a file from a stranger.
struct MutatedQueries {
    private let realm: Realm

    init(_ realm: Realm) { self.realm = realm }

    /// Asks everything, and throws the first error behind all of it.
    func run() throws {
        var failure: (any Error)?
        func attempt(_ body: () throws -> Void) {
            do { try body() } catch { failure = failure ?? error }
        }
        attempt {
            try realm.requireReadable(Mutated.Owner.self)
            for results in try owners(realm.objects(Mutated.Owner.self)) { attempt { try read(results) } }
        }
        attempt {
            try realm.requireReadable(Mutated.Note.self)
            for results in notes(realm.objects(Mutated.Note.self)) { attempt { try read(results) } }
        }
        attempt {
            try realm.requireReadable(Mutated.Tick.self)
            let ticks = realm.objects(Mutated.Tick.self)
            for results in [
                ticks.where { $0.number == 77 }, ticks.where { $0.number > 1_000 && $0.label < "tick 5" },
                ticks.where { $0.label == "tick 88" }, ticks.where { $0.label.starts(with: "tick 10") },
                ticks.sorted(by: \.label).limit(40), ticks.where { $0.number.in([1, 500, 1_099, -1]) },
            ] { attempt { try read(results) } }
        }
        attempt {
            try realm.requireReadable(Mutated.Key.self)
            let keys = realm.objects(Mutated.Key.self)
            let long = String(repeating: "k", count: 300) + "3"
            for results in [keys.where { $0.key == "kkk4" }, keys.where { $0.key == long }, keys.sorted(by: \.key)] {
                attempt { try read(results) }
            }
        }
        attempt { try aggregate() }
        attempt { try section() }
        if let failure { throw failure }
    }

    private func owners(_ all: Results<Mutated.Owner>) throws -> [Results<Mutated.Owner>] {
        [
            all.where { $0.id == 12 }, all.where { $0.name == "name 3" }, all.where { $0.name > "name 2" },
            all.where { $0.mail == "mail 9" }, all.where { $0.mail == nil }, all.where { $0.born < Date() },
            all.where { $0.friend.name == "name 1" }, all.where { $0.friends.count > 2 },
            all.where { $0.friends.name == "name 4" }, all.where { $0.mood == .grumpy && $0.born == nil },
            all.where { $0.home.text == "home" }, all.where { $0.parts.text == "part 1" },
            all.where { $0.isActive == true },
            try all.filter(RealmPredicate(parsing: "admirers.@count > 1 AND ANY listed.name BEGINSWITH 'name'")),
            try all.filter(RealmPredicate(parsing: "SUBQUERY(friends, $f, $f.id > 5).@count > 0")),
            try all.filter(RealmPredicate(parsing: "own.text CONTAINS 'text' OR ANY notes.text CONTAINS '3'")),
            all.sorted(by: \.name), all.sorted(by: \.born, ascending: false).limit(5),
            all.distinct(by: [\.name]), all.where { $0.name != "x" }.sorted(by: \.mail),
        ]
    }

    private func notes(_ all: Results<Mutated.Note>) -> [Results<Mutated.Note>] {
        [
            all.where { $0.cost > 10 }, all.where { $0.object == ObjectId() }, all.where { $0.small == 7 },
            all.where { $0.words.contains("a word 3") }, all.where { $0.numbers.sum > 3 },
            all.where { $0.places["place 1"] == 1 }, all.where { $0.sizes.contains(11) },
            all.where { $0.anything == .string("any") }, all.where { $0.text.contains("7") }, all.sorted(by: \.mark),
            all.sorted(by: \.small), all.where { $0.owners.count > 0 },
        ]
    }

    private func read<Element: Object>(_ results: Results<Element>) throws {
        try results.requireReadable()
        let count = results.count
        if let first = results.first {
            _ = results.index(of: first)
            _ = results[count - 1]
        }
        for object in results { try object.requireReadable() }
        _ = results.description
    }

    private func aggregate() throws {
        try realm.requireReadable(Mutated.Owner.self)
        let owners = realm.objects(Mutated.Owner.self)
        try owners.requireReadable(\.id, \.born)
        _ = owners.sum(of: \.id) &+ (owners.max(of: \.id) ?? 0)
        _ = owners.min(of: \.born)
        try realm.requireReadable(Mutated.Note.self)
        let notes = realm.objects(Mutated.Note.self)
        try notes.requireReadable(\.height, \.cost, \.weight)
        _ = (notes.average(of: \.height) ?? 0) as Double
        _ = notes.sum(of: \.cost)
        _ = notes.max(of: \.weight)
    }

    private func section() throws {
        try realm.requireReadable(Mutated.Owner.self)
        let sections = realm.objects(Mutated.Owner.self).sectioned(by: \.name)
        try sections.requireReadable()
        for section in sections {
            try section.requireReadable()
            _ = section.key
            for owner in section { try owner.requireReadable() }
        }
    }
}
