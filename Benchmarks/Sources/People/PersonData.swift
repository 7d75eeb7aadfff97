/// Person number `id`: a pure function of the number, the same for every contestant and in every run.
public struct PersonData: Sendable {
    /// The number, which is the primary key.
    public let id: Int
    /// 16 bytes.
    public let name: String
    /// 0 to 99.
    public let age: Int
    /// 0 to 1.
    public let score: Double
    /// 24 bytes, unique.
    public let email: String
    /// Seconds since 2001.
    public let createdAt: Double

    /// Makes person number `id`.
    public init(_ id: Int) {
        let random = Self.mixed(UInt64(id))
        self.id = id
        name = Self.letters(random, count: 16)
        age = Int(random % 100)
        score = Double(random >> 11) * 0x1p-53
        email = Self.letters(UInt64(id) &* 0x9E37_79B9_7F4A_7C15, count: 12) + "@example.org"
        createdAt = 800_000_000 + Double(id % 1_000_000_000)
    }

    /// A key among `count`, for the n-th of a random series.
    public static func randomKey(_ number: Int, below count: Int) -> Int {
        Int(mixed(UInt64(number) &+ 0x5EED) % UInt64(count))
    }

    /// The n-th of keys that lie anywhere in 63 bits, in no order.
    public static func scatteredKey(_ number: Int) -> Int {
        Int(mixed(UInt64(number) &+ 0x5CA7) >> 1)
    }

    /// One step of SplitMix64.
    private static func mixed(_ seed: UInt64) -> UInt64 {
        var value = seed &+ 0x9E37_79B9_7F4A_7C15
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }

    private static func letters(_ bits: UInt64, count: Int) -> String {
        // 26 letters would collide in 12 places; 64 signs in 12 places hold 72 bits, enough for all 64.
        let signs: StaticString = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"
        return String(unsafeUninitializedCapacity: count) { buffer in
            var rest = bits
            for index in 0..<count {
                buffer[index] = signs.utf8Start[Int(rest & 63)]
                rest = index == 9 ? rest >> 6 | bits << 8 : rest >> 6
            }
            return count
        }
    }
}
