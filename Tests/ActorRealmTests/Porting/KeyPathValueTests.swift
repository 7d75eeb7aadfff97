import ActorRealm
import Foundation
import Testing

/// Key-value coding, as far as names lead.
@Suite("Values are found by paths of names, and computed by operators", .timeLimit(.minutes(60)))
struct KeyPathValueTests {
    let file = PortingFile()

    private static func filled() -> Harbour {
        let harbour = Harbour(id: 1, name: "Rotterdam")
        harbour.position = Position(51, 4)
        harbour.position?.remark = Remark(value: ["text": "deep"])
        for (name, tonnage) in [("b", 2), ("a", 5), ("b", 3)] {
            harbour.ships.append(Ship(name: name, tonnage: tonnage))
        }
        harbour.ships[0].home = harbour
        harbour.history.append(Position(1, 2))
        harbour.marks["buoy"] = Position(7, 8)
        harbour.marks["light"] = .some(nil)
        harbour.berths["north"] = 4
        harbour.berths["south"] = 6
        harbour.numbers.append(objectsIn: [3, 1, 3])
        harbour.flags.insert("blue")
        return harbour
    }

    /// Runs a body with an unmanaged harbour and with a managed one.
    private func withHarbours(_ body: @escaping @Sendable (Harbour) throws -> Void) throws {
        try body(Self.filled())
        let configuration = file.configuration
        try onNewThread {
            let realm = try Realm(configuration: configuration)
            let harbour = Self.filled()
            try realm.write { realm.add(harbour) }
            try body(harbour)
        }
    }

    @Test("paths lead through links, lists and maps")
    func paths() throws {
        try withHarbours { harbour in
            #expect(harbour.value(forKeyPath: "name") as? String == "Rotterdam")
            #expect(harbour.value(forKeyPath: "position.remark.text") as? String == "deep")
            #expect(harbour.value(forKeyPath: "ships.name") as? [String] == ["b", "a", "b"])
            #expect(harbour.value(forKeyPath: "ships.home.name") as? [String?] == ["Rotterdam", nil, nil])
            #expect(harbour.value(forKeyPath: "ships.@count") as? Int == 3)
            #expect(harbour.value(forKeyPath: "flags.@count") as? Int == 1)
            #expect(harbour.value(forKeyPath: "ships.@max.tonnage") as? Int == 5)
            #expect(harbour.value(forKeyPath: "marks.buoy.latitude") as? Double == 7)
            #expect(harbour.value(forKeyPath: "marks.light.latitude") == nil)
            #expect(harbour.value(forKeyPath: "marks.none.latitude") == nil)
            #expect(harbour.value(forKeyPath: "berths.north") as? Int == 4)
            harbour.realm?.beginWrite()
            harbour.position = nil
            #expect(harbour.value(forKeyPath: "position.remark.text") == nil)
            try harbour.realm?.commitWrite()
        }
    }

    @Test("behind a list a value is set in each object, and behind a map under its name")
    func assigned() throws {
        try withHarbours { harbour in
            harbour.realm?.beginWrite()
            harbour.setValue("c", forKeyPath: "ships.name")
            #expect(Array(harbour.ships).map(\.name) == ["c", "c", "c"])
            harbour.setValue("Delft", forKeyPath: "ships.home.name")
            #expect(harbour.name == "Delft")
            harbour.setValue(7, forKeyPath: "ships.home.berths.north")
            #expect(harbour.berths["north"] == 7)
            harbour.setValue(5, forKeyPath: "berths.north")
            harbour.setValue(8, forKeyPath: "berths.west")
            harbour.setValue(nil, forKeyPath: "berths.south")
            #expect(harbour.berths["north"] == 5 && harbour.berths["west"] == 8 && harbour.berths["south"] == nil)
            harbour.setValue(9.5, forKeyPath: "marks.buoy.latitude")
            #expect(harbour.value(forKeyPath: "marks.buoy.latitude") as? Double == 9.5)
            harbour.setValue("shallow", forKeyPath: "position.remark.text")
            #expect(harbour.position?.remark?.text == "shallow")
            // A link that leads nowhere, and a name that the map does not have.
            harbour.setValue(1.0, forKeyPath: "marks.light.latitude")
            harbour.setValue(1.0, forKeyPath: "marks.none.latitude")
            #expect(harbour.marks.count == 2)
            try harbour.realm?.commitWrite()
        }
    }

    @Test("what is computed is a number that can be taken for an Int and for a Double")
    func computed() throws {
        try withHarbours { harbour in
            let ships = harbour.ships
            #expect(ships.value(forKeyPath: "@sum.tonnage") as? Int == 10)
            #expect(ships.value(forKeyPath: "@sum.tonnage") as? Double == 10)
            #expect(ships.value(forKeyPath: "@min.tonnage") as? Int == 2)
            #expect(ships.value(forKeyPath: "@avg.tonnage") as? Double == 10.0 / 3)
            #expect(harbour.numbers.value(forKeyPath: "@sum.self") as? Int == 7)
            #expect(harbour.history.value(forKeyPath: "@max.longitude") as? Double == 2)
            #expect(harbour.berths.value(forKeyPath: "@sum.self") as? Int == 10)
            #expect(harbour.berths.value(forKeyPath: "@count") as? Int == 2)
            #expect((harbour.berths.value(forKeyPath: "@allKeys") as? [String])?.sorted() == ["north", "south"])
            #expect((harbour.berths.value(forKeyPath: "@allValues") as? [Int])?.sorted() == [4, 6])
            #expect(harbour.marks.value(forKeyPath: "@max.latitude") as? Double == 7)
            let none = List<Ship>()
            #expect(none.value(forKeyPath: "@sum.tonnage") as? Int == 0)
            #expect(none.value(forKeyPath: "@max.tonnage") == nil && none.value(forKeyPath: "@avg.tonnage") == nil)
        }
    }

    @Test("what is joined: of objects without nil, of collections, and each value once")
    func joined() throws {
        try withHarbours { harbour in
            let ships = harbour.ships
            #expect(ships.value(forKeyPath: "@unionOfObjects.name") as? [String] == ["b", "a", "b"])
            #expect(ships.value(forKeyPath: "@distinctUnionOfObjects.name") as? [String] == ["b", "a"])
            #expect(ships.value(forKeyPath: "@unionOfObjects.home.name") as? [String] == ["Rotterdam"])
            #expect(harbour.numbers.value(forKeyPath: "@distinctUnionOfObjects.self") as? [Int] == [3, 1])
            let harbours = List<Harbour>()
            harbours.append(objectsIn: [harbour, harbour])
            #expect(harbours.value(forKeyPath: "@unionOfArrays.numbers") as? [Int] == [3, 1, 3, 3, 1, 3])
            #expect(harbours.value(forKeyPath: "@distinctUnionOfArrays.ships.name") as? [String] == ["b", "a"])
        }
    }

    @Test("each value once is each of other bytes once, and one NaN")
    func distinct() {
        let names = List<String>()
        names.append(objectsIn: ["\u{E9}", "e\u{301}", "\u{E9}"])
        let found = names.value(forKeyPath: "@distinctUnionOfObjects.self") as? [String]
        #expect(found?.map { Array($0.utf8) } == [[0xC3, 0xA9], [0x65, 0xCC, 0x81]])
        let numbers = List<Double>()
        numbers.append(objectsIn: [.nan, 1, .nan, -0.0, 0, Double(bitPattern: 0x7FF8_0000_0000_0001)])
        #expect((numbers.value(forKeyPath: "@distinctUnionOfObjects.self") as? [Double])?.count == 3)
    }

    @Test("generic code lists the properties that are stored, and finds the computed ones by name")
    func schema() throws {
        let schema = try onNewThread { [self] in try Realm(configuration: file.configuration).schema }
        let ship = try #require(schema["Ship"])
        #expect(ship.properties.map(\.name) == ["name", "home", "tonnage"])
        #expect(ship.computedProperties.map(\.name) == ["harbours"])
        #expect(ship["harbours"]?.type == .linkingObjects)
        // What a program that writes objects as JSON does.
        let harbour = Self.filled()
        var written: [String: Any] = [:]
        for property in harbour.objectSchema.properties { written[property.name] = harbour[property.name] }
        #expect(written.count == 11 && written["name"] as? String == "Rotterdam")
    }
}
