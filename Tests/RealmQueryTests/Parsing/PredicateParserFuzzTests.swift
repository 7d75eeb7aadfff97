import Foundation
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

    func outcome(_ text: String, _ arguments: [PredicateValue] = []) -> Result<
        RealmQuery.Predicate, PredicateParseError
    > {
        Result { () throws(PredicateParseError) in try RealmQuery.Predicate.parse(text, arguments: arguments) }
    }

    /// Mutates good predicates, with their clauses, over and over; `REALM_FUZZ_SECONDS` sets for how long.
    ///
    /// What is accepted is compiled, too: neither traps, and errors have a place in the text.
    @Test("Mutated predicates neither trap nor take long")
    func endlessMutations() throws {
        let environment = ProcessInfo.processInfo.environment
        let seconds = environment["REALM_FUZZ_SECONDS"].flatMap { Double($0) } ?? 1
        let seed = environment["REALM_FUZZ_SEED"].flatMap { UInt64($0) } ?? .random(in: 0...UInt64.max)
        var random = SplitMix64(seed: seed)
        let world = try QueryWorld(seed: seed, itemCount: 20)
        let table = try world.table("Item")
        let clock = ContinuousClock()
        let end = clock.now + .seconds(seconds)
        var pool = PredicateParserTests.accepted.map { Array($0.0.utf8) }
        pool += ["i > 3 SORT(s DESC, i) LIMIT(3)", "s == 'a' DISTINCT(s, box.name)", "ANY children.i IN {1, 2}"]
            .map { Array($0.utf8) }
        for _ in 0..<200 { pool.append(Array(world.randomPredicate(depth: 2).description.utf8)) }
        let first = pool
        var runs = 0
        var accepted = 0
        var compiled = 0
        while clock.now < end {
            for _ in 0..<200 {
                var bytes = pool.randomElement(using: &random)!
                for _ in 0..<Int.random(in: 1...4, using: &random) { mutate(&bytes, pool, &random) }
                if bytes.count > 2_000 { bytes.removeSubrange(1_000...) }
                let text = String(decoding: bytes, as: UTF8.self)
                runs += 1
                do {
                    let parsed = try ParsedQuery.parse(
                        text,
                        arguments: [.int(1), .string("s"), .null, .list([.int(1)])]
                    )
                    _ = parsed
                } catch {
                    #expect(error.position >= 0 && error.position <= text.utf8.count, "seed \(seed): \(text)")
                }
                guard let query = try? ParsedQuery.parse(text) else { continue }
                accepted += 1
                #expect(
                    (try? RealmQuery.Predicate.parse(query.predicate.description)) == query.predicate,
                    "seed \(seed): \(text)"
                )
                if let plan = try? CompiledQuery(query.predicate, table: table) {
                    compiled += 1
                    _ = try plan.count()
                }
                if pool.count < 3_000 { pool.append(bytes) }
            }
            if pool.count >= 3_000 { pool = first }
        }
        print("fuzzed: \(runs) texts from seed \(seed), \(accepted) accepted, \(compiled) of them fit the schema")
        #expect(accepted > 0)
    }

    private func mutate(_ bytes: inout [UInt8], _ pool: [[UInt8]], _ random: inout SplitMix64) {
        let index = Int.random(in: 0...bytes.count, using: &random)
        switch Int.random(in: 0..<7, using: &random) {
        case 0 where index < bytes.count: bytes[index] = UInt8.random(in: 0...255, using: &random)
        case 1: bytes.insert(UInt8.random(in: 0x20...0x7E, using: &random), at: index)
        case 2 where index < bytes.count:
            bytes.removeSubrange(index..<min(bytes.count, index + Int.random(in: 1...8, using: &random)))
        case 3: bytes.insert(contentsOf: Array(Self.words.randomElement(using: &random)!.utf8), at: index)
        case 4:
            let other = pool.randomElement(using: &random)!
            let start = Int.random(in: 0...other.count, using: &random)
            bytes.replaceSubrange(index..., with: other[start...])
        case 5:
            let name = ["i", "s", "d", "next", "box", "children", "nums", "tags", "parents", "date", "oid"]
            bytes.insert(contentsOf: Array(name.randomElement(using: &random)!.utf8), at: index)
        default:
            bytes.insert(contentsOf: bytes[..<index], at: index)
        }
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
            let text = String(decoding: bytes, as: UTF8.self)
            if case .failure(let error) = outcome(text) {
                #expect(error.position >= 0 && error.position <= text.utf8.count, "seed \(seed): \(text)")
            }
        }
    }

    @Test(
        "Damaging a good predicate never traps: it is refused at a place, or means what its description says",
        arguments: [21]
    )
    func mutations(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var acceptedCount = 0
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
            let text = String(decoding: bytes, as: UTF8.self)
            switch outcome(text) {
            case .success(let parsed):
                acceptedCount += 1
                #expect(outcome(parsed.description) == .success(parsed), "seed \(seed): \(text)")
            case .failure(let error):
                #expect(error.position >= 0 && error.position <= text.utf8.count, "seed \(seed): \(text)")
            }
        }
        #expect((500..<9_500).contains(acceptedCount), "\(acceptedCount) are accepted")
    }

    @Test("The longest texts take time in proportion to their length")
    func longTexts() {
        let texts = { (size: Int) in
            [
                String(repeating: "(", count: size * 20), String(repeating: "a == 1 AND ", count: size * 2) + "a == 1",
                String(repeating: "'", count: size * 20), "a == '" + String(repeating: "\\", count: size * 20 - 10),
                "a IN {" + String(repeating: "1,", count: size * 9) + "1}", String(repeating: "a.", count: size * 10),
                String(repeating: "NOT ", count: size * 5) + "a == 1", String(repeating: "9", count: size * 20),
            ]
        }
        // Twenty times the length may take twenty times the time and not four hundred times, on whatever machine.
        for (short, long) in zip(texts(250), texts(5_000)) {
            let shortest = (0..<3).map { _ in processorTime(short) }.min()!
            let longest = (0..<3).map { _ in processorTime(long) }.min()!
            #expect(longest < shortest * 100 + 0.1, "\(short.prefix(12)): \(shortest) s, then \(longest) s")
        }
    }

    /// The time of this thread's processor, in seconds, that parsing takes: what other threads do does not count.
    private func processorTime(_ text: String) -> Double {
        func now() -> Double {
            var time = timespec()
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
            return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
        }
        let start = now()
        _ = try? RealmQuery.Predicate.parse(text)
        return now() - start
    }

    /// What mutations found: a path that begins with a subscript was written without what it is a subscript of.
    @Test(
        "A path that begins with a subscript is read again as it was",
        arguments: [
            "SELF['k'] == 1", "SELF[3] == 1", "ANY SELF[#any] == 1", "a['k'][0] == 1",
            "SUBQUERY(a, $x, $x['k'] == 1 AND $x[0] > 2).@count > 0",
        ]
    )
    func subscripts(text: String) throws {
        let predicate = try RealmQuery.Predicate.parse(text)
        #expect(try RealmQuery.Predicate.parse(predicate.description) == predicate, "\(predicate)")
    }
}
