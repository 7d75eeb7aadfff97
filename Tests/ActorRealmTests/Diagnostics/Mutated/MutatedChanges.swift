import ActorRealm
import Foundation

/// Changes of a file from a stranger, each within an open transaction, in the forms that throw or that the commit answers for.
struct MutatedChanges {
    private let realm: Realm

    init(_ realm: Realm) { self.realm = realm }

    /// The objects of a class, read anew.
    private func all<Root: Object>(_ type: Root.Type, by step: Int = 1) throws -> [Root] {
        try realm.requireReadable(type)
        let results = realm.objects(type)
        try results.requireReadable()
        return results.enumerated().filter { $0.offset % step == 0 }.map(\.element)
    }

    // MARK: Objects

    func insert() throws {
        for number in 0..<3 {
            try realm.insert(
                Mutated.Owner.self,
                value: [
                    "id": 1_000_000 + number, "name": "new", "mail": "new \(number)", "home": ["text": "home"],
                    "parts": [["text": "part"], ["text": "another"]], "drawers": ["d": ["text": "drawer"]],
                    "mood": "calm", "own": ["text": "own \(number)", "mark": UUID()],
                ]
            )
            try realm.insert(Mutated.Tick.self, value: ["number": 2_000 + number, "label": "new tick \(number)"])
            let key = String(repeating: "n", count: 100 * number)
            try realm.insert(Mutated.Key.self, value: ["key": key, "size": -1 - number])
            try realm.insert(Mutated.Note.self, value: ["text": "new", "mark": UUID(), "words": ["a", "b"]])
        }
        // What there is already is refused, and the others stay.
        for key in [0, 5, 39] { _ = try? realm.insert(Mutated.Tick.self, value: ["number": key]) }
    }

    /// Updates by primary key.
    func update() throws {
        for id in [1, 6, 30, 38] {
            realm.create(
                Mutated.Owner.self,
                value: ["id": id, "name": "updated", "friend": ["id": id + 1], "home": ["text": "other"]],
                update: .modified
            )
            let tick = Mutated.Tick()
            tick.number = id * 20
            tick.label = "updated \(id)"
            realm.add(tick, update: .all)
            realm.create(Mutated.Key.self, value: ["key": "kkk\(id)", "size": 1_000 + id], update: .modified)
        }
    }

    /// Sets each property of some objects.
    func set() throws {
        let owners = try all(Mutated.Owner.self, by: 5)
        let notes = try all(Mutated.Note.self, by: 7)
        for (number, owner) in owners.enumerated() {
            owner.name = number % 3 == 0 ? String(owner.description.prefix(40)) : "set \(number)"
            owner.mail = number % 4 == 0 ? nil : UUID().uuidString
            owner.born = number % 2 == 0 ? nil : Date(timeIntervalSinceReferenceDate: Double(number))
            owner.mood = .calm
            owner.isActive = number % 2 == 0
            owner.home = number % 3 == 0 ? nil : Mutated.Part(value: ["text": "set"])
            owner.friend = owners[(number * 3 + 1) % owners.count]
            owner.own = notes.isEmpty || number % 2 == 0 ? nil : notes[number % notes.count]
        }
        for (number, note) in notes.enumerated() {
            note.text = "set \(number)"
            note.photo = number % 2 == 0 ? nil : Data(repeating: 1, count: number * 700)
            note.cost = Decimal128(value: number)
            note.mark = UUID()
            note.object = ObjectId.generate()
            note.weight = Float(number)
            note.height = nil
            note.small = Int8(number % 100)
            note.anything = owners.isEmpty ? .int(1) : .object(owners[number % owners.count])
        }
        for (number, tick) in try all(Mutated.Tick.self, by: 97).enumerated() { tick.label = "set \(number)" }
        for (number, key) in try all(Mutated.Key.self, by: 4).enumerated() { key.size = 2_000 + number }
    }

    // MARK: Collections

    private func edit<Element: RealmCollectionValue>(_ list: List<Element>, with element: Element) throws {
        list.append(element)
        try list.requireReadable()
        list.insert(element, at: list.count / 2)
        try list.requireReadable()
        // Damage may have kept the element out.
        if list.count > 1 { list.move(from: list.count - 1, to: 0) }
        try list.requireReadable()
        if list.count > 2 { list.swapAt(0, list.count - 2) }
        try list.requireReadable()
        if list.count > 2 { list.remove(at: 1) }
        try list.requireReadable()
        if list.count > 0 { list.replace(index: list.count - 1, object: element) }
    }

    func editLists() throws {
        let owners = try all(Mutated.Owner.self, by: 4)
        for (number, owner) in owners.enumerated() {
            try edit(owner.value(of: \.friends), with: owners[number * 5 % owners.count])
            let parts = try owner.value(of: \.parts)
            parts.append(Mutated.Part(value: ["text": "appended"]))
            try parts.requireReadable()
            if parts.count > 1 { parts.remove(at: 0) }
            if number % 3 == 0 { try owner.value(of: \.friends).removeAll() }
        }
        for (number, note) in try all(Mutated.Note.self, by: 3).enumerated() {
            try edit(note.value(of: \.words), with: "word \(number)")
            try edit(note.value(of: \.numbers), with: number % 2 == 0 ? nil : number)
            try edit(note.value(of: \.everything), with: .int(number))
        }
    }

    func editMaps() throws {
        let owners = try all(Mutated.Owner.self, by: 4)
        let notes = try all(Mutated.Note.self, by: 3)
        for (number, owner) in owners.enumerated() {
            let named = try owner.value(of: \.named)
            named["edited"] = owners[(number + 1) % owners.count]
            try named.requireReadable()
            if let name = named.keys.first { named[name] = .some(nil) }
            try owner.value(of: \.drawers)["edited"] = Mutated.Part(value: ["text": "edited"])
            guard !notes.isEmpty else { continue }
            let note = notes[number % notes.count]
            try owner.value(of: \.required)["edited"] = note
            let its = try owner.value(of: \.notes)
            its.insert(note)
            if number % 2 == 0 { its.remove(note) }
        }
        for (number, note) in notes.enumerated() {
            let places = try note.value(of: \.places)
            places["edited"] = number
            places.removeObject(for: "place 0")
            let sizes = try note.value(of: \.sizes)
            sizes.insert(number)
            sizes.remove(11)
            if number % 4 == 0 { sizes.removeAll() }
        }
    }

    // MARK: Deleting

    func delete() throws {
        for owner in try all(Mutated.Owner.self, by: 6) where !owner.isInvalidated { realm.delete(owner) }
        for note in try all(Mutated.Note.self, by: 5) where !note.isInvalidated { realm.delete(note) }
        try realm.requireReadable(Mutated.Tick.self)
        let ticks = realm.objects(Mutated.Tick.self).where { $0.number < 300 }
        try ticks.requireReadable()
        realm.delete(ticks)
        for key in try all(Mutated.Key.self, by: 3) { realm.delete(key) }
    }
}
