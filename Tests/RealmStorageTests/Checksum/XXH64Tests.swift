import RealmStorage
import RealmTestSupport
import Testing

@Suite struct XXH64Tests {
    /// Values of the reference implementation.
    @Test(
        arguments: [
            ("", 0xEF46_DB37_51D8_E999), ("a", 0xD24E_C4F1_A98C_6E5B), ("abc", 0x44BC_2CF5_AD77_0999),
            ("Nobody inspects the spammish repetition", 0xFBCE_A83C_8A37_8BF1),
        ] as [(String, UInt64)]
    )
    func `the hash of a text is that of the reference implementation`(text: String, expected: UInt64) {
        var bytes = Array(text.utf8)
        bytes.append(0)
        let hash = bytes.withUnsafeBytes { XXH64.hash($0.baseAddress!, count: text.utf8.count) }
        #expect(hash == expected)
    }

    @Test func `every flipped bit of a page changes its hash`() {
        var page = [UInt8](repeating: 0, count: 4096)
        for index in page.indices { page[index] = UInt8(truncatingIfNeeded: index &* 31) }
        let original = page.withUnsafeBytes { XXH64.hash($0.baseAddress!, count: 4096) }
        for bit in stride(from: 0, to: 4096 * 8, by: 37) {
            page[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(page.withUnsafeBytes { XXH64.hash($0.baseAddress!, count: 4096) } != original)
            page[bit / 8] ^= 1 << UInt8(bit % 8)
        }
    }

    @Test(arguments: [32, 33, 39, 63, 64, 100, 1_000, 4_088] as [Int])
    func `two strings that differ in their first eight bytes have the hashes that each has alone`(count: Int) {
        var random = SplitMix64(seed: UInt64(count))
        var first = (0..<count).map { _ in UInt8.random(in: 0 ... .max, using: &random) }
        let other = UInt64.random(in: 0 ... .max, using: &random)
        let hashes = first.withUnsafeBytes { XXH64.hashes($0.baseAddress!, count: count, orBeginningWith: other) }
        #expect(hashes.0 == first.withUnsafeBytes { XXH64.hash($0.baseAddress!, count: count) })
        first.withUnsafeMutableBytes { $0.storeBytes(of: other.littleEndian, as: UInt64.self) }
        #expect(hashes.1 == first.withUnsafeBytes { XXH64.hash($0.baseAddress!, count: count) })
    }
}
