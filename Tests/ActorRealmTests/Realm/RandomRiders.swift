import ActorRealm
import RealmTestSupport

class Rider: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted(indexed: true) var name = ""
    @Persisted var age = 0
    @Persisted(indexed: true) var nick: String?
    @Persisted var tags: List<String>
    @Persisted var marks: MutableSet<Int>
    @Persisted var notes: Map<String, Int>
    @Persisted var friend: Rider?
    @Persisted var friends: List<Rider>
    @Persisted var stable: RiderStable?
    @Persisted(originProperty: "friend") var followers: LinkingObjects<Rider>
}

class RiderStable: EmbeddedObject {
    @Persisted var street = ""
    @Persisted var size = 0
}

/// What a `Rider` is in plain Swift.
struct PlainRider: Equatable, Sendable {
    var name = ""
    var age = 0
    var nick: String?
    var tags: [String] = []
    var marks: Set<Int> = []
    var notes: [String: Int] = [:]
    var friend: Int?
    var friends: [Int] = []
    var street: String?
    var size = 0
}

/// The riders of a realm in plain Swift, by their ids, and what may be done to both.
struct PlainRiders: Equatable, Sendable {
    var riders: [Int: PlainRider] = [:]

    /// What the objects of a realm hold.
    init(_ realm: Realm) {
        for rider in realm.objects(Rider.self) {
            riders[rider.id] = PlainRider(
                name: rider.name,
                age: rider.age,
                nick: rider.nick,
                tags: Array(rider.tags),
                marks: Set(rider.marks),
                notes: Dictionary(uniqueKeysWithValues: rider.notes.map { ($0.key, $0.value) }),
                friend: rider.friend?.id,
                friends: rider.friends.map(\.id),
                street: rider.stable?.street,
                size: rider.stable?.size ?? 0
            )
        }
    }

    init() {}

    mutating func delete(_ id: Int) {
        riders[id] = nil
        for other in riders.keys {
            if riders[other]?.friend == id { riders[other]?.friend = nil }
            riders[other]?.friends.removeAll { $0 == id }
        }
    }

    /// Does one thing at random to the realm and to the plain riders.
    mutating func step(in realm: Realm, _ random: inout SplitMix64) {
        let some = riders.keys.sorted().randomElement(using: &random)
        let other = riders.keys.sorted().randomElement(using: &random)
        let number = Int.random(in: 0..<50, using: &random)
        let text = ["", "a", "Åsa", "b\u{301}", "a long name that does not fit into a word", "c"]
            .randomElement(using: &random)!
        guard let id = some, let rider = realm.object(ofType: Rider.self, forPrimaryKey: id), var plain = riders[id]
        else {
            return add(number, text, in: realm)
        }
        switch Int.random(in: 0..<26, using: &random) {
        case 0...3: return add(number, text, in: realm)
        case 4: return addUnmanaged(number, text, linkingTo: rider, id, in: realm)
        case 5: return createNested(number, text, policy: Bool.random(using: &random) ? .modified : .all, in: realm)
        case 6, 7:
            realm.delete(rider)
            return delete(id)
        case 8:
            let doomed = realm.objects(Rider.self).where { $0.age == number }
            let ids = doomed.map { $0.id }
            let found = Array(ids)
            realm.delete(doomed)
            for id in found { delete(id) }
            return
        case 9: (rider.name, plain.name) = (text, text)
        case 10: (rider.age, plain.age) = (number, number)
        case 11: (rider.nick, plain.nick) = (text, text)
        case 12: (rider.nick, plain.nick) = (nil, nil)
        case 13:
            rider.tags.append(text)
            plain.tags.append(text)
        case 14:
            rider.tags.insert(text, at: plain.tags.count / 2)
            plain.tags.insert(text, at: plain.tags.count / 2)
        case 15 where !plain.tags.isEmpty:
            rider.tags.remove(at: number % plain.tags.count)
            plain.tags.remove(at: number % plain.tags.count)
        case 16:
            rider.marks.insert(number % 9)
            plain.marks.insert(number % 9)
        case 17:
            rider.marks.remove(number % 9)
            plain.marks.remove(number % 9)
        case 18:
            rider.notes[text.isEmpty ? "k" : text] = number
            plain.notes[text.isEmpty ? "k" : text] = number
        case 19:
            rider.notes[text.isEmpty ? "k" : text] = nil
            plain.notes[text.isEmpty ? "k" : text] = nil
        case 20:
            rider.friend = other.flatMap { realm.object(ofType: Rider.self, forPrimaryKey: $0) }
            plain.friend = other
        case 21:
            guard let other, let friend = realm.object(ofType: Rider.self, forPrimaryKey: other) else { return }
            rider.friends.append(friend)
            plain.friends.append(other)
        case 22 where plain.friends.count > 1:
            let (from, to) = (number % plain.friends.count, (number + 1) % plain.friends.count)
            rider.friends.move(from: from, to: to)
            plain.friends.insert(plain.friends.remove(at: from), at: to)
        case 23:
            let stable = RiderStable()
            (stable.street, stable.size) = (text, number)
            rider.stable = stable
            (plain.street, plain.size) = (text, number)
        case 24:
            rider.stable = nil
            (plain.street, plain.size) = (nil, 0)
        default:
            guard plain.street != nil else { return }
            rider.stable?.size = number
            plain.size = number
        }
        riders[id] = plain
    }

    private mutating func add(_ id: Int, _ name: String, in realm: Realm) {
        if riders[id] == nil {
            let rider = Rider()
            (rider.id, rider.name) = (id, name)
            realm.add(rider)
            riders[id] = PlainRider(name: name)
        } else {
            realm.create(Rider.self, value: ["id": id, "name": name], update: .modified)
            riders[id]?.name = name
        }
    }

    /// Adds a graph of two new riders, of which one leads to a managed one.
    private mutating func addUnmanaged(
        _ number: Int,
        _ name: String,
        linkingTo rider: Rider,
        _ id: Int,
        in realm: Realm
    ) {
        let (first, second) = (100 + number, 200 + number)
        guard riders[first] == nil, riders[second] == nil else { return }
        let one = Rider()
        (one.id, one.name) = (first, name)
        let two = Rider()
        (two.id, two.age, two.friend) = (second, number, one)
        one.friend = two
        one.friends.append(objectsIn: [rider, two, rider])
        one.tags.append(name)
        realm.add(one)
        riders[first] = PlainRider(name: name, tags: [name], friend: second, friends: [id, second, id])
        riders[second] = PlainRider(age: number, friend: first)
    }

    /// Creates or updates a rider with a friend in it.
    private mutating func createNested(_ number: Int, _ name: String, policy: Realm.UpdatePolicy, in realm: Realm) {
        let friend = 300 + number
        let value: [String: Any] = [
            "id": number, "age": number, "tags": [name, name], "marks": [number % 9], "notes": ["n": number],
            "friend": ["id": friend, "name": name] as [String: Any], "stable": ["street": name] as [String: Any],
        ]
        realm.create(Rider.self, value: value, update: policy)
        var plain = riders[number] ?? PlainRider()
        (plain.age, plain.tags, plain.marks, plain.notes) = (number, [name, name], [number % 9], ["n": number])
        plain.friend = friend
        // An embedded object is updated where only differences are written, and made anew otherwise.
        if plain.street == nil || policy == .all { plain.size = 0 }
        plain.street = name
        riders[number] = plain
        riders[friend, default: PlainRider()].name = name
    }
}
