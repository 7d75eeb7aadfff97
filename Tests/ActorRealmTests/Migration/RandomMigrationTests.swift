import ActorRealm
import Foundation
import RealmTestSupport
import Testing

/// A class with properties of any types; those that are `Absent` are none of it.
private class RandomThing<A: _Persistable, B: _Persistable, C: _Persistable, D: _Persistable>: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var a: A
    @Persisted var b: B
    @Persisted var c: C
    @Persisted var d: D

    override class func _realmObjectName() -> String? { "Thing" }
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
    override class func ignoredProperties() -> [String] {
        zip(["a", "b", "c", "d"], [A.self, B.self, C.self, D.self] as [any _Persistable.Type])
            .filter { $1 == Absent.self }.map(\.0)
    }
}

private typealias Absent = Decimal128?

/// Random classes before and after, random objects and a random block: what is lost is what a dictionary says.
@Suite("Random migrations") struct RandomMigrationTests {
    private enum Kind: String, CaseIterable {
        case absent, int, optionalInt, string, optionalString, double, bool, ints, strings, data

        var type: any _Persistable.Type {
            switch self {
            case .absent: Absent.self
            case .int: Int.self
            case .optionalInt: Int?.self
            case .string: String.self
            case .optionalString: String?.self
            case .double: Double.self
            case .bool: Bool.self
            case .ints: List<Int>.self
            case .strings: List<String>.self
            case .data: Data.self
            }
        }

        /// Whether values stay where a property of this kind becomes one of the other.
        func keeps(_ other: Kind) -> Bool { bare == other.bare }

        private var bare: Kind { self == .optionalInt ? .int : self == .optionalString ? .string : self }

        func value(_ random: inout SplitMix64) -> Any? {
            let number = Int.random(in: 0...2, using: &random)
            switch self {
            case .absent: return nil
            case .int: return number
            case .optionalInt: return number == 2 ? nil : number
            case .string: return number == 0 ? "" : "text \(number)"
            case .optionalString: return number == 2 ? nil : number == 0 ? "" : "text"
            case .double: return number == 0 ? 0.0 : number == 1 ? -0.0 : Double.nan
            case .bool: return number == 1
            case .ints: return [Int](repeating: 0, count: number)
            // Some do not fit into their row.
            case .strings: return [String](repeating: String(repeating: "x", count: 900), count: number)
            case .data: return Data(count: number)
            }
        }

        /// Whether a value is more than nothing.
        func isValue(_ value: Any?) -> Bool {
            switch (self, value) {
            case (.int, let value as Int): value != 0
            case (.string, let value as String): !value.isEmpty
            case (.double, let value as Double): value != 0
            case (.bool, let value as Bool): value
            case (.ints, let value as [Int]): !value.isEmpty
            case (.strings, let value as [String]): !value.isEmpty
            case (.data, let value as Data): !value.isEmpty
            case (.optionalInt, is Int), (.optionalString, is String): true
            default: false
            }
        }
    }

    private static let names = ["a", "b", "c", "d"]
    /// The first key of objects that the block makes.
    private static let firstMade = 1_000

    private static func thing(_ kinds: [Kind]) -> ObjectBase.Type {
        func first<A: _Persistable>(_ a: A.Type) -> ObjectBase.Type { second(a, kinds[1].type) }
        func second<A: _Persistable, B: _Persistable>(_ a: A.Type, _ b: B.Type) -> ObjectBase.Type {
            third(a, b, kinds[2].type)
        }
        func third<A: _Persistable, B: _Persistable, C: _Persistable>(
            _ a: A.Type,
            _ b: B.Type,
            _ c: C.Type
        ) -> ObjectBase.Type { last(a, b, c, kinds[3].type) }
        func last<A: _Persistable, B: _Persistable, C: _Persistable, D: _Persistable>(
            _ a: A.Type,
            _ b: B.Type,
            _ c: C.Type,
            _ d: D.Type
        ) -> ObjectBase.Type { RandomThing<A, B, C, D>.self }
        return first(kinds[0].type)
    }

    /// What the block does, decided beforehand, so that it can run twice.
    private struct Deeds: Sendable {
        var renames: [(from: String, to: String)] = []
        /// The rows that are read, by property.
        var reads: [String: Set<Int>] = [:]
        var discards: Set<String> = []
        var deletes: Set<Int> = []
        /// How many objects the block makes before each rename.
        var creates = 0
        /// The rows that get a new value, by property.
        var writes: [String: Set<Int>] = [:]
        var seed: UInt64
    }

    private struct Loss: Hashable, CustomStringConvertible {
        var name: String
        var count: Int
        var isRetyped: Bool
        var description: String { "\(name): \(count)\(isRetyped ? ", retyped" : "")" }
    }

    @Test func `what is said to be lost is what a dictionary counts`() async throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = SplitMix64(seed: seed)
        var lossCount = 0
        var refusedCount = 0
        let rounds = 200
        for round in 0..<rounds {
            let directory = TemporaryDirectory()
            let result = try await run(round, directory.path("random.realm"), &random, "seed \(seed), round \(round)")
            lossCount += result.losses
            refusedCount += result.isRefused ? 1 : 0
        }
        print("Random migrations: \(rounds), \(lossCount) losses, \(refusedCount) refused, seed \(seed).")
        // The test is of no use when nothing is ever lost, or nothing ever goes through.
        #expect(lossCount > rounds / 4 && refusedCount > rounds / 10 && refusedCount < rounds * 9 / 10, "seed \(seed)")
    }

    private func run(
        _ round: Int,
        _ path: String,
        _ random: inout SplitMix64,
        _ comment: Comment
    ) async throws -> (losses: Int, isRefused: Bool) {
        let before = Self.names.map { _ in Kind.allCases.randomElement(using: &random)! }
        let after = before.map { kind in
            Int.random(in: 0...2, using: &random) == 0 ? kind : Kind.allCases.randomElement(using: &random)!
        }
        let (oldType, newType) = (Self.thing(before), Self.thing(after))
        var rows: [[Any?]] = []
        for _ in 0..<Int.random(in: 0...40, using: &random) { rows.append(before.map { $0.value(&random) }) }
        let journal = MigrationJournal()
        var configuration = Realm.Configuration(
            fileURL: URL(fileURLWithPath: path),
            schemaVersion: 1,
            objectTypes: [oldType]
        )
        configuration.durability = .unflushed
        configuration.logger = journal.logger
        try withNewRealm(configuration) { realm in
            try realm.write {
                for (id, row) in rows.enumerated() {
                    var values: [String: Any] = ["id": id]
                    for (name, value) in zip(Self.names, row) where value != nil { values[name] = value }
                    realm.dynamicCreate("Thing", value: values)
                }
            }
        }
        let deeds = Self.deeds(before, after, rows.count, &random)
        let expected = Self.losses(before, after, rows, deeds)

        configuration.schemaVersion = 2
        configuration.objectTypes = [newType]
        let plan = try await Realm.migrationPlan(for: configuration)
        for change in plan.changes where change.kind != .added && change.kind != .keyChanged {
            let index = try #require(Self.names.firstIndex(of: change.propertyName ?? ""), comment)
            let count = rows.count { before[index].isValue($0[index]) }
            #expect(change.valueCount == count && change.objectCount == rows.count, "\(comment), \(change)")
        }

        let isRefusing = Bool.random(using: &random)
        if isRefusing { configuration.migrationLossPolicy = .refuse }
        configuration.migrationBlock = Self.block(after, deeds)
        let refused = isRefusing ? expected : expected.filter(\.isRetyped)
        do {
            try withNewRealm(configuration) { realm in
                #expect(refused.isEmpty, comment)
                let ids = Set(realm.dynamicObjects("Thing").compactMap { $0["id"] as? Int })
                let made = Set((0..<deeds.creates * deeds.renames.count).map { Self.firstMade + $0 })
                #expect(ids == Set(0..<rows.count).subtracting(deeds.deletes).union(made), comment)
                // What stays is as it was.
                for (index, name) in Self.names.enumerated()
                where before[index].keeps(after[index]) && after[index] != .absent && before[index] == .string
                    && !deeds.renames.contains(where: { $0.to == name })
                {
                    for object in realm.dynamicObjects("Thing") {
                        guard let id = object["id"] as? Int, id < rows.count, deeds.writes[name]?.contains(id) != true
                        else { continue }
                        #expect((object[name] as? String ?? "") == rows[id][index] as? String, comment)
                    }
                }
            }
            let warned = journal.lines(.warn)
                .map { line in
                    func part(_ name: String) -> String {
                        guard let start = line.range(of: "\(name): ")?.upperBound else { return "?" }
                        return String(line[start...].prefix { $0 != "," && $0 != "]" })
                    }
                    return Loss(
                        name: part("migration.property"),
                        count: Int(part("migration.lost")) ?? -1,
                        isRetyped: false
                    )
                }
            #expect(warned == expected, "\(comment), \(before) to \(after), \(deeds)")
            return (expected.count, false)
        } catch let error as Realm.Error {
            #expect(error.code == .lossyMigration, "\(error), \(comment)")
            #expect(!refused.isEmpty, "\(error), \(comment), \(before) to \(after), \(deeds)")
            #expect(
                error.details
                    == Realm.Error.Details(
                        className: "Thing",
                        propertyName: refused.first?.name,
                        count: refused.first?.count
                    ),
                "\(error), \(comment), \(before) to \(after), \(deeds)"
            )
            #expect(try schemaVersionAtURL(URL(fileURLWithPath: path)) == 1, comment)
            return (expected.count, true)
        }
    }

    private static func deeds(_ before: [Kind], _ after: [Kind], _ count: Int, _ random: inout SplitMix64) -> Deeds {
        var deeds = Deeds(seed: random.next())
        func some(_ names: [String]) -> Set<String> {
            Set(names.filter { _ in Int.random(in: 0...4, using: &random) == 0 })
        }
        let stored = names.indices.filter { before[$0] != .absent }.map { names[$0] }
        // In an order that the seed decides.
        for name in some(stored).sorted() {
            let isPart = Bool.random(using: &random)
            deeds.reads[name] = Set((0..<count).filter { _ in isPart ? Bool.random(using: &random) : true })
        }
        deeds.discards = some(stored)
        deeds.creates = Int.random(in: 0...2, using: &random)
        for index in names.indices where before[index] != .absent && after[index] == .absent {
            let targets = names.indices.filter { after[$0] != .absent && before[index].keeps(after[$0]) }
            guard Bool.random(using: &random), let target = targets.randomElement(using: &random) else { continue }
            deeds.renames.append((names[index], names[target]))
        }
        if Bool.random(using: &random) {
            deeds.deletes = Set((0..<count).filter { _ in Int.random(in: 0...3, using: &random) == 0 })
        }
        for index in names.indices where after[index] != .absent {
            switch Int.random(in: 0...2, using: &random) {
            case 0: deeds.writes[names[index]] = Set(0..<count)
            case 1: deeds.writes[names[index]] = Set((0..<count).filter { _ in Bool.random(using: &random) })
            default: break
            }
        }
        return deeds
    }

    private static func block(_ after: [Kind], _ deeds: Deeds) -> MigrationBlock {
        { migration, _ in
            var random = SplitMix64(seed: deeds.seed)
            for (index, rename) in deeds.renames.enumerated() {
                for number in 0..<deeds.creates {
                    var values: [String: Any] = ["id": firstMade + index * deeds.creates + number]
                    for (name, kind) in zip(names, after) {
                        if let value = kind.value(&random) { values[name] = value }
                    }
                    migration.create("Thing", value: values)
                }
                migration.renameProperty(onType: "Thing", from: rename.from, to: rename.to)
            }
            for name in deeds.discards { migration.discardValues(ofProperty: name, onType: "Thing") }
            migration.enumerateObjects(ofType: "Thing") { old, new in
                let id = old?["id"] as? Int ?? -1
                for (name, ids) in deeds.reads where ids.contains(id) { _ = old?[name] }
                if deeds.deletes.contains(id) { return migration.delete(new!) }
                for (name, ids) in deeds.writes where ids.contains(id) {
                    new?[name] = after[names.firstIndex(of: name)!].value(&random)
                }
            }
        }
    }

    /// What a dictionary of all values says.
    private static func losses(_ before: [Kind], _ after: [Kind], _ rows: [[Any?]], _ deeds: Deeds) -> [Loss] {
        // What stands in each property that the block can rename to, before it goes through the objects.
        var origin = names.indices.map { before[$0].keeps(after[$0]) && before[$0] != .absent ? $0 : nil }
        var overwritten: [Int: [Int]] = [:]
        for rename in deeds.renames {
            let (source, target) = (names.firstIndex(of: rename.from)!, names.firstIndex(of: rename.to)!)
            if let replaced = origin[target] {
                let found = rows.indices.filter { before[replaced].isValue(rows[$0][replaced]) }
                if !found.isEmpty { overwritten[replaced] = found }
            }
            origin[target] = source
        }
        /// How many of some rows are neither read nor deleted.
        func unread(_ ids: [Int], _ index: Int) -> Int {
            ids.count { deeds.reads[names[index]]?.contains($0) != true && !deeds.deletes.contains($0) }
        }
        return names.indices.compactMap { index -> Loss? in
            guard before[index] != .absent, !deeds.discards.contains(names[index]) else { return nil }
            let left = rows.indices.filter { !deeds.deletes.contains($0) && before[index].isValue(rows[$0][index]) }
            let isRetyped = after[index] != .absent && !before[index].keeps(after[index])
            let isTarget = deeds.renames.contains { $0.to == names[index] }
            var count = 0
            if let known = overwritten[index] {
                count = unread(known, index)
            } else if isRetyped && !isTarget {
                count = left.count { deeds.writes[names[index]]?.contains($0) != true }
            } else if isRetyped
                || after[index] == .absent && !deeds.renames.contains(where: { $0.from == names[index] })
            {
                count = unread(left, index)
            }
            return count == 0 ? nil : Loss(name: names[index], count: count, isRetyped: isRetyped && !isTarget)
        }
    }
}
