import ActorRealm
import Foundation
import Testing

@Suite("Values of any kind nest 100 levels deep", .timeLimit(.minutes(60)))
struct NestingDepthTests {
    @Test("in a property, a list and a dictionary", arguments: ["value", "values", "mixed"])
    func limits(property: String) throws {
        let realm = try memoryRealm(crateTypes)
        func insert(id: Int, levels: Int) throws -> AnyRealmValue? {
            let value = nested(levels)
            let given: Any =
                switch property {
                case "value": value
                case "values": [value]
                default: ["a": value]
                }
            let crate = try realm.write {
                try realm.insert(Crate.self, value: ["id": id, property: given] as [String: Any])
            }
            switch property {
            case "value": return crate.value
            case "values": return crate.values.first
            default: return crate.mixed["a"]
            }
        }
        let value = try #require(try insert(id: 1, levels: 100))
        #expect(levels(of: value) == 100)
        #expect(throws: Realm.Error.self) { _ = try insert(id: 2, levels: 101) }
    }
}

/// The same by assignment, which ends the process where a value is refused.
@Suite("Values of any kind nest 100 levels deep where they are assigned", .timeLimit(.minutes(60)))
struct AssignedNestingTests {
    @Test("to an entry of a dictionary")
    func entry() throws {
        let realm = try memoryRealm(crateTypes)
        let crate = try realm.write { realm.create(Crate.self, value: ["id": 1]) }
        try realm.write { crate.mixed["a"] = nested(100) }
        #expect(levels(of: crate.mixed["a"]!) == 100)
    }
}

/// Lists in lists, the innermost of which is empty.
private func nested(_ levels: Int) -> AnyRealmValue {
    var value = AnyRealmValue.fromArray([])
    for _ in 1..<levels { value = .fromArray([value]) }
    return value
}

private func levels(of value: AnyRealmValue) -> Int {
    var (value, count) = (value, 0)
    while let list = value.listValue {
        count += 1
        guard let first = list.first else { break }
        value = first
    }
    return count
}
