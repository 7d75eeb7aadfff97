import ActorRealm
import Foundation
import Testing

/// A set keeps the same elements before and behind the moment in which its object is added.
@Suite struct UnmanagedSetTests {
    private let values: [AnyRealmValue] = [
        .int(1), .double(1), .float(1), .decimal128("1.00"), .double(.nan), .float(.nan), .double(-.nan),
        .decimal128(.nan),
        .double(0), .double(-0.0), .int(0), .bool(false), .int(1 << 53 + 1), .double(0x1p53), .none, .none,
        .string(composed), .string(decomposed), .string("1"), .date(Date(timeIntervalSinceReferenceDate: .nan)),
        .date(Date(timeIntervalSinceReferenceDate: .nan)), .date(Date(timeIntervalSinceReferenceDate: 1)),
    ]

    @Test func `values of any kind are kept once by the one order`() throws {
        let realm = try termRealm()
        let term = Term("managed")
        try realm.write {
            realm.add(term)
            for value in values { term.anySet.insert(value) }
        }
        let set = MutableSet<AnyRealmValue>()
        for value in values { set.insert(value) }
        #expect(set.count == 12 && term.anySet.count == 12)
        for value in values { #expect(set.contains(value) && term.anySet.contains(value), "\(value)") }
        for value: AnyRealmValue in [.int(2), .bool(true), .string(""), .double(0x1p54)] {
            #expect(!set.contains(value) && !term.anySet.contains(value), "\(value)")
        }
        // Of equal ones the first is kept.
        #expect(set.first == .int(1))
        set.remove(.float(1))
        #expect(set.count == 11 && !set.contains(.int(1)))
        set.remove(.float(.nan))
        #expect(set.count == 10 && !set.contains(.double(.nan)))
    }

    @Test func `numbers are kept once, NaN and both zeros among them`() {
        let numbers = MutableSet<Double>()
        numbers.insert(objectsIn: [.nan, -.nan, 0, -0.0, 1, .nan])
        #expect(numbers.count == 3 && numbers.contains(.nan) && numbers.contains(-0.0))
        let others = MutableSet<Double>()
        others.insert(objectsIn: [1, -0.0, .nan])
        #expect(numbers == others)
        let maybe = MutableSet<Float?>()
        maybe.insert(objectsIn: [nil, .nan, nil, .nan])
        #expect(maybe.count == 2)
        maybe.remove(.nan)
        #expect(maybe.count == 1 && maybe.contains(nil))
    }

    /// A class without a primary key, whose accessors Swift's equality tells apart.
    class Member: Object {
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
        @Persisted var number: Int
    }

    class Group: Object {
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
        @Persisted var terms: MutableSet<Term>
        @Persisted var members: MutableSet<Member>
        @Persisted var anys: MutableSet<AnyRealmValue>
    }

    private func groupRealm() throws -> Realm { try memoryRealm([Term.self, Member.self, Group.self]) }

    @Test func `objects are found also when they were added to a realm meanwhile`() throws {
        let realm = try groupRealm()
        let set = MutableSet<Term>()
        let anys = MutableSet<AnyRealmValue>()
        let terms = (0..<40).map { Term("\($0)") }
        set.insert(objectsIn: terms)
        anys.insert(objectsIn: terms.map { .object($0) })
        try realm.write { realm.add(terms[..<20]) }
        #expect(terms.allSatisfy { set.contains($0) && anys.contains(.object($0)) })
        // Once as they are, and once by other accessors of their rows; then so many that the set grows.
        set.insert(objectsIn: terms)
        set.insert(objectsIn: realm.objects(Term.self))
        anys.insert(objectsIn: terms.map { .object($0) })
        anys.insert(objectsIn: realm.objects(Term.self).map { .object($0) })
        for number in 40..<400 { set.insert(Term("\(number)")) }
        #expect(set.count == 400 && anys.count == 40)
        let found = try #require(realm.object(ofType: Term.self, forPrimaryKey: "7"))
        #expect(set.contains(found) && anys.contains(.object(found)))
        set.remove(found)
        set.remove(terms[8])
        anys.remove(.object(found))
        #expect(set.count == 398 && !set.contains(terms[7]) && !set.contains(terms[8]))
        #expect(anys.count == 39 && !anys.contains(.object(terms[7])))
        set.insert(found)
        #expect(
            set.count == 399 && set.contains(terms[7])
                && set
                    == {
                        let copy = MutableSet<Term>()
                        copy.formUnion(set)
                        return copy
                    }()
        )
    }

    @Test func `accessors of one row are one element`() throws {
        let realm = try groupRealm()
        try realm.write { for number in 0..<5 { realm.create(Member.self, value: ["number": number]) } }
        let group = Group()
        for _ in 0..<2 {
            for member in realm.objects(Member.self) {
                group.members.insert(member)
                group.anys.insert(.object(member))
            }
        }
        #expect(group.members.count == 5 && group.anys.count == 5)
        #expect(
            realm.objects(Member.self).allSatisfy { group.members.contains($0) && group.anys.contains(.object($0)) }
        )
        group.members.insert(Member())
        try realm.write { realm.add(group) }
        #expect(group.members.count == 6 && group.anys.count == 5)
    }

    @Test func `objects that became accessors of one row are one element`() throws {
        let realm = try groupRealm()
        let (first, second) = (Term("1"), Term("1"))
        let set = MutableSet<Term>()
        let anys = MutableSet<AnyRealmValue>()
        set.insert(objectsIn: [first, second])
        anys.insert(objectsIn: [.object(first), .object(second)])
        try realm.write { for term in [first, second] { realm.add(term, update: .all) } }
        set.insert(first)
        anys.insert(.object(second))
        #expect(set.count == 1 && anys.count == 1)
        set.insert(objectsIn: realm.objects(Term.self))
        #expect(set.count == 1 && set.contains(second))
        set.remove(second)
        anys.remove(.object(first))
        let others = [first, second] + Array(realm.objects(Term.self))
        #expect(set.isEmpty && others.allSatisfy { !set.contains($0) && !anys.contains(.object($0)) })
    }

    @Test func `a list in a set of values is refused wherever it comes from, and by its place`() throws {
        let realm = try groupRealm()
        let lists: [AnyRealmValue] = [.fromArray([.int(1)]), .fromDictionary(["a": .none]), .fromArray([])]
        func refused(_ place: String?, _ body: () throws -> Void) {
            let error = #expect(throws: Realm.Error.self) { try realm.write { try body() } }
            #expect(error?.code == .invalidInput)
            let message = error?.message ?? ""
            #expect(message.contains("a set of values of any kind"), "\(message)")
            if let place { #expect(message.contains("anys[\(place)]: "), "\(message)") }
        }
        for list in lists {
            refused("1") { try realm.insert(Group.self, value: ["anys": [.int(1), list] as [AnyRealmValue]]) }
            let group = Group()
            group.anys.insert(objectsIn: [.int(1), list])
            refused("1") { try realm.insert(Group.self, value: group) }
            refused(nil) { try realm.insert(group) }
            #expect(group.realm == nil && group.anys.count == 2)
        }
        for json in [#"{"anys": [[]]}"#, #"{"anys": [{"a": 1}]}"#] {
            refused("0") { try realm.insert(Group.self, json: Data(json.utf8)) }
        }
        #expect(realm.objects(Group.self).isEmpty)
        let group = try realm.write { try realm.insert(Group.self, value: ["anys": [1]]) }
        try realm.write {
            for list in lists {
                #expect(!group.anys.contains(list))
                group.anys.remove(list)
            }
        }
        #expect(group.anys.count == 1)
    }

    @Test func `lists and dictionaries are known by what they hold when they are put in`() {
        let set = MutableSet<AnyRealmValue>()
        let list = List<AnyRealmValue>()
        set.insert(.list(list))
        list.append(.object(Member()))
        #expect(!set.contains(.list(list)) && set.contains(.fromArray([])))
        for _ in 0..<2 { set.insert(.list(list)) }
        #expect(set.count == 2 && set.contains(.list(list)))
        set.remove(.fromArray([]))
        #expect(set.count == 1 && set.contains(.list(list)))
        set.insert(.fromDictionary(["a": .int(1)]))
        set.insert(.fromDictionary(["a": .decimal128("1.0")]))
        #expect(set.count == 2)
    }
}
