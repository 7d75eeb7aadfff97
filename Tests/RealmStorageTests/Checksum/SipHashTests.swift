import RealmStorage
import Testing

@Suite struct SipHashTests {
    /// The key of the paper's test vectors.
    private static let key = SipHash.Key(low: 0x0706_0504_0302_0100, high: 0x0F0E_0D0C_0B0A_0908)

    private static func hash(_ bytes: [UInt8], key: SipHash.Key = key) -> UInt64 {
        bytes.withUnsafeBytes { SipHash.hash($0, key: key) }
    }

    @Test func `the hash is SipHash-2-4`() {
        let message = (0..<64).map { UInt8($0) }
        // The example of the paper, and others of its reference implementation.
        #expect(Self.hash(Array(message[..<15])) == 0xA129_CA61_49BE_45E5)
        #expect(Self.hash([]) == 0x726F_DB47_DD0E_0E31)
        #expect(Self.hash(Array(message[..<1])) == 0x74F8_39C5_93DC_67FD)
        #expect(Self.hash(Array(message[..<8])) == 0x93F5_F579_9A93_2462)
    }

    @Test func `another key gives another hash`() {
        let message: [UInt8] = Array(repeating: 7, count: 300)
        #expect(Self.hash(message) != Self.hash(message, key: .random()))
        #expect(SipHash.Key.random() != .none)
    }
}
