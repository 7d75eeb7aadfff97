/// SipHash-2-4 of Aumasson and Bernstein: who does not know the key cannot find strings with the same hash.
package enum SipHash {
    /// A random key.
    package struct Key: Sendable, Hashable, BitwiseCopyable {
        package var low: UInt64
        package var high: UInt64

        package init(low: UInt64, high: UInt64) {
            self.low = low
            self.high = high
        }

        /// Stands for a key that is not known, or for none.
        package static let none = Key(low: 0, high: 0)

        /// A new key; never `none`.
        package static func random() -> Key { Key(low: .random(in: 1 ... .max), high: .random(in: 0 ... .max)) }
    }

    private struct State {
        var v0: UInt64
        var v1: UInt64
        var v2: UInt64
        var v3: UInt64

        init(_ key: Key) {
            v0 = key.low ^ 0x736F_6D65_7073_6575
            v1 = key.high ^ 0x646F_7261_6E64_6F6D
            v2 = key.low ^ 0x6C79_6765_6E65_7261
            v3 = key.high ^ 0x7465_6462_7974_6573
        }

        private static func rotated(_ word: UInt64, by count: UInt64) -> UInt64 {
            word &<< count | word &>> (64 &- count)
        }

        mutating func round() {
            v0 = v0 &+ v1
            v2 = v2 &+ v3
            v1 = State.rotated(v1, by: 13) ^ v0
            v3 = State.rotated(v3, by: 16) ^ v2
            v0 = State.rotated(v0, by: 32) &+ v3
            v2 = v2 &+ v1
            v3 = State.rotated(v3, by: 21) ^ v0
            v1 = State.rotated(v1, by: 17) ^ v2
            v2 = State.rotated(v2, by: 32)
        }

        mutating func absorb(_ word: UInt64) {
            v3 ^= word
            round()
            round()
            v0 ^= word
        }

        mutating func finish() -> UInt64 {
            v2 ^= 0xFF
            for _ in 0..<4 { round() }
            return v0 ^ v1 ^ v2 ^ v3
        }
    }

    /// The hash of some bytes under a key.
    package static func hash(_ bytes: UnsafeRawBufferPointer, key: Key) -> UInt64 {
        var state = State(key)
        var offset = 0
        while offset + 8 <= bytes.count {
            state.absorb(UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)))
            offset += 8
        }
        var last = UInt64(truncatingIfNeeded: bytes.count) << 56
        for index in offset..<bytes.count { last |= UInt64(bytes[index]) << UInt64(8 * (index - offset)) }
        state.absorb(last)
        return state.finish()
    }
}
