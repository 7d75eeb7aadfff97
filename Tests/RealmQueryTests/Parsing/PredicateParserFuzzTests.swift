import RealmQuery
import RealmTestSupport
import Testing

@Suite("Hostile predicate texts")
struct PredicateParserFuzzTests {
    static let words = [
        "a", "b.c", "AND", "OR", "NOT", "&&", "||", "!", "(", ")", "{", "}", "[", "]", "[cd]", ",", ".", "==", "!=",
        "<",
        ">=", "IN", "BETWEEN", "CONTAINS", "BEGINSWITH", "LIKE", "ANY", "ALL", "NONE", "SUBQUERY(", "$x", "$x.a",
        ".@count",
        "@min", "%@", "%K", "%d", "%f", "1", "-2.5", "1e400", "'s'", "\"t\"", "'", "\\", "NULL", "TRUE",
        "TRUEPREDICATE",
        "SELF", "#", "é", "\u{0}", "0x", "SUBQUERY(a, $x, $x.b == 1).@count > 0", "a == 1",
    ]

    func outcome(_ text: String, _ arguments: [PredicateValue] = []) -> Result<Predicate, PredicateParseError> {
        Result { () throws(PredicateParseError) in try Predicate.parse(text, arguments: arguments) }
    }

    @Test(
        "No sequence of words traps, and what is accepted survives being written and read again",
        arguments: [1, 2, 3]
    )
    func randomWords(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let arguments: [PredicateValue] = [.int(1), .string("p"), .double(2), .null]
        var acceptedCount = 0
        for _ in 0..<12_000 {
            let text = (0..<Int.random(in: 1...14, using: &random))
                .map { _ in Self.words.randomElement(using: &random)! }
                .joined(separator: Bool.random(using: &random) ? " " : "")
            let placeholders = text.split(separator: "%", omittingEmptySubsequences: false).count - 1
            switch outcome(text, Array(arguments.prefix(placeholders))) {
            case .success(let parsed):
                acceptedCount += 1
                #expect(outcome(parsed.description) == .success(parsed), "seed \(seed): \(text)")
            case .failure(let error):
                #expect(error.position >= 0 && error.position <= text.utf8.count, "seed \(seed): \(text)")
            }
        }
        #expect(acceptedCount > 20)
    }

    @Test("No sequence of bytes traps", arguments: [11, 12])
    func randomBytes(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        for _ in 0..<10_000 {
            let bytes = (0..<Int.random(in: 0...40, using: &random))
                .map { _ in UInt8.random(in: 0...255, using: &random) }
            _ = try? Predicate.parse(String(decoding: bytes, as: UTF8.self))
        }
    }

    @Test("Damaging a good predicate never traps", arguments: [21])
    func mutations(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let texts = PredicateParserTests.accepted.map(\.0)
        for _ in 0..<10_000 {
            var bytes = Array(texts.randomElement(using: &random)!.utf8)
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                let index = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: bytes[index] = UInt8.random(in: 0x20...0x7E, using: &random)
                case 1: bytes.insert(bytes.randomElement(using: &random)!, at: index)
                default: if bytes.count > 1 { bytes.remove(at: index) }
                }
            }
            _ = try? Predicate.parse(String(decoding: bytes, as: UTF8.self))
        }
    }

    @Test("The longest texts take time in proportion to their length")
    func longTexts() {
        let clock = ContinuousClock()
        let texts = [
            String(repeating: "(", count: 100_000), String(repeating: "a == 1 AND ", count: 9_000) + "a == 1",
            String(repeating: "'", count: 100_000), "a == '" + String(repeating: "\\", count: 99_000),
            "a IN {" + String(repeating: "1,", count: 45_000) + "1}", String(repeating: "a.", count: 50_000),
            String(repeating: "NOT ", count: 24_000) + "a == 1", String(repeating: "9", count: 100_000),
        ]
        for text in texts {
            let elapsed = clock.measure { _ = try? Predicate.parse(text) }
            #expect(elapsed < .seconds(5))
        }
    }
}
