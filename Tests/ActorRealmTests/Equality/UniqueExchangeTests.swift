import ActorRealm
import Foundation
import Testing

/// Two objects may have one unique value until the transaction commits: what is read meanwhile says so.
@Suite struct UniqueExchangeTests {
    @Test func `results over a unique property can be read while two objects exchange their values`() throws {
        let realm = try termRealm()
        let (one, two) = try realm.write {
            let terms = ["1", "2"].map { realm.create(Term.self, value: ["id": $0, "code": "code \($0)"]) }
            return (terms[0], terms[1])
        }
        let first = realm.objects(Term.self).where { $0.code == "code 1" }
        let second = realm.objects(Term.self).filter("code == 'code 2'")
        let either = realm.objects(Term.self).where { $0.code.in(["code 1", "code 2"]) }
        #expect(first.map(\.id) == ["1"] && second.map(\.id) == ["2"] && Array(either).count == 2)
        try realm.write {
            one.code = "code 2"
            #expect(first.count == 0 && Array(first).isEmpty && first.first == nil)
            #expect(second.count == 2 && Array(second).map(\.id) == ["1", "2"])
            #expect(second.map(\.id) == ["1", "2"] && second.last?.id == "2" && second[1].id == "2")
            #expect(Array(either).map(\.id) == ["1", "2"] && either.count == 2)
            #expect(Array(realm.objects(Term.self).where { $0.code == "code 2" }).count == 2)
            two.code = "code 1"
            #expect(Array(first).map(\.id) == ["2"] && Array(second).map(\.id) == ["1"])
            #expect(first.count == 1 && second.count == 1)
        }
        #expect(Array(first).map(\.id) == ["2"] && Array(second).map(\.id) == ["1"])
        try realm.verify()
    }
}
