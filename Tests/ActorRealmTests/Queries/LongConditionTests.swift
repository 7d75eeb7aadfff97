import ActorRealm
import Foundation
import Testing

/// Conditions that a program puts together from lists of any length, on the small stacks of Swift's pool.
@Suite("Long conditions in code")
struct LongConditionTests {
    private static let count = 4_000

    private func filled() throws -> Realm {
        let realm = try memoryRealm([Sheet.self])
        try realm.write {
            for id in 0..<50 { realm.create(Sheet.self, value: ["id": id, "text": "sheet \(id)"]) }
        }
        return realm
    }

    /// Half of a chain names rows that exist, the others do not.
    @Test("Thousands of conditions joined by ||, && and in results of results")
    func chains() async throws {
        let realm = try filled()
        let sheets = realm.objects(Sheet.self)
        let either = sheets.where { sheet in
            (1..<Self.count).reduce(sheet.id == -1) { $0 || sheet.id == ($1.isMultiple(of: 2) ? $1 : -$1) }
        }
        #expect(either.map(\.id) == Array(stride(from: 2, to: 50, by: 2)))
        let all = sheets.where { sheet in (5..<Self.count).reduce(sheet.id >= 4) { $0 && sheet.id != $1 } }
        #expect(all.map(\.id) == [4])
        let none = sheets.where { sheet in !(5..<Self.count).reduce(sheet.id < 4) { $0 || sheet.id == $1 } }
        #expect(none.map(\.id) == [4])
        // From the right, too.
        let right = sheets.where { sheet in
            (1..<1000).reversed().reduce(sheet.text == "sheet 7") { sheet.id == $1 + 40 || $0 }
        }
        #expect(Set(right.map(\.id)) == Set(41..<50).union([7]))
        var refined = sheets
        for id in 1..<200 where id != 30 { refined = refined.where { $0.id != id } }
        #expect(refined.map(\.id) == [0, 30])
    }

    @Test("Conditions that take turns nest, as deep as is allowed")
    func nesting() async throws {
        let realm = try filled()
        let sheets = realm.objects(Sheet.self)
        func nested(_ depth: Int) -> Results<Sheet> {
            sheets.where { sheet in
                (0..<depth).reduce(sheet.id == 3) { $1.isMultiple(of: 2) ? $0 || sheet.id == 5 : $0 && sheet.id < 40 }
            }
        }
        #expect(Set(nested(90).map(\.id)) == [3, 5])
    }
}
