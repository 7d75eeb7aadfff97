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

    @Test func `results over a unique compound index can be read while two objects exchange their values`() throws {
        let realm = try ruledRealm()
        let (one, two) = try realm.write {
            let members = [Member(1, "ann", country: "at", number: 7), Member(2, "bo", country: "de", number: 8)]
            for member in members { realm.add(member) }
            return (members[0], members[1])
        }
        let first = realm.objects(Member.self).where { $0.country == "at" && $0.number == 7 }
        let second = realm.objects(Member.self).where { $0.country == "de" && $0.number == 8 }
        func ids(_ results: Results<Member>) -> [Int] { Array(results).map(\.id).sorted() }
        #expect(ids(first) == [1] && ids(second) == [2])
        try realm.write {
            one.country = "de"
            #expect(ids(first).isEmpty && first.first == nil && ids(second) == [2])
            one.number = 8
            #expect(ids(first).isEmpty && ids(second) == [1, 2] && second.count == 2)
            #expect(ids(realm.objects(Member.self).where { $0.number == 8 && $0.country == "de" }) == [1, 2])
            (two.country, two.number) = ("at", 7)
            #expect(ids(first) == [2] && ids(second) == [1] && first.count == 1 && second.count == 1)
        }
        #expect(ids(first) == [2] && ids(second) == [1])
        #expect(throws: Realm.Error(.duplicateValue)) {
            try realm.write {
                (two.country, two.number) = ("de", 8)
                #expect(ids(second) == [1, 2])
            }
        }
        #expect(ids(first) == [2] && ids(second) == [1])
        try realm.verify()
    }
}
