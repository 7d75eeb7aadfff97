import ActorRealm
import Foundation
import Testing

/// The names of what `insert` reads are told apart by their bytes.
@Suite struct InputNameTests {
    class Measured: Object {
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
        override class func propertiesMapping() -> [String: String] { ["size": "gr\u{F6}\u{DF}e"] }
        @Persisted var size: Int
        @Persisted var scores: Map<String, Int>
        @Persisted var free: AnyRealmValue
        @Persisted var next: Measured?
    }

    private let escaped = #"caf\u00e9"#

    private func bytes(_ texts: some Sequence<String>) -> [[UInt8]] { texts.map { Array($0.utf8) } }

    private func both(_ first: String = composed, _ second: String = decomposed) -> String {
        #"{"\#(first)": 1, "\#(second)": 2, "=": 3, "=63": 4, "a\"b": 5, "text": 6}"#
    }

    @Test func `JSON keeps both spellings of a name, escaped or not`() throws {
        let realm = try memoryRealm([Measured.self])
        for object in [both(), both(escaped)] {
            let json = #"{"scores": \#(object), "free": [\#(object)], "next": {"scores": \#(object)}}"#
            let measured = try realm.write { try realm.insert(Measured.self, json: Data(json.utf8)) }
            let names = bytes(["=", "=63", "a\"b", decomposed, composed, "text"])
            #expect(bytes(measured.scores.keys) == names)
            #expect(measured.scores[composed] == 1 && measured.scores[decomposed] == 2 && measured.scores["=63"] == 4)
            #expect(measured.next?.scores.count == 6)
            let map = try #require(measured.free.listValue?.first?.dictionaryValue)
            #expect(bytes(map.keys) == names && map[decomposed]?.intValue == 2)
        }
    }

    @Test func `a name is that of a property when its bytes are`() throws {
        let realm = try memoryRealm([Measured.self])
        let composed = "gr\u{F6}\u{DF}e"
        let decomposed = "gro\u{308}\u{DF}e"
        try realm.write {
            #expect(try realm.insert(Measured.self, json: Data(#"{"\#(composed)": 7}"#.utf8)).size == 7)
            #expect(throws: Realm.Error.self) {
                try realm.insert(Measured.self, json: Data(#"{"\#(composed)": 7, "\#(decomposed)": 8}"#.utf8))
            }
            let lenient = try realm.insert(
                Measured.self,
                json: Data(#"{"\#(decomposed)": 8, "\#(composed)": 7}"#.utf8),
                ignoringUnknownKeys: true
            )
            #expect(lenient.size == 7)
        }
    }

    @Test func `names that look spelled are taken as they are, in every encoding`() throws {
        let realm = try memoryRealm([Measured.self])
        let json = #"{"scores": {"=zz": 1, "=6": 2, "=63": 3, "=": 4}}"#
        for encoding in [String.Encoding.utf8, .utf16LittleEndian, .utf16BigEndian, .utf32LittleEndian] {
            let data = try #require(json.data(using: encoding))
            let measured = try realm.write { try realm.insert(Measured.self, json: data) }
            #expect(measured.scores.keys == ["=", "=6", "=63", "=zz"], "\(encoding)")
        }
        for text in ["\"", "{\"", "{\"a\\", "{\"\\u\":1}", "{\"\u{E9}", "{\"\u{E9}\"", "[\"=\":"] {
            #expect(throws: Realm.Error.self) {
                try realm.write { try realm.insert(Measured.self, json: Data(text.utf8)) }
            }
        }
    }
}
