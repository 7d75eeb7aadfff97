import RealmTestSupport
import Testing

@testable import RealmModel
@testable import RealmStorage

/// Links of so many new rows that their backlinks and index entries are put aside before the commit.
@Suite struct LinksPutAsideTests {
    private static let classes = [
        ClassSchema(
            name: "Person",
            properties: [
                PropertySchema(name: "friend", kind: .object, targetClass: "Person"),
                PropertySchema(name: "other", kind: .object, targetClass: "Person"),
                PropertySchema(name: "name", kind: .string, isIndexed: true),
            ]
        )
    ]

    /// What rows link to, in plain Swift.
    private struct Plain {
        var links: [Int64: [Int64?]] = [:]

        mutating func delete(_ key: Int64) {
            links[key] = nil
            for (row, targets) in links { links[row] = targets.map { $0 == key ? nil : $0 } }
        }

        func origins(of key: Int64, _ property: Int) -> [Int64] {
            links.filter { $0.value[property] == key }.keys.sorted()
        }
    }

    @Test(arguments: 0..<40 as Range<UInt64>)
    func `whatever becomes of new rows, their links and backlinks match`(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let database = try TestDatabase(Self.classes)
        var plain = Plain()
        for round in 0..<4 {
            let before = plain
            func run(_ people: TableView) throws {
                people.pendingRowLimit = 8
                for step in 0..<60 {
                    let keys = plain.links.keys.sorted()
                    switch Int.random(in: 0..<8, using: &random) {
                    case 0...2:
                        let key = try people.insert()
                        plain.links[key] = [nil, nil]
                        try people.set("name", key, .string("name \(step % 5)"))
                    case 3 where keys.count > 12:
                        let key = keys.randomElement(using: &random)!
                        try people.delete(key: key)
                        plain.delete(key)
                    default:
                        guard let key = keys.randomElement(using: &random) else { continue }
                        let property = Int.random(in: 0..<2, using: &random)
                        let isNull = Int.random(in: 0..<4, using: &random) == 0
                        let target = isNull ? nil : keys.randomElement(using: &random)
                        try people.setLink(property, key: key, to: target)
                        plain.links[key]?[property] = target
                        if step % 3 == 0 { try people.set("name", key, .string("set \(step % 7)")) }
                    }
                }
            }
            if round == 2 {
                try database.rollBack { _ in try run(database.table("Person")) }
                plain = before
            } else {
                try database.write { _ in try run(database.table("Person")) }
            }
            let people = try database.table("Person")
            for (key, targets) in plain.links {
                for property in 0..<2 {
                    #expect(try people.link(property, key: key) == targets[property], "seed \(seed)")
                    let origins = try people.backlinkKeys(of: key, from: people.id, property: property)
                    #expect(origins == plain.origins(of: key, property), "seed \(seed)")
                }
            }
            try FileVerifier.verify(database.file.beginRead())
        }
    }
}
