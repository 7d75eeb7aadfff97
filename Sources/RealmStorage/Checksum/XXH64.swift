/// XXH64, the checksum of every run of pages: 64 bits, about 10 GB/s in plain Swift.
///
/// Source: the public xxHash specification, <https://github.com/Cyan4973/xxHash/blob/dev/doc/xxhash_spec.md>.
package enum XXH64 {
    private static let prime1: UInt64 = 0x9E37_79B1_85EB_CA87
    private static let prime2: UInt64 = 0xC2B2_AE3D_27D4_EB4F
    private static let prime3: UInt64 = 0x1656_67B1_9E37_79F9
    private static let prime4: UInt64 = 0x85EB_CA77_C2B2_AE63
    private static let prime5: UInt64 = 0x27D4_EB2F_1656_67C5

    /// The hash of `count` bytes.
    package static func hash(_ base: UnsafeRawPointer, count: Int, seed: UInt64 = 0) -> UInt64 {
        var p = base
        let end = base + count
        var h: UInt64
        if count >= 32 {
            var v1 = seed &+ prime1 &+ prime2
            var v2 = seed &+ prime2
            var v3 = seed
            var v4 = seed &- prime1
            let limit = end - 32
            repeat {
                v1 = round(v1, word(p))
                v2 = round(v2, word(p + 8))
                v3 = round(v3, word(p + 16))
                v4 = round(v4, word(p + 24))
                p += 32
            } while p <= limit
            h = rotate(v1, 1) &+ rotate(v2, 7) &+ rotate(v3, 12) &+ rotate(v4, 18)
            h = merge(h, v1)
            h = merge(h, v2)
            h = merge(h, v3)
            h = merge(h, v4)
        } else {
            h = seed &+ prime5
        }
        return finish(h &+ UInt64(count), p, end)
    }

    /// The hash of some bytes, at least 32, and that of the same bytes with other ones in place of the first eight.
    ///
    /// Every fourth word goes into one of four sums, and the others are the same for both: the second hash costs a quarter.
    package static func hashes(
        _ base: UnsafeRawPointer,
        count: Int,
        orBeginningWith other: UInt64
    ) -> (UInt64, UInt64) {
        var p = base
        let end = base + count
        var v1 = prime1 &+ prime2
        var v2 = prime2
        var v3: UInt64 = 0
        var v4 = 0 &- prime1
        var w1 = round(v1, other)
        v1 = round(v1, word(p))
        let limit = end - 32
        while true {
            v2 = round(v2, word(p + 8))
            v3 = round(v3, word(p + 16))
            v4 = round(v4, word(p + 24))
            p += 32
            if p > limit { break }
            v1 = round(v1, word(p))
            w1 = round(w1, word(p))
        }
        func finish(_ first: UInt64) -> UInt64 {
            var h = rotate(first, 1) &+ rotate(v2, 7) &+ rotate(v3, 12) &+ rotate(v4, 18)
            h = merge(h, first)
            h = merge(h, v2)
            h = merge(h, v3)
            h = merge(h, v4)
            return Self.finish(h &+ UInt64(count), p, end)
        }
        return (finish(v1), finish(w1))
    }

    /// Takes in what is left behind the last 32 bytes.
    @inline(__always)
    private static func finish(_ hash: UInt64, _ start: UnsafeRawPointer, _ end: UnsafeRawPointer) -> UInt64 {
        var h = hash
        var p = start
        while p + 8 <= end {
            h = rotate(h ^ round(0, word(p)), 27) &* prime1 &+ prime4
            p += 8
        }
        if p + 4 <= end {
            let half = UInt64(UInt32(littleEndian: p.loadUnaligned(as: UInt32.self)))
            h = rotate(h ^ (half &* prime1), 23) &* prime2 &+ prime3
            p += 4
        }
        while p < end {
            h = rotate(h ^ (UInt64(p.load(as: UInt8.self)) &* prime5), 11) &* prime1
            p += 1
        }
        h = (h ^ (h >> 33)) &* prime2
        h = (h ^ (h >> 29)) &* prime3
        return h ^ (h >> 32)
    }

    @inline(__always)
    private static func word(_ p: UnsafeRawPointer) -> UInt64 {
        UInt64(littleEndian: p.loadUnaligned(as: UInt64.self))
    }

    @inline(__always)
    private static func rotate(_ x: UInt64, _ bits: UInt64) -> UInt64 {
        (x &<< bits) | (x &>> (64 &- bits))
    }

    @inline(__always)
    private static func round(_ accumulator: UInt64, _ input: UInt64) -> UInt64 {
        rotate(accumulator &+ input &* prime2, 31) &* prime1
    }

    @inline(__always)
    private static func merge(_ accumulator: UInt64, _ value: UInt64) -> UInt64 {
        (accumulator ^ round(0, value)) &* prime1 &+ prime4
    }
}
