import ActorRealm
import Foundation
import RealmTestSupport
import Testing

/// Input from strangers: whatever `insert` is given, it throws or inserts.
@Suite("Input that does not fit", .timeLimit(.minutes(60)))
struct HostileInputTests {
    class Crate: Object {
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
        @Persisted(primaryKey: true) var key: String
        @Persisted(unique: true) var label: String?
        @Persisted var number: Int
        @Persisted var small: Int8
        @Persisted var weight: Double?
        @Persisted var packed: Date
        @Persisted var code: UUID?
        @Persisted var level: Level?
        @Persisted var any: AnyRealmValue
        @Persisted var anys: List<AnyRealmValue>
        @Persisted var names: List<String>
        @Persisted var tags: MutableSet<String>
        @Persisted var sizes: Map<String, Int>
        @Persisted var lid: Lid?
        @Persisted var lids: List<Lid>
        @Persisted var next: Crate?
        @Persisted var inner: List<Crate>
        @Persisted(originProperty: "next") var before: LinkingObjects<Crate>
    }

    class Lid: EmbeddedObject {
        @Persisted var color: String
        @Persisted var number: Int
    }

    class Stray: Object {
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
        @Persisted var crate: Crate?
    }

    private static func realm() throws -> Realm { try memoryRealm([Crate.self, Lid.self]) }

    /// Brackets within brackets, as a client may send them.
    private static func nested(_ depth: Int) -> Any {
        var value: Any = []
        for _ in 1..<depth { value = [value] }
        return value
    }

    /// What does not fit, with a word that the message has to say.
    private static var misfits: [(input: [String: Any], words: [String])] {
        [
            (["number": "seven"], ["number", "seven", "int"]), (["small": 300], ["small", "300"]),
            (["number": 1.5], ["number", "1.5"]), (["number": Double.nan], ["number", "nan"]),
            (["weight": "heavy"], ["weight", "heavy"]), (["packed": 5], ["packed", "5"]),
            (["number": NSNull()], ["number", "nil"]), (["key": 5], ["key", "5"]), (["code": "no code"], ["no code"]),
            (["level": 4], ["level", "4"]), (["names": ["a", 5]], ["names[1]", "5"]), (["names": "a"], ["names"]),
            (["tags": [1]], ["tags[0]"]), (["sizes": ["a": "b"]], ["sizes", "a", "b"]),
            (["sizes": ["a.b": 1]], ["sizes", "a.b"]), (["sizes": ["$a": 1]], ["sizes", "$a"]),
            (["sizes": [1]], ["sizes"]), (["sizes": [1: 1]], ["sizes"]), (["lid": 5], ["lid", "5"]),
            (["lid": ["color": 5]], ["lid.color", "5"]),
            (["lids": [["color": "red"], ["number": "x"]]], ["lids[1].number"]),
            (["next": "other"], ["next", "other"]), (["next": ["number": "x"]], ["next.number"]),
            (["inner": [["key": "a", "inner": [["small": -129]]]]], ["inner[0].inner[0].small", "-129"]),
            (["any": nested(101)], ["any", "100"]), (["anys": [nested(101)]], ["anys", "100"]),
            (["any": ["a": ["b.c": 1]]], ["any", "b.c"]), (["any": URL(fileURLWithPath: "/")], ["any", "URL"]),
            (["any": nested(20_000)], ["any", "100"]), (["before": []], ["before"]),
            (["unknown": 1], ["unknown"]), (["lid": ["colour": "red"]], ["lid.colour"]),
        ]
    }

    @Test("is refused by an error that names the value and where it stands, and leaves nothing behind")
    func refused() async {
        await #expect(processExitsWith: .success) {
            let realm = try HostileInputTests.realm()
            for (input, words) in HostileInputTests.misfits {
                try realm.write {
                    do {
                        try realm.insert(Crate.self, value: input)
                        Issue.record("\(input.keys) was inserted")
                    } catch let error as Realm.Error {
                        for word in words { #expect(error.message.contains(word), "\(error.message)") }
                    }
                }
                #expect(realm.isEmpty, "\(input.keys)")
            }
        }
    }

    @Test("Long keys and unique strings that begin alike are told apart by their ends")
    func longKeys() throws {
        let realm = try Self.realm()
        let text = String(repeating: "k", count: 5_000)
        try realm.write {
            for number in 0..<3 {
                try realm.insert(Crate.self, value: ["key": text + "\(number)", "label": text + "\(number)"])
            }
            let key = #expect(throws: Realm.Error.self) { try realm.insert(Crate.self, value: ["key": text + "1"]) }
            #expect(key?.code == .duplicatePrimaryKey)
            let label = #expect(throws: Realm.Error.self) {
                try realm.insert(Crate.self, value: ["key": "short", "label": text + "2"])
            }
            #expect(label?.message.contains("label") == true)
        }
        #expect(realm.objects(Crate.self).count == 3)
        #expect(realm.object(ofType: Crate.self, forPrimaryKey: text + "2")?.label == text + "2")
        #expect(realm.object(ofType: Crate.self, forPrimaryKey: text) == nil)
    }

    @Test("One level less of nesting, and a key of 256 bytes, are inserted")
    func limits() throws {
        let realm = try Self.realm()
        try realm.write {
            try realm.insert(
                Crate.self,
                value: [
                    "key": String(repeating: "k", count: 256), "label": String(repeating: "é", count: 128),
                    "any": Self.nested(100), "anys": [Self.nested(100)], "weight": Double.nan,
                ]
            )
        }
        #expect(realm.objects(Crate.self).count == 1)
    }

    private func message(_ body: () throws -> Void) -> String {
        do {
            try body()
            return "nothing was thrown"
        } catch { return "\(error)" }
    }

    @Test("All that does not fit in one input is named at once, and unknown keys are left out where that is asked for")
    func allAtOnce() throws {
        let realm = try Self.realm()
        try realm.write {
            let text = message {
                try realm.insert(
                    Crate.self,
                    value: ["number": "a", "small": 1_000, "lids": [["number": 1], ["number": "b"]], "odd": 1]
                )
            }
            for word in ["number: 'a'", "small: 1000", "lids[1].number: 'b'", "odd:"] {
                #expect(text.contains(word), "\(text)")
            }
            try realm.insert(Crate.self, value: ["key": "a", "odd": 1], ignoringUnknownKeys: true)
            realm.create(Crate.self, value: ["key": "b", "odd": 1])
        }
        #expect(realm.objects(Crate.self).count == 2)
    }

    @Test("JSON and decoders give the same objects and the same errors as dictionaries")
    func json() throws {
        let realm = try Self.realm()
        let text = """
            {"key": "a", "number": 7, "weight": 1.5, "packed": "2024-02-29T12:00:00Z", "names": ["x", "y"], "sizes": {"l": 3},
             "code": "6F0BBD23-5C10-4D8B-9F0C-4C8E8E0C1F11", "level": 9, "any": {"deep": [1, true, null, "s", 2.5]},
             "lid": {"color": "red", "number": 2}, "next": {"key": "b", "inner": [{"key": "c"}]}, "label": null}
            """
        try realm.write {
            let crate = try realm.insert(Crate.self, json: Data(text.utf8))
            #expect(
                crate.number == 7 && crate.weight == 1.5 && Array(crate.names) == ["x", "y"] && crate.sizes["l"] == 3
            )
            #expect(crate.level == .high && crate.lid?.color == "red" && crate.next?.inner[0].key == "c")
            #expect(crate.packed == Date(timeIntervalSince1970: 1_709_208_000) && crate.code != nil)
            #expect(crate.any.dictionaryValue?["deep"]?.listValue?.count == 5 && crate.label == nil)
            let wrong = message {
                try realm.insert(Crate.self, json: Data(#"{"number": "x", "lids": [{"colour": 1}], "next": 5}"#.utf8))
            }
            for word in ["number: 'x'", "lids[0].colour", "next: 5"] { #expect(wrong.contains(word), "\(wrong)") }
            for text in ["", "{", "[1", "7", "null", #"{"number": 1e400}"#] {
                #expect(throws: Realm.Error.self) { try realm.insert(Crate.self, json: Data(text.utf8)) }
            }
            let brackets = String(repeating: "[", count: 300) + String(repeating: "]", count: 300)
            let deep = message { try realm.insert(Crate.self, json: Data(#"{"key": "k", "any": \#(brackets)}"#.utf8)) }
            #expect(deep.contains("100 levels"))
        }
        #expect(realm.objects(Crate.self).count == 3)
    }

    @Test("Objects that cannot be inserted are refused, and stay as they were")
    func objects() throws {
        let realm = try Self.realm()
        let other = try Self.realm()
        let foreign = try other.write { other.create(Crate.self, value: ["key": "f"]) }
        let mine = try realm.write { realm.create(Crate.self, value: ["key": "m", "lid": [:]]) }
        let gone = try realm.write { realm.create(Crate.self, value: ["key": "g"]) }
        try realm.write { realm.delete(gone) }
        func crate(_ change: (Crate) -> Void) -> Crate {
            let crate = Crate()
            crate.key = "new"
            crate.inner.append(Crate())
            change(crate)
            return crate
        }
        var deep = AnyRealmValue.fromArray([])
        for _ in 0..<100 { deep = .fromArray([deep]) }
        let lid = Lid()
        let refused: [Object] = [
            foreign, gone, foreign.freeze(), Stray(), crate { $0.next = foreign }, crate { $0.next = gone },
            crate { $0.lid = mine.lid }, crate { $0.any = deep }, crate { $0.any = .object(foreign) },
            crate { $0.any = .object(Stray()) }, crate { $0.inner.append(foreign) },
            crate {
                $0.lid = lid
                $0.lids.append(lid)
            },
        ]
        let circle = Crate()
        circle.key = "circle"
        circle.next = circle
        try realm.write {
            for (index, object) in refused.enumerated() {
                #expect(throws: Realm.Error.self, "\(index)") { try realm.insert(object) }
                #expect(realm.objects(Crate.self).count == 1, "\(index)")
            }
            #expect(throws: Realm.Error.self) { try realm.insert(Crate.self, value: circle) }
            #expect(throws: Realm.Error.self) { try realm.insert(Crate.self, value: gone) }
            var value: [String: Any] = [:]
            for level in 0..<150 { value = ["key": "\(level)", "next": value] }
            #expect(throws: Realm.Error.self) { try realm.insert(Crate.self, value: value) }
            // What is refused as a value may be added, or copied, in the form that the message names.
            try realm.insert(circle)
            #expect(try realm.insert(Crate.self, value: foreign).key == "f")
        }
        #expect(realm.objects(Crate.self).count == 3)
        #expect(throws: Realm.Error.self) { try realm.insert(Crate.self) }
        realm.close()
        #expect(throws: Realm.Error.self) { try realm.insert(Crate.self, value: [:]) }
    }

    @Test("A sequence that can be gone over once is refused, and one that begins anew is taken")
    func sequencesOfOnePass() throws {
        let realm = try Self.realm()
        let crate = try realm.write {
            realm.create(Crate.self, value: ["key": "a", "names": ["old"], "tags": ["old"], "any": 7] as [String: Any])
        }
        func once() -> AnyIterator<String> { AnyIterator(["a", "b"].makeIterator()) }
        for name in ["names", "tags", "any"] {
            let set = #expect(throws: Realm.Error.self) {
                try realm.write { try crate.setValues([name: once()]) }
            }
            #expect(set?.message.contains(name) == true)
            let inserted = #expect(throws: Realm.Error.self) {
                try realm.write { try realm.insert(Crate.self, value: ["key": "b", name: once()] as [String: Any]) }
            }
            #expect(inserted?.code == .invalidInput)
        }
        #expect(Array(crate.names) == ["old"] && Array(crate.tags) == ["old"] && crate.any == .int(7))
        let longer = sequence(first: "a") { $0.count < 3 ? $0 + "a" : nil }
        try realm.write { try crate.setValues(["names": longer]) }
        #expect(Array(crate.names) == ["a", "aa", "aaa"] && realm.objects(Crate.self).count == 1)
    }

    @Test("All objects of a collection are given what a sequence that can be gone over once has")
    func onePassForSeveral() throws {
        let realm = try Self.realm()
        try realm.write {
            for key in ["a", "b"] { realm.create(Crate.self, value: ["key": key, "names": ["old"]] as [String: Any]) }
            realm.objects(Crate.self).setValue(AnyIterator(["x", "y"].makeIterator()), forKey: "names")
        }
        #expect(realm.objects(Crate.self).map { Array($0.names) } == [["x", "y"], ["x", "y"]])
    }

    @Test("All objects of a collection are given what such a sequence inside the value has")
    func onePassInside() throws {
        let realm = try Self.realm()
        try realm.write {
            for key in ["a", "b"] { realm.create(Crate.self, value: ["key": key]) }
            let crates = realm.objects(Crate.self)
            crates.setValue([AnyIterator(["x", "y"].makeIterator())], forKey: "anys")
            crates.setValue(["inside": AnyIterator([1, 2].makeIterator())], forKey: "any")
        }
        for crate in realm.objects(Crate.self) {
            let texts = try #require(crate.anys.first?.listValue)
            let numbers = try #require(crate.any.dictionaryValue?["inside"]?.listValue)
            #expect(Array(texts) == [.string("x"), .string("y")] && Array(numbers) == [.int(1), .int(2)])
        }
    }

    /// A sequence, and no collection, that is stored as a text.
    struct Route: CustomPersistable, Sequence {
        typealias PersistedType = String
        let stops: [String]
        init(_ stops: [String]) { self.stops = stops }
        init(persistedValue: String) { stops = persistedValue.split(separator: ",").map(String.init) }
        var persistableValue: String { stops.joined(separator: ",") }
        func makeIterator() -> IndexingIterator<[String]> { stops.makeIterator() }
    }

    /// An object that is a sequence of its tracks.
    final class Playlist: Object, Sequence {
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
        @Persisted var track: String
        func makeIterator() -> IndexingIterator<[String]> { [track].makeIterator() }
    }

    final class Tour: Object {
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
        @Persisted var route: Route
        @Persisted var playlist: Playlist?
    }

    @Test("A value of the program's own that is a sequence is one value for all objects, and for a predicate")
    func sequencesOfItsOwn() async {
        await #expect(processExitsWith: .success) {
            let realm = try memoryRealm([Tour.self, Playlist.self])
            let route = Route(["a", "b"])
            let playlist = try realm.write {
                for _ in 0..<2 { realm.create(Tour.self) }
                let playlist = realm.create(Playlist.self, value: ["track": "t"])
                realm.objects(Tour.self).setValue(route, forKey: "route")
                realm.objects(Tour.self).setValue(playlist, forKey: "playlist")
                return playlist
            }
            let tours = realm.objects(Tour.self)
            #expect(tours.filter("route == %@", route).count == 2 && realm.objects(Playlist.self).count == 1)
            #expect(tours.filter("playlist == %@", playlist).count == 2)
            let byRoute = try tours.filter(RealmPredicate(parsing: "route == %@", route)).count
            let byPlaylist = try tours.filter(RealmPredicate(parsing: "playlist == %@", playlist)).count
            #expect(byRoute == 2 && byPlaylist == 2)
        }
    }

    final class Fork: Object {
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
        @Persisted var left: Fork?
        @Persisted var right: Fork?

        /// A fork whose ends are one fork, and so on.
        static func tower(_ levels: Int) -> Fork {
            var fork = Fork()
            for _ in 0..<levels {
                let below = fork
                fork = Fork()
                fork.left = below
                fork.right = below
            }
            return fork
        }
    }

    @Test("Objects that lead to each other on more paths than there can be copies are refused at once")
    func sharedObjects() throws {
        let realm = try memoryRealm([Fork.self])
        let error = #expect(throws: Realm.Error.self) {
            try realm.write { try realm.insert(Fork.self, value: Fork.tower(60)) }
        }
        #expect(
            error?.code == .invalidInput && error?.message.contains("on more than 100000 paths") == true,
            "\(error?.message ?? "")"
        )
        #expect(realm.objects(Fork.self).isEmpty)
        try realm.write {
            // As many copies as there are paths, and as many objects as there are.
            try realm.insert(Fork.self, value: Fork.tower(5))
            #expect(realm.objects(Fork.self).count == 63)
            try realm.insert(Fork.tower(60))
            #expect(realm.objects(Fork.self).count == 63 + 61)
        }
    }

    @Test("A value that nests as deep as it may is read again, and nothing in it grows deeper")
    func depth() async throws {
        let realm = try Self.realm()
        try realm.write {
            let crate = realm.create(Crate.self, value: ["any": Self.nested(99)])
            var list = try #require(crate.any.listValue)
            while let inner = list.first?.listValue { list = inner }
            list.append(objectsIn: [.fromArray([]), .int(1)])
            #expect(list.count == 2 && list[0].listValue?.isEmpty == true)
        }
        await #expect(processExitsWith: .failure) {
            let realm = try HostileInputTests.realm()
            try realm.write {
                let crate = realm.create(Crate.self, value: ["any": HostileInputTests.nested(100)])
                var list = crate.any.listValue!
                while let inner = list.first?.listValue { list = inner }
                list.append(.fromArray([]))
            }
        }
    }
}
