import RealmTestSupport
import Testing

@testable import RealmModel

@Suite struct MixedFormatTests {
    static func value(_ random: inout SplitMix64, depth: Int = 0) -> StoredValue {
        switch Int.random(in: 0..<(depth < 4 ? 14 : 12), using: &random) {
        case 0: return .null
        case 1: return .int(Int64.random(in: .min ... .max, using: &random))
        case 2: return .bool(Bool.random(using: &random))
        case 3: return .float(Float.random(in: -1e9...1e9, using: &random))
        case 4: return .double(Double.random(in: -1e9...1e9, using: &random))
        case 5: return .string(String(Int.random(in: 0...99_999, using: &random), radix: 36) + "é")
        case 6: return .data((0..<Int.random(in: 0...20, using: &random)).map { UInt8($0) })
        case 7: return .date(Double.random(in: -1e9...1e9, using: &random))
        case 8: return .objectId(ObjectIDBytes(high: random.next(), low: UInt32.random(in: 0...9, using: &random)))
        case 9: return .uuid(UUIDBytes(high: random.next(), low: random.next()))
        case 10: return .decimal(DecimalBytes(DecimalNumber(Int64.random(in: -99...99, using: &random))))
        case 11: return .anyLink(table: UInt32.random(in: 1...9, using: &random), key: 7)
        case 12: return .list((0..<Int.random(in: 0...4, using: &random)).map { _ in value(&random, depth: depth + 1) })
        default:
            let entries = (0..<Int.random(in: 0...4, using: &random))
                .map { StoredEntry(key: "k\($0)", value: value(&random, depth: depth + 1)) }
            return .dictionary(entries.sortedAndUnique())
        }
    }

    @Test func `values come back as they were`() {
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = SplitMix64(seed: seed)
        for _ in 0..<3_000 {
            let value = Self.value(&random)
            let bytes = MixedFormat.encode(value)
            #expect(bytes.withUnsafeBytes { MixedFormat.decode($0) } == value, "seed \(seed)")
        }
    }

    @Test func `damaged bytes are refused or give some value, and nothing else happens`() {
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = SplitMix64(seed: seed)
        var refused = 0
        for _ in 0..<20_000 {
            var bytes = MixedFormat.encode(Self.value(&random))
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                switch Int.random(in: 0..<3, using: &random) {
                case 0 where !bytes.isEmpty: bytes.removeLast(Int.random(in: 1...bytes.count, using: &random))
                case 1: bytes.append(UInt8.random(in: 0...255, using: &random))
                default:
                    if let index = bytes.indices.randomElement(using: &random) {
                        bytes[index] = UInt8.random(in: 0...255, using: &random)
                    }
                }
            }
            if bytes.withUnsafeBytes({ MixedFormat.decode($0) }) == nil { refused += 1 }
        }
        #expect(refused > 1_000, "seed \(seed)")
    }

    @Test func `nesting beyond the limit is refused`() {
        var value = StoredValue.int(1)
        for _ in 0..<MixedFormat.depthLimit { value = .list([value]) }
        let deepest = MixedFormat.encode(value)
        #expect(deepest.withUnsafeBytes { MixedFormat.decode($0) } == value)
        let tooDeep = MixedFormat.encode(.list([value]))
        #expect(tooDeep.withUnsafeBytes { MixedFormat.decode($0) } == nil)
    }
}
