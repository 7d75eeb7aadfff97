import ActorRealm
import Foundation
import Testing

/// A property list has dates and data of its own.
@Suite struct PropertyListInputTests {
    class Packed: Object {
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
        @Persisted var date: Date
        @Persisted var free: AnyRealmValue
        @Persisted var list: List<AnyRealmValue>
        @Persisted var set: MutableSet<AnyRealmValue>
        @Persisted var count: Int
        @Persisted var price: Decimal128
    }

    private static let date = Date(timeIntervalSinceReferenceDate: 12_345)
    private static let data = Data([1, 2, 3])

    private func decode(
        _ values: [String: Any],
        isBinary: Bool,
        _ body: @escaping (any Decoder) throws -> Void
    ) throws {
        let list = try PropertyListSerialization.data(
            fromPropertyList: values,
            format: isBinary ? .binary : .xml,
            options: 0
        )
        try decode(list, body)
    }

    private func decode(_ list: Data, _ body: @escaping (any Decoder) throws -> Void) throws {
        let decoder = PropertyListDecoder()
        decoder.userInfo[DecoderUse.key] = DecoderUse(body)
        _ = try decoder.decode(DecoderUse.Place.self, from: list)
    }

    @Test(arguments: [true, false])
    func `dates and data are values of any kind`(isBinary: Bool) throws {
        let realm = try memoryRealm([Packed.self])
        let values: [String: Any] = [
            "date": Self.date, "free": ["a": Self.date, "b": [Self.data]] as [String: Any],
            "list": [Self.date, Self.data, true, 2, 2.5, "x"] as [Any], "set": [Self.data],
        ]
        try decode(values, isBinary: isBinary) { decoder in
            try realm.write { _ = try realm.insert(Packed.self, from: decoder) }
        }
        let packed = try #require(realm.objects(Packed.self).first)
        #expect(packed.date == Self.date && packed.set.first == .data(Self.data))
        #expect(packed.free.dictionaryValue?["a"] == .date(Self.date))
        #expect(packed.free.dictionaryValue?["b"]?.listValue?.first == .data(Self.data))
        let expected: [AnyRealmValue] = [
            .date(Self.date), .data(Self.data), .bool(true), .int(2), .double(2.5), .string("x"),
        ]
        #expect(Array(packed.list) == expected)
    }

    @Test func `a date for another type is refused as a date`() throws {
        let realm = try memoryRealm([Packed.self])
        let error = #expect(throws: Realm.Error.self) {
            try decode(["count": Self.date], isBinary: true) { decoder in
                try realm.write { _ = try realm.insert(Packed.self, from: decoder) }
            }
        }
        #expect(error?.message.contains("(Date)") == true, "\(String(describing: error))")
    }

    @Test(arguments: [true, false])
    func `a decimal has all digits of a whole number beyond those of an integer`(isBinary: Bool) throws {
        let realm = try memoryRealm([Packed.self])
        let encoder = PropertyListEncoder()
        encoder.outputFormat = isBinary ? .binary : .xml
        let numbers: [UInt64] = [.max, .max - 1, UInt64(Int64.max) + 1, UInt64(Int64.max), 5, 0]
        for number in numbers {
            try decode(encoder.encode(["price": number])) { decoder in
                try realm.write { _ = try realm.insert(Packed.self, from: decoder) }
            }
            #expect(realm.objects(Packed.self).last?.price.stringValue == "\(number)")
        }
        try decode(encoder.encode(["price": 2.5])) { decoder in
            try realm.write { _ = try realm.insert(Packed.self, from: decoder) }
        }
        #expect(realm.objects(Packed.self).last?.price.stringValue == "2.5")
    }
}
