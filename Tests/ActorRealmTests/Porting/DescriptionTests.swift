import ActorRealm
import Foundation
import Testing

class HarbourProjection: Projection<Harbour> {
    @Projected(\Harbour.name) var title: String
    @Projected(\Harbour.position?.latitude) var latitude: Double?
    @Projected(\Harbour.ships.projectTo.name) var shipNames: ProjectedCollection<String>
}

/// What things look like in logs, in RealmSwift's form.
@Suite("Descriptions read as RealmSwift's do", .timeLimit(.minutes(60)))
struct DescriptionTests {
    let file = PortingFile()

    /// The text with every address as `0x0`.
    private func text(_ value: some CustomStringConvertible) -> String {
        value.description.replacingOccurrences(of: "0x[0-9a-f]+", with: "0x0", options: .regularExpression)
    }

    @Test("sort descriptors")
    func sortDescriptors() {
        #expect(SortDescriptor(keyPath: "name").description == "SortDescriptor(keyPath: name, direction: ascending)")
        #expect(
            SortDescriptor(keyPath: "name", ascending: false).description
                == "SortDescriptor(keyPath: name, direction: descending)"
        )
    }

    @Test("properties and classes of a schema")
    func schema() throws {
        let schema = try onNewThread { [self] in try Realm(configuration: file.configuration).schema }
        #expect(
            schema["Ship"]?["tonnage"]?.description == """
                tonnage {
                \ttype = int;
                \tcolumnName = tonnage;
                \tindexed = NO;
                \tisPrimary = NO;
                \tarray = NO;
                \tset = NO;
                \tdictionary = NO;
                \toptional = NO;
                }
                """
        )
        #expect(
            schema["Ship"]?["harbours"]?.description == """
                harbours {
                \ttype = linking objects;
                \tobjectClassName = Harbour;
                \tlinkOriginPropertyName = ships;
                \tcolumnName = harbours;
                \tindexed = NO;
                \tisPrimary = NO;
                \tarray = YES;
                \tset = NO;
                \tdictionary = NO;
                \toptional = NO;
                }
                """
        )
        #expect(schema["Harbour"]?["id"]?.description.contains("isPrimary = YES;") == true)
        #expect(
            schema["Remark"]?.description == """
                Remark (embedded) {
                \ttext {
                \t\ttype = string;
                \t\tcolumnName = text;
                \t\tindexed = NO;
                \t\tisPrimary = NO;
                \t\tarray = NO;
                \t\tset = NO;
                \t\tdictionary = NO;
                \t\toptional = NO;
                \t}
                }
                """
        )
        #expect(schema["Ship"]?.description.hasPrefix("Ship {\n\tname {\n\t\ttype = string;\n") == true)
        #expect(schema.description.hasPrefix("Schema {\n\tHarbour {\n\t\tid {\n\t\t\ttype = int;\n"))
    }

    @Test("lists, sets, maps and results, while unmanaged and managed")
    func collections() throws {
        let ships = List<Ship>()
        ships.append(Ship(name: "one"))
        #expect(text(ships).hasPrefix("List<Ship> <0x0> (\n\t[0] Ship {\n\t\tname = one;\n"))
        let numbers = List<Int>()
        numbers.append(objectsIn: [4, 5])
        #expect(text(numbers) == "List<int> <0x0> (\n\t[0] 4,\n\t[1] 5\n)")
        let texts = MutableSet<String>()
        texts.insert("blue")
        #expect(text(texts) == "MutableSet<string> <0x0> (\n\t[0] blue\n)")
        let map = Map<String, Int>()
        map["north"] = 4
        #expect(text(map) == "Map<string, int> <0x0> (\n[north]: 4\n)")
        let links = Map<String, Ship?>()
        #expect(text(links) == "Map<string, Ship> <0x0> (\n\n)")
        try onNewThread { [self] in
            let realm = try Realm(configuration: file.configuration)
            try realm.write {
                let harbour = Harbour(id: 1)
                harbour.numbers.append(7)
                harbour.berths["north"] = 4
                realm.add(harbour)
                realm.add(Ship(name: "one", tonnage: 3))
            }
            let harbour = realm.objects(Harbour.self)[0]
            #expect(text(harbour.numbers) == "List<int> <0x0> (\n\t[0] 7\n)")
            #expect(text(harbour.berths) == "Map<string, int> <0x0> (\n[north]: 4\n)")
            #expect(
                text(realm.objects(Ship.self))
                    .hasPrefix("Results<Ship> <0x0> (\n\t[0] Ship {\n\t\tname = one;\n\t\thome = (null);\n")
            )
            #expect(text(realm.objects(Ship.self)[0].harbours) == "LinkingObjects<Harbour> <0x0> (\n\n)")
        }
    }

    @Test("projections and the collections that they project")
    func projections() throws {
        try onNewThread { [self] in
            let realm = try Realm(configuration: file.configuration)
            try realm.write {
                let harbour = Harbour(id: 1, name: "Rotterdam")
                harbour.position = Position(51.5, 4)
                harbour.ships.append(Ship(name: "one"))
                realm.add(harbour)
            }
            let projection = realm.objects(HarbourProjection.self)[0]
            let expected = """
                HarbourProjection<Harbour> <0x0> {
                \ttitle(\\.name) = Rotterdam;
                \tlatitude(\\.position.latitude) = Optional(51.5);
                \tshipNames(\\.ships) = ProjectedCollection<String> {
                \t[0] one
                };
                }
                """
            #expect(text(projection) == expected)
            #expect(text(projection.shipNames) == "ProjectedCollection<String> {\n\t[0] one\n}")
        }
    }

    @Test("configurations: a line for each setting, and never the key")
    func configurations() {
        var configuration = Realm.Configuration(fileURL: URL(fileURLWithPath: "/a/b.realm"), schemaVersion: 3)
        configuration.encryptionKey = Data(repeating: 65, count: 64)
        let lines = configuration.description.split(separator: "\n").map(String.init)
        #expect(lines.first == "Realm.Configuration {")
        #expect(lines.contains("\tfileURL = file:///a/b.realm;"))
        #expect(lines.contains("\tinMemoryIdentifier = (null);"))
        #expect(lines.contains("\tschemaVersion = 3;"))
        #expect(lines.contains("\treadOnly = 0;"))
        #expect(lines.last == "}")
        #expect(!configuration.description.contains("4141") && !configuration.description.contains("AAAA"))
    }
}
