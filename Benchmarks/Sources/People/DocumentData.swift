/// Document number `id`: a pure function of the number, as `PersonData` is.
public struct DocumentData: Sendable {
    /// The bytes of a text.
    public static let textByteCount = 1_000

    /// The number, which is the primary key.
    public let id: Int
    /// 0 to 99.
    public let views: Int
    /// A thousand bytes that do not repeat.
    public let text: String

    /// Makes document number `id`.
    public init(_ id: Int) {
        self.id = id
        views = PersonData.randomKey(id, below: 100)
        var word = UInt64(0)
        text = String(unsafeUninitializedCapacity: Self.textByteCount) { buffer in
            for index in 0..<Self.textByteCount {
                if index % 12 == 0 { word = UInt64(PersonData.randomKey(id &* 100 &+ index / 12, below: .max)) }
                buffer[index] = UInt8(ascii: "0") + UInt8(word & 31)
                word >>= 5
            }
            return Self.textByteCount
        }
    }
}
