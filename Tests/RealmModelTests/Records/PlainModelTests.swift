import RealmModel
import Testing

/// The plain model notices what it is there to notice.
@Suite("The plain model of replicas")
struct PlainModelTests {
    private static let item = ClassSchema(
        name: "Item",
        properties: [
            PropertySchema(name: "price", kind: .double),
            PropertySchema(name: "numbers", kind: .int, collection: .list),
            PropertySchema(name: "words", kind: .string, collection: .set),
            PropertySchema(name: "marks", kind: .any, collection: .map),
            PropertySchema(name: "next", kind: .object, targetClass: "Item"),
            PropertySchema(name: "before", kind: .linkingObjects, targetClass: "Item", originProperty: "next"),
        ]
    )

    /// What a plain model has otherwise than the database.
    enum Mistake: String, CaseIterable, Sendable {
        case row = "rows of Item"
        case nextKey = "next key of Item"
        case sign = "Item.price of row 0"
        case order = "Item.numbers of row 0"
        case element = "Item.words of row 0"
        case entry = "Item.marks of row 0"
        case link = "Item.next of row 0"
        case property = "Item"
        case name = "classes"

        func make(in plain: inout PlainModel) {
            let item = PlainModelTests.item
            let zero = PlainPlace(className: "Item", key: 0)
            func put(_ value: PlainValue, _ ordinal: Int) { plain.put(value, item.properties[ordinal], of: zero) }
            switch self {
            case .row:
                let row = plain.rows["Item"]?.removeValue(forKey: 1)
                plain.rows["Item"]?[2] = row
            case .nextKey: plain.nextKeys["Item"] = 3
            case .sign: put(.double(0), 0)
            case .order: put(.list([.int(2), .int(1)]), 1)
            case .element: put(.set([.text("a")]), 2)
            case .entry: put(.map(["a": .int(1), "b": .null]), 3)
            case .link: put(.link(zero), 4)
            case .property: plain.classes[0] = item.renaming("price", to: "cost")
            case .name: plain.classes.append(ClassSchema(name: "Other", properties: []))
            }
        }
    }

    @Test("What differs is named: class, row and property", arguments: Mistake.allCases)
    func difference(mistake: Mistake) throws {
        let database = try TestDatabase([Self.item])
        try database.write { _ in
            let table = try database.table("Item")
            for _ in 0..<2 { _ = try table.insert() }
            try table.set("price", 0, .double(-0.0))
            try table.listAssign(table.ordinal("numbers"), key: 0, [.int(1), .int(2)])
            try table.setAssign(table.ordinal("words"), key: 0, [.string("b"), .string("a")])
            try table.mapSet(table.ordinal("marks"), key: 0, "a", to: .anyLink(table: table.id, key: 1))
            try table.set("next", 0, .link(1))
        }
        let (zero, one) = (PlainPlace(className: "Item", key: 0), PlainPlace(className: "Item", key: 1))
        var plain = PlainModel()
        var migration = RandomMigration()
        migration.declared = [Self.item]
        try plain.migrate(migration)
        for place in [zero, one] { plain.insert(place, primaryKey: nil) }
        let values: [PlainValue] = [
            .double((-0.0).bitPattern), .list([.int(1), .int(2)]), .set([.text("a"), .text("b")]),
            .map(["a": .link(one)]), .link(one),
        ]
        for (property, value) in zip(Self.item.properties, values) { plain.put(value, property, of: zero) }
        #expect(try plain.difference(from: database.model) == nil)

        mistake.make(in: &plain)
        let difference = try #require(try plain.difference(from: database.model))
        #expect(difference.description.hasPrefix(mistake.rawValue + ": "))
    }

    @Test("A row goes with what it owns and what cascades, links to it go, and a rule denies it")
    func deletion() throws {
        func link(_ name: String, _ rule: RealmModel.DeleteRule, to target: String) -> PropertySchema {
            PropertySchema(name: name, kind: .object, deleteRule: rule, targetClass: target)
        }
        let classes = [
            ClassSchema(
                name: "Node",
                properties: [
                    link("part", .nullify, to: "Part"), link("next", .cascade, to: "Node"),
                    link("lock", .deny, to: "Node"), PropertySchema(name: "anything", kind: .any),
                ]
            ),
            ClassSchema(name: "Part", properties: [PropertySchema(name: "size", kind: .int)], isEmbedded: true),
        ]
        var plain = PlainModel()
        var migration = RandomMigration()
        migration.declared = classes
        try plain.migrate(migration)
        let nodes = (0..<4).map { PlainPlace(className: "Node", key: $0) }
        let part = PlainPlace(className: "Part", key: 0)
        for place in nodes + [part] { plain.insert(place, primaryKey: nil) }
        plain.put(.link(part), classes[0].properties[0], of: nodes[1])
        plain.put(.link(nodes[1]), classes[0].properties[1], of: nodes[0])
        plain.put(.link(nodes[0]), classes[0].properties[2], of: nodes[2])
        plain.put(.list([.link(nodes[1]), .int(1)]), classes[0].properties[3], of: nodes[3])
        #expect(plain.deletion(of: [nodes[2]]) == nil)
        #expect(plain.deletion(of: [nodes[2], nodes[0]]) == Set([nodes[2], nodes[0], nodes[1], part]))
        let going = try #require(plain.deletion(of: [nodes[0]]))
        #expect(going == Set([nodes[0], nodes[1], part]))
        plain.delete(going)
        #expect(plain.keys(of: "Node") == [2, 3])
        #expect(plain.keys(of: "Part").isEmpty)
        #expect(plain.value("lock", of: nodes[2]) == .null)
        #expect(plain.value("anything", of: nodes[3]) == .list([.null, .int(1)]))
    }
}
