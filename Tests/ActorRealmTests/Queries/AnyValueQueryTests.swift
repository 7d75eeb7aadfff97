import ActorRealm
import Foundation
import Testing

class Docket: Object {
    @Persisted var id = 0
    @Persisted var data: Data
    @Persisted var boss: Docket?
    @Persisted var free: AnyRealmValue
    @Persisted var frees: List<AnyRealmValue>

    convenience init(_ id: Int, _ free: AnyRealmValue = .none) {
        self.init()
        self.id = id
        self.free = free
    }

    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

class DocketStub: Object {
    @Persisted var id = 0
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// Values of any kind compare with texts, data and links as properties of those types do.
@Suite struct AnyValueQueryTests {
    private func filled(_ dockets: [Docket]) throws -> Realm {
        let realm = try memoryRealm([Docket.self, DocketStub.self])
        try realm.write { for docket in dockets { realm.add(docket) } }
        return realm
    }

    private func ids(_ realm: Realm, _ format: String) -> [Int] { realm.objects(Docket.self).filter(format).map(\.id) }

    @Test func `texts in values of any kind are looked for in lists without case and accents`() throws {
        let values: [AnyRealmValue] = [
            .string("Abc"), .string("\u{E1}bc"), .string("x"), .data(Data("Abc".utf8)), .int(1), .none,
        ]
        let realm = try filled(values.enumerated().map { Docket($0.offset, $0.element) })
        #expect(ids(realm, "free IN {'ABC', 'X'}").isEmpty && ids(realm, "free IN {'x', 'Abc'}") == [0, 2])
        #expect(ids(realm, "free IN[c] {'ABC', 'X'}") == [0, 2])
        #expect(ids(realm, "free IN[d] {'abc'}") == [1] && ids(realm, "free IN[cd] {'ABC'}") == [0, 1])
        #expect(ids(realm, "NOT free IN[cd] {'ABC'}") == [2, 3, 4, 5])
        let withNothing: [String?] = ["ABC", nil]
        #expect(realm.objects(Docket.self).filter("free IN[c] %@", withNothing).map(\.id) == [0, 5])
        let docket = try #require(realm.objects(Docket.self).last)
        try realm.write { docket.frees.append(objectsIn: [.int(3), .string("Xyz")]) }
        #expect(ids(realm, "ANY frees IN {'XYZ'}").isEmpty && ids(realm, "ANY frees IN[c] {'XYZ'}") == [5])
        #expect(ids(realm, "NONE frees IN[c] {'XYZ'}") == [0, 1, 2, 3, 4])
        #expect(ids(realm, "ALL frees IN[c] {'xyz', '3'}") == [0, 1, 2, 3, 4])
    }

    @Test func `a link is equal to a value of any kind that holds the same object`() throws {
        let dockets = (0..<5).map { Docket($0) }
        let realm = try filled(dockets)
        try realm.write {
            for docket in dockets[0...2] { docket.free = .object(dockets[1]) }
            (dockets[0].boss, dockets[2].boss, dockets[4].boss) = (dockets[1], dockets[0], dockets[0])
            // It has the number in its class that the boss has in another.
            dockets[4].free = .object(realm.create(DocketStub.self))
            dockets[0].frees.append(objectsIn: [.string("x"), .object(dockets[2]), .object(dockets[1])])
            dockets[2].frees.append(.object(dockets[1]))
        }
        #expect(realm.objects(Docket.self).filter("free == %@", dockets[1]).map(\.id) == [0, 1, 2])
        // Where both are nothing, they are equal.
        #expect(ids(realm, "free == boss") == [0, 3] && ids(realm, "boss == free") == [0, 3])
        #expect(ids(realm, "free != boss") == [1, 2, 4] && ids(realm, "free == boss.boss") == [2, 3])
        #expect(ids(realm, "free == SELF") == [1] && ids(realm, "SELF == free") == [1])
        #expect(ids(realm, "boss IN frees") == [0] && ids(realm, "ANY frees == boss") == [0])
        #expect(ids(realm, "NONE frees == boss") == [1, 2, 3, 4] && ids(realm, "ANY frees == boss.boss") == [2])
        #expect(ids(realm, "free < boss").isEmpty)
    }

    @Test func `data in values of any kind contain the data of a property, and the other way round`() throws {
        let bytes: [(data: [UInt8], free: AnyRealmValue)] = [
            ([1, 2], .data(Data([1, 2, 3]))), ([2, 3], .data(Data([1, 2, 3]))), ([1, 2, 3], .data(Data([2]))),
            ([0x39], .string("9")), ([], .none),
        ]
        let realm = try filled(
            bytes.enumerated()
                .map {
                    let docket = Docket($0.offset, $0.element.free)
                    docket.data = Data($0.element.data)
                    return docket
                }
        )
        #expect(ids(realm, "free BEGINSWITH data") == [0] && ids(realm, "free ENDSWITH data") == [1])
        #expect(ids(realm, "free CONTAINS data") == [0, 1] && ids(realm, "data CONTAINS free") == [2])
        #expect(ids(realm, "data BEGINSWITH free").isEmpty && ids(realm, "free > data") == [0, 2])
        #expect(ids(realm, "free CONTAINS[c] data").isEmpty)
    }
}
