import Foundation
import RealmModel
import Testing

@testable import RealmQuery

@Suite("Folded and patterned text")
struct TextFoldingTests {
    static let cases: [(value: String, predicate: String, matches: Bool)] = [
        ("Straße", "s ==[c] 'STRASSE'", false), ("Straße", "s ==[c] 'STRAßE'", true), ("ΣΑΣ", "s ==[c] 'σας'", true),
        ("ДОМ", "s ==[c] 'дом'", true), ("É", "s ==[c] 'é'", true), ("É", "s ==[d] 'E'", true),
        ("É", "s ==[d] 'e'", false),
        ("É", "s ==[cd] 'e'", true), ("e\u{301}", "s ==[d] 'e'", true), ("ế", "s ==[cd] 'E'", true),
        ("\u{623}", "s ==[d] '\\u0627\\u0654'", true), ("\u{915}\u{93C}", "s ==[d] '\\u0958'", true),
        ("\u{915}\u{93C}", "s ==[d] '\\u0915'", true), ("\u{627}\u{653}", "s == '\\u0622'", false),
        // Vowels are no accents.
        ("\u{F56}\u{F72}", "s ==[d] '\\u0F56\\u0F74'", false), ("\u{D9A}\u{DCA}", "s ==[d] '\\u0D9A'", false),
        ("Ångström", "s CONTAINS[cd] 'STRO'", true), ("İ", "s ==[c] 'i'", false), ("K", "s ==[c] '\\u212A'", true),
        ("日本語", "s LIKE '?本?'", true), ("日本語", "s LIKE '??'", false), ("a*b", "s LIKE 'a*b'", true),
        ("aXXb", "s LIKE 'a*b'", true), ("aXXbc", "s LIKE 'a*b'", false), ("AxB", "s LIKE[c] 'a?b'", true),
        ("", "s LIKE '*'", true), ("", "s LIKE '?'", false), ("ß", "s BEGINSWITH '\\u00df'", true),
        ("abc", "s ENDSWITH[c] 'BC'", true), ("abcabd", "s CONTAINS 'abd'", true), ("ab", "s CONTAINS 'abc'", false),
    ]

    @Test("Strings match as documented", arguments: cases)
    func matches(value: String, text: String, expected: Bool) throws {
        let world = try QueryWorld(seed: 3, itemCount: 3)
        try world.begin()
        let table = try world.table("Item")
        let key = try table.insert(primaryKey: .int(1_000))
        try table.set(table.schema.ordinal(of: "s")!, key: key, to: .string(value))
        try world.commit()
        let predicate = try Predicate.parse(text)
        let query = try CompiledQuery(predicate, table: table)
        #expect(try query.matches(key: key) == expected)
        #expect(try query.keys().contains(key) == expected)
    }

    @Test("Without accents, a letter in one character is the same as in several")
    func decomposition() throws {
        let folding = TextFolding(options: .diacriticInsensitive)
        for index in stride(from: 0, to: DiacriticTable.pairs.count, by: 2) {
            let letter = String(Character(try #require(Unicode.Scalar(DiacriticTable.pairs[index]))))
            let parts = letter.decomposedStringWithCanonicalMapping
            #expect(folding.fold(letter) == folding.fold(parts), "U+\(String(DiacriticTable.pairs[index], radix: 16))")
        }
    }

    @Test("Bytes that are no UTF-8 stay as they are, among others that are folded")
    func keepsOtherBytes() {
        let text: [UInt8] = [0x41, 0xFF, 0x42, 0xC3, 0x89, 0xC3]
        var folded: [UInt8] = []
        text.withUnsafeBytes {
            TextFolding(options: [.caseInsensitive, .diacriticInsensitive]).fold($0, into: &folded)
        }
        #expect(folded == [0x61, 0xFF, 0x62, 0x65, 0xC3])
    }

    @Test("A hostile pattern takes polynomial time")
    func hostilePattern() throws {
        let world = try QueryWorld(seed: 3, itemCount: 3)
        try world.begin()
        let table = try world.table("Item")
        let key = try table.insert(primaryKey: .int(1_000))
        try table.set(table.schema.ordinal(of: "s")!, key: key, to: .string(String(repeating: "a", count: 2_000)))
        try world.commit()
        let pattern = String(repeating: "*a", count: 200) + "b"
        let predicate = try Predicate.parse("s LIKE %@", arguments: [.string(pattern)])
        let query = try CompiledQuery(predicate, table: table)
        var count = -1
        let elapsed = try ContinuousClock().measure { count = try query.count() }
        #expect(count == 0)
        // A search that goes back and forth would not end before the universe does.
        #expect(elapsed < .seconds(1_800))
    }
}
