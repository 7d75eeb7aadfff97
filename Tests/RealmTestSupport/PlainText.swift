/// A text that equals those of the same bytes only, and comes in their order: Swift takes two spellings of one text for the same.
public struct PlainText: Hashable, Comparable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// The text.
    public let string: String

    /// A text.
    public init(_ string: String) { self.string = string }

    /// A text.
    public init(stringLiteral value: String) { string = value }

    /// The text with everything beyond ASCII written out, so that two spellings of it differ for Swift as well.
    public var description: String {
        "\"" + string.unicodeScalars.map { $0.escaped(asASCII: true) }.joined() + "\""
    }

    /// Whether both have the same bytes.
    public static func == (left: PlainText, right: PlainText) -> Bool {
        left.string.utf8.elementsEqual(right.string.utf8)
    }

    /// Whether the bytes of one come before those of another one.
    public static func < (left: PlainText, right: PlainText) -> Bool {
        left.string.utf8.lexicographicallyPrecedes(right.string.utf8)
    }

    /// Hashes the bytes.
    public func hash(into hasher: inout Hasher) {
        for byte in string.utf8 { hasher.combine(byte) }
        hasher.combine(string.utf8.count)
    }
}
