import ActorRealm
import Testing

/// What `explain()` says of unique and compound indexes, and that the answers are right.
@Suite struct IndexPlanTests {
    private func filled() throws -> Realm {
        let realm = try ruledRealm()
        try realm.write {
            for id in 0..<2_000 {
                realm.add(Member(id, "m\(id)@example.com", badge: id * 3, country: "c\(id % 10)", number: 2_000 - id))
            }
        }
        return realm
    }

    @Test func `a unique property is looked up through its index`() throws {
        let realm = try filled()
        let found = realm.objects(Member.self).where { $0.email == "m77@example.com" }
        #expect(found.first?.id == 77 && found.count == 1)
        #expect(found.explain().access == "unique index on email, one value")
        #expect(found.explain().rowsExamined == 1)
        #expect(realm.objects(Member.self).where { $0.badge == 30 }.first?.id == 10)
        #expect(realm.objects(Member.self).where { $0.email == "nobody" }.first == nil)
    }

    @Test func `equal first properties and a range of the next one come from a compound index`() throws {
        let realm = try filled()
        let members = realm.objects(Member.self)
        let narrow = members.where { $0.country == "c3" && $0.number > 500 && $0.number <= 700 }
        #expect(narrow.explain().access == "unique index on (land, number), equal land, a range of number")
        #expect(narrow.explain().conditions.isEmpty && narrow.explain().rowsExamined == 20)
        let expected = Array(1_300..<1_500).filter { $0 % 10 == 3 }
        #expect(Array(narrow.map(\.id)) == expected)
        let one = members.where { $0.number == 1_997 && $0.country == "c3" && $0.email != "x" }
        #expect(one.explain().access == "unique index on (land, number), equal land and number")
        #expect(one.explain().conditions.count == 1 && one.map(\.id) == [3])
        // An index serves the beginning of its properties only.
        #expect(!members.where { $0.number > 5 && $0.number < 900 }.explain().usesIndex)
        let several = members.filter("country IN {'c1', 'c2'} AND number BETWEEN {1, 100}")
        #expect(several.explain().access.contains("(2 combinations), a range of number"))
        let both = Array(1_900..<2_000).filter { [1, 2].contains($0 % 10) }
        #expect(Array(several.map(\.id)) == both)
    }

    @Test func `an index that has the order is walked`() throws {
        let realm = try filled()
        let members = realm.objects(Member.self)
        let youngest = members.where { $0.country == "c4" }.sorted(by: \.number).limit(3)
        #expect(
            youngest.explain().steps.first
                == "sort by number ascending, by the unique index on (land, number), equal land"
        )
        #expect(youngest.map(\.id) == [1_994, 1_984, 1_974])
        let oldest = members.where { $0.country == "c4" }.sorted(by: \.number, ascending: false).limit(3)
        #expect(oldest.explain().steps.first?.hasSuffix("by the unique index on (land, number), equal land") == true)
        #expect(oldest.map(\.id) == [4, 14, 24])
        let byBadge = members.sorted(byKeyPath: "badge", ascending: false)
        #expect(byBadge.explain().steps.first?.hasSuffix("by the unique index on badge") == true)
        let backwards = Array((0..<2_000).reversed())
        #expect(Array(byBadge.map(\.id)) == backwards)
        let byKey = members.sorted(byKeyPath: "id", ascending: false)
        #expect(byKey.explain().steps.first?.hasSuffix("by the primary key on id") == true)
        #expect(byKey.limit(2).map(\.id) == [1_999, 1_998])
        // What no index has in order is sorted.
        let mixed = members.sorted(by: ["number", SortDescriptor(keyPath: "badge", ascending: false)])
        #expect(mixed.explain().steps == ["sort by number ascending, badge descending"])
    }

    @Test func `an order is walked where few are wanted, unless another index leads to the rows`() throws {
        let members = try filled().objects(Member.self)
        let walked = members.where { $0.email != "x" }.sorted(byKeyPath: "badge").limit(3)
        #expect(walked.explain().steps.first?.hasSuffix("by the unique index on badge") == true)
        #expect(Array(walked.map(\.id)) == [0, 1, 2])
        let found = members.where { $0.email == "m77@example.com" }.sorted(byKeyPath: "badge").limit(3)
        #expect(found.explain().steps.first == "sort by badge ascending")
        #expect(Array(found.map(\.id)) == [77])
    }

    @Test func `objects whose links lead to the rows are counted`() throws {
        let realm = try filled()
        let members = realm.objects(Member.self)
        let (one, other) = (members[0], members[1])
        try realm.write {
            members[2].friend = one
            members[3].friend = other
        }
        let friends = members.filter("friend == %@", one)
        #expect(friends.explain().access == "backlinks of friend to one object" && friends.map(\.id) == [2])
        let both = members.filter("friend IN %@", [one, other])
        #expect(both.explain().access == "backlinks of friend to 2 objects" && both.map(\.id) == [2, 3])
    }

    @Test func `writes in a transaction are seen through the index at once`() throws {
        let realm = try filled()
        let members = realm.objects(Member.self)
        try realm.write {
            members.where { $0.country == "c5" && $0.number == 1_995 }.first?.country = "moved"
            let found = members.where { $0.country == "c5" && $0.number > 1_900 }
            let left = Array(6..<100).filter { $0 % 10 == 5 }
            #expect(Array(found.map(\.id)) == left)
            #expect(members.where { $0.country == "moved" }.sorted(by: \.number).first?.id == 5)
            if let first = found.first { realm.delete(first) }
            #expect(Array(found.map(\.id)) == Array(left.dropFirst()))
        }
        #expect(members.where { $0.country == "moved" && $0.number >= 0 }.map(\.id) == [5])
    }
}
