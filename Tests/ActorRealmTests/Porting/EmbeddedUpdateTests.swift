import ActorRealm
import Foundation
import Testing

/// Embedded objects of an object that is updated by its primary key.
@Suite("An update keeps embedded objects and writes into them", .timeLimit(.minutes(60)))
struct EmbeddedUpdateTests {
    let file = PortingFile()

    private func original() -> Harbour {
        let harbour = Harbour(id: 1, name: "Rotterdam")
        harbour.position = Position(51.9, 4.1)
        harbour.position?.remark = Remark(value: ["text": "old"])
        harbour.history.append(objectsIn: [Position(1, 1), Position(2, 2), Position(3, 3)])
        harbour.marks["buoy"] = Position(5, 5)
        harbour.marks["light"] = Position(6, 6)
        return harbour
    }

    private func replacement() -> Harbour {
        let harbour = Harbour(id: 1, name: "Rotterdam")
        harbour.position = Position(52, 4.1)
        harbour.position?.remark = Remark(value: ["text": "new"])
        harbour.history.append(objectsIn: [Position(1, 1), Position(2, 20)])
        harbour.marks["buoy"] = Position(5, 50)
        harbour.marks["pier"] = Position(7, 7)
        return harbour
    }

    private func check(_ update: (Realm) throws -> Void) throws {
        let configuration = file.configuration
        let queue = DispatchQueue(label: "embedded")
        try queue.sync {
            let realm = try Realm(configuration: configuration, queue: queue)
            try realm.write { realm.add(original()) }
            let harbour = realm.objects(Harbour.self)[0]
            let (position, remark) = (harbour.position!, harbour.position!.remark!)
            let history = Array(harbour.history)
            let (buoy, light) = (harbour.marks["buoy"]!!, harbour.marks["light"]!!)
            try realm.write { try update(realm) }
            #expect(!position.isInvalidated && position.latitude == 52 && position.longitude == 4.1)
            #expect(harbour.position?.isSameObject(as: position) == true)
            #expect(!remark.isInvalidated && remark.text == "new")
            #expect(!history[0].isInvalidated && !history[1].isInvalidated && history[2].isInvalidated)
            #expect(harbour.history.map { $0.longitude } == [1, 20])
            #expect(!history[1].isInvalidated && history[1].longitude == 20)
            #expect(!buoy.isInvalidated && buoy.longitude == 50)
            #expect(light.isInvalidated)
            #expect(harbour.marks.keys == ["buoy", "pier"])
            #expect(try realm.verifyCounts() == (5, 1))
        }
    }

    @Test("add, with both policies", arguments: [Realm.UpdatePolicy.modified, .all])
    func add(policy: Realm.UpdatePolicy) throws {
        try check { $0.add(replacement(), update: policy) }
    }

    @Test("create from an object, with both policies", arguments: [Realm.UpdatePolicy.modified, .all])
    func createFromObject(policy: Realm.UpdatePolicy) throws {
        try check { $0.create(Harbour.self, value: replacement(), update: policy) }
    }

    @Test("create from dictionaries, with both policies", arguments: [Realm.UpdatePolicy.modified, .all])
    func createFromDictionary(policy: Realm.UpdatePolicy) throws {
        // Properties that are not given stay: the name.
        try check {
            $0.create(
                Harbour.self,
                value: [
                    "id": 1, "position": ["latitude": 52.0, "longitude": 4.1, "remark": ["text": "new"]],
                    "history": [["longitude": 1.0], ["longitude": 20.0]],
                    "marks": ["buoy": ["longitude": 50.0], "pier": [7.0, 7.0]],
                ] as [String: Any],
                update: policy
            )
        }
        let name = try onNewThread { [self] in
            try Realm(configuration: file.configuration).objects(Harbour.self)[0].name
        }
        #expect(name == "Rotterdam")
    }

    @Test("an object that is updated from itself, or from its own elements in another order, is what was asked for")
    func fromItself() throws {
        try onNewThread { [self] in
            let realm = try Realm(configuration: file.configuration)
            try realm.write { realm.add(original()) }
            let harbour = realm.objects(Harbour.self)[0]
            for policy in [Realm.UpdatePolicy.modified, .all] {
                try realm.write { realm.create(Harbour.self, value: harbour, update: policy) }
                #expect(harbour.position?.latitude == 51.9)
                #expect(harbour.history.map { $0.latitude } == [1, 2, 3])
                #expect(harbour.marks["light"]??.latitude == 6)
            }
            try realm.write {
                realm.create(
                    Harbour.self,
                    value: ["id": 1, "history": Array(harbour.history.reversed())] as [String: Any],
                    update: .modified
                )
            }
            #expect(harbour.history.map { $0.latitude } == [3, 2, 1])
            try realm.write {
                realm.create(
                    Harbour.self,
                    value: ["id": 1, "marks": ["buoy": harbour.marks["light"]!!, "light": harbour.marks["buoy"]!!]]
                        as [String: Any],
                    update: .modified
                )
            }
            #expect(harbour.marks["light"]??.latitude == 5)
            #expect(harbour.marks["buoy"]??.latitude == 6)
        }
    }

    @Test("what is left out stays where differences are written, and is the default where all is")
    func leftOut() throws {
        try onNewThread { [self] in
            let realm = try Realm(configuration: file.configuration)
            try realm.write { realm.add(original()) }
            let harbour = realm.objects(Harbour.self)[0]
            func update(_ policy: Realm.UpdatePolicy) throws {
                let history = [["longitude": 9.0], ["longitude": 8.0]]
                try realm.write {
                    realm.create(
                        Harbour.self,
                        value: ["id": 1, "history": history, "position": ["longitude": 7.0]] as [String: Any],
                        update: policy
                    )
                }
            }
            let position = harbour.position!
            try update(.modified)
            #expect(position.latitude == 51.9 && position.longitude == 7 && position.remark?.text == "old")
            #expect(harbour.history.map { [$0.latitude, $0.longitude] } == [[1, 9], [2, 8]])
            try update(.all)
            #expect(harbour.history.map { [$0.latitude, $0.longitude] } == [[0, 9], [0, 8]])
            #expect(position.latitude == 0 && position.longitude == 7 && position.remark == nil)
        }
    }

    @Test(
        "a linked object with a key keeps what is left out, whatever the policy",
        arguments: [Realm.UpdatePolicy.modified, .all]
    )
    func linkedObjects(policy: Realm.UpdatePolicy) throws {
        try onNewThread { [self] in
            let realm = try Realm(configuration: file.configuration)
            try realm.write {
                let ship = Ship(name: "a")
                ship.home = original()
                realm.add(ship)
                realm.create(
                    LinkingHarbour.self,
                    value: ["id": 1, "home": ["id": 1, "name": "b"] as [String: Any]] as [String: Any],
                    update: policy
                )
            }
            let harbour = realm.objects(Harbour.self)[0]
            #expect(harbour.name == "b" && harbour.history.count == 3 && harbour.position?.latitude == 51.9)
        }
    }

    @Test(
        "a null in a map takes its own object away, and what comes behind it is not written there",
        arguments: [Realm.UpdatePolicy.modified, .all]
    )
    func nullInMap(policy: Realm.UpdatePolicy) throws {
        try onNewThread { [self] in
            var configuration = file.configuration
            configuration.objectTypes = [Quay.self, Position.self, Remark.self]
            let realm = try Realm(configuration: configuration)
            func marked() -> Quay {
                let quay = Quay()
                quay.marks["a"] = Position(1, 1)
                quay.marks["b"] = Position(2, 2)
                return quay
            }
            try realm.write { realm.add(marked()) }
            let quay = realm.objects(Quay.self)[0]
            let kept = quay.marks["a"]!!
            func check(_ text: String) throws {
                #expect(!kept.isInvalidated && quay.marks["b"] == .some(nil))
                #expect(quay.history.map { $0.latitude } == [7] && quay.remarks.map { $0.text } == [text])
                #expect(try realm.verifyCounts() == (2, 1))
            }
            try realm.write {
                let bare = Quay()
                bare.marks["a"] = Position(1, 3)
                bare.marks["b"] = Position?.none
                bare.history.append(Position(7, 7))
                bare.remarks.append(Remark(value: ["text": "added"]))
                realm.add(bare, update: policy)
            }
            try check("added")
            try realm.write {
                quay.history.removeAll()
                quay.remarks.removeAll()
                quay.marks["b"] = Position(2, 2)
            }
            try realm.write {
                realm.create(
                    Quay.self,
                    value: [
                        "marks": ["a": ["longitude": 4.0], "b": NSNull()] as [String: Any],
                        "history": [["latitude": 7.0]], "remarks": [["text": "created"]],
                    ],
                    update: policy
                )
            }
            try check("created")
        }
    }

    @Test("a null takes the embedded object away, and an update without differences tells observers nothing")
    func edges() throws {
        try onNewThread { [self] in
            let realm = try Realm(configuration: file.configuration)
            try realm.write { realm.add(original()) }
            let position = realm.objects(Harbour.self)[0].position!
            try realm.write {
                let same = original()
                realm.add(same, update: .modified)
            }
            #expect(!position.isInvalidated)
            try realm.write {
                let bare = Harbour(id: 1)
                realm.add(bare, update: .modified)
            }
            #expect(position.isInvalidated)
            #expect(realm.objects(Harbour.self)[0].history.isEmpty)
            #expect(try realm.verifyCounts() == (0, 0))
        }
    }
}

/// Its map comes first.
class Quay: Object {
    @Persisted(primaryKey: true) var id = 0
    @Persisted var marks: Map<String, Position?>
    @Persisted var history: List<Position>
    @Persisted var remarks: List<Remark>
}

extension Realm {
    /// How many positions and remarks there are: none is left behind.
    fileprivate func verifyCounts() throws -> (Int, Int) {
        (dynamicObjects("Position").count, dynamicObjects("Remark").count)
    }
}
