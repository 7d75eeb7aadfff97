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

    @Test func `a name is the same with an escape that it does not need`() throws {
        let realm = try memoryRealm([Measured.self])
        let json = #"{"s\u0063ores": {"\u0061": 2, "b\/c": 3}, "free": {"\u0020": 6}}"#
        let measured = try realm.write { try realm.insert(Measured.self, json: Data(json.utf8)) }
        #expect(measured.scores.map { "\($0.key) \($0.value)" } == ["a 2", "b/c 3"])
        #expect(measured.free.dictionaryValue?[" "]?.intValue == 6)
    }

    @Test func `a name that stands twice in one object is refused, and in two objects is not`() throws {
        let realm = try memoryRealm([Measured.self])
        func insert(_ json: String) throws {
            try realm.write { _ = try realm.insert(Measured.self, json: Data(json.utf8), ignoringUnknownKeys: true) }
        }
        for (json, name, place) in [
            (#"{"size": 1, "size": 2}"#, "size", "line 1, column 13"),
            (#"{"scores": {"a": 1, "\u0061": 2}}"#, "a", "line 1, column 21"),
            ("{\"free\": [{}, {\"b/c\": [{}],\n \"b\\/c\": 4}]}", "b/c", "line 2, column 2"),
            (#"{"next": {"next": {"size": 1}, "next": {}}}"#, "next", "line 1, column 32"),
            (#"{"unknown": {"=61": 1, "=61": 1}}"#, "=61", "line 1, column 24"),
            (#"{"scores": {"\#(composed)": 1, "\#(escaped)": 1}}"#, composed, "line 1"),
        ] {
            let error = #expect(throws: Realm.Error.self) { try insert(json) }
            #expect(error?.code == .invalidInput && error?.message.contains("'\(name)'") == true, "\(json)")
            #expect(error?.message.contains(place) == true, "\(error?.message ?? "")")
        }
        #expect(realm.isEmpty)
        try insert(#"{"size": 1, "next": {"size": 2, "scores": {"size": 3}}, "free": [{"a": "a"}, {"a": {"a": {}}}]}"#)
        try insert(#"{"free": ["a", "a", {"a": "{", "b": "}"}, "a"], "scores": {"a": 1}}"#)
        #expect(realm.objects(Measured.self).count == 3)
        #expect(throws: Realm.Error.self) { try insert(#""size": 1, "size": 2"#) }
        // What nests deeper than anything that is read is refused in memory of its own size.
        let deep = String(repeating: #"{"free":"#, count: 100_000)
        #expect(throws: Realm.Error.self) { try insert(deep) }
        #expect(throws: Realm.Error.self) { try insert(deep + String(repeating: "}", count: 100_000)) }
    }

    class Maybe: Object {
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
        @Persisted var count: Int?
        @Persisted var weight: Double?
        @Persisted var text: String?
        @Persisted var price: Decimal128?
        @Persisted var date: Date?
        @Persisted var counts: List<Int?>
        @Persisted var texts: Map<String, String?>
        @Persisted var free: AnyRealmValue
        @Persisted var next: Maybe?
    }

    @Test func `what a decoder cannot read is not taken for null`() throws {
        let realm = try memoryRealm([Maybe.self])
        func insert(_ json: some Sequence<UInt8>) throws {
            try realm.write { _ = try realm.insert(Maybe.self, json: Data(json), ignoringUnknownKeys: true) }
        }
        let numbers = ["01", "-", "1e", "1.", "1.2.3", "--1", "1e9999", "-1e9999"]
        let texts = [#""\ud800""#, #""\udc00\ud800""#, #""\x""#, "\"a\u{1}b\"", "\"a\nb\""]
        for value in numbers + texts {
            for name in ["count", "weight", "text", "price", "date", "free", "next"] {
                let error = #expect(throws: Realm.Error.self) { try insert("{\"\(name)\": \(value)}".utf8) }
                #expect(error?.code == .invalidInput, "\(name): \(value)")
            }
            for json in [
                "{\"counts\": [1, \(value)]}", "{\"texts\": {\"a\": \(value)}}", "{\"free\": {\"a\": [\(value)]}}",
            ] {
                #expect(throws: Realm.Error.self) { try insert(json.utf8) }
            }
            try insert("{\"count\": null, \"unknown\": \(value)}".utf8)
        }
        for json in [#"{"free": {"\ud800": 1}}"#, #"{"texts": {"\ud800": "a"}}"#] {
            #expect(throws: Realm.Error.self) { try insert(json.utf8) }
        }
        // No UTF-8.
        for name in ["text", "free"] {
            #expect(throws: Realm.Error.self) {
                try insert(Array("{\"\(name)\": \"a".utf8) + [0xFF, 0xC0] + Array("\"}".utf8))
            }
        }
        #expect(realm.objects(Maybe.self).count == numbers.count + texts.count)
    }

    @Test func `a comma behind the last member or element is refused, in every encoding`() throws {
        let realm = try memoryRealm([Measured.self])
        func insert(_ data: Data) throws { try realm.write { _ = try realm.insert(Measured.self, json: data) } }
        let refused = [
            #"{"size": 1,}"#, "{\"size\": 1 ,\r\n\t }", #"{"free": [1,]}"#, #"{"free": [1, {"a": 2,}]}"#,
            #"{"free": [[],]}"#, #"{"free": ["]",]}"#, #"{"free": "\"",}"#, #"{"gr\u00f6\u00dfe": 1,}"#, "{,}",
            #"{"free": [,]}"#, #"{"free": [1,,2]}"#, #"{"size": 1}, "#, "{'size': 1}", "{size: 1}",
            #"{"size": 1 /* , */}"#, "{\"size\": 1} // ,",
        ]
        for text in refused {
            for encoding in encodings {
                let error = #expect(throws: Realm.Error.self, "\(text) \(encoding)") {
                    try insert(try #require(text.data(using: encoding)))
                }
                #expect(error?.code == .invalidInput)
            }
        }
        // In a text it is none.
        let taken = [#"{"free": ",}"}"#, #"{"free": [",]", "\",]"]}"#, #"{"scores": {",}": 1, "\",}\u00e9": 2}}"#]
        for text in taken {
            for encoding in encodings { try insert(try #require(text.data(using: encoding))) }
        }
        #expect(realm.objects(Measured.self).count == taken.count * encodings.count)
    }

    @Test func `what stands behind many values that cannot be read is not looked at`() throws {
        let realm = try memoryRealm([Maybe.self])
        func problems(_ unreadable: Int) throws -> String {
            let elements = Array(repeating: "01", count: unreadable) + ["5"]
            let json = "{\"counts\": [\(elements.joined(separator: ","))]}"
            let error = #expect(throws: Realm.Error.self) {
                try realm.write { try realm.insert(Maybe.self, json: Data(json.utf8)) }
            }
            return error?.message ?? ""
        }
        // To say where one stands, a decoder goes over all that stands before, so that many would take hours.
        let some = try problems(19)
        #expect(some.contains("counts[18]: ") && !some.contains("counts[19]"))
        let many = try problems(20)
        #expect(many.contains("counts[19]: ") && many.contains("and 1 more"))
        // What has no place is not read at all.
        let unknown = "{\"unknown\": [\(Array(repeating: "01", count: 20).joined(separator: ","))], \"count\": 5}"
        let object = try realm.write {
            try realm.insert(Maybe.self, json: Data(unknown.utf8), ignoringUnknownKeys: true)
        }
        #expect(object.count == 5)
    }

    @Test func `names are told apart by their bytes in every encoding`() throws {
        let realm = try memoryRealm([Measured.self])
        let json = "{\"scores\": \(both())}"
        var inputs = try encodings.map { try #require(json.data(using: $0)) }
        for (mark, encoding) in marks { inputs.append(Data(mark) + (try #require(json.data(using: encoding)))) }
        for input in inputs {
            let measured = try realm.write { try realm.insert(Measured.self, json: input) }
            #expect(measured.scores.count == 6, "\([UInt8](input.prefix(4)))")
            #expect(measured.scores[composed] == 1 && measured.scores[decomposed] == 2)
        }
        // Half a pair, half a unit, and what is no character.
        let texts: [[UInt8]] = [
            [0x22, 0, 0, 0xD8, 0x22, 0], [0x22, 0, 0x61, 0, 0x22], [0x22, 0, 0, 0, 0, 0, 0x11, 0, 0x22, 0, 0, 0],
            [0xEF, 0xBB, 0xBF, 0xFF, 0xFE, 0x5B, 0, 0x5D, 0],
            [0xFF, 0xFE] + [UInt8](repeating: 0x5B, count: 513).flatMap { [$0, 0, 0, 0] },
        ]
        for broken in texts {
            let error = #expect(throws: Realm.Error.self) {
                try realm.write { try realm.insert(Measured.self, json: Data(broken)) }
            }
            #expect(error?.code == .invalidInput)
        }
    }

    private let encodings = [
        String.Encoding.utf8, .utf16, .utf16LittleEndian, .utf16BigEndian, .utf32, .utf32LittleEndian,
        .utf32BigEndian,
    ]

    /// What marks the order of bytes.
    private let marks: [([UInt8], String.Encoding)] = [
        ([0xEF, 0xBB, 0xBF], .utf8), ([0xFF, 0xFE], .utf16LittleEndian), ([0xFE, 0xFF], .utf16BigEndian),
        ([0xFF, 0xFE, 0, 0], .utf32LittleEndian), ([0, 0, 0xFE, 0xFF], .utf32BigEndian),
    ]

    @Test func `a text that ends with a bracket too deep is refused`() throws {
        let realm = try memoryRealm([Measured.self])
        for depth in 510...515 {
            let texts = [
                String(repeating: "[", count: depth), String(repeating: #"{"":"#, count: depth - 1) + "{",
                #"{"free":"# + String(repeating: "[", count: depth - 1),
            ]
            for text in texts {
                for encoding in encodings {
                    let data = try #require(text.data(using: encoding))
                    #expect(throws: Realm.Error.self) {
                        try realm.write { try realm.insert(Measured.self, json: data) }
                    }
                }
            }
        }
        for encoding in encodings {
            let data = try #require(#"{"size": 5}"#.data(using: encoding))
            #expect(try realm.write { try realm.insert(Measured.self, json: data).size } == 5)
        }
    }
}
