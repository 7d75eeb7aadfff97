public import FoundationEssentials
import RealmModel
import Synchronization

/// A 12-byte identifier that is unique without coordination: the time in seconds, five random bytes of the process and a
/// counter.
///
/// Identifiers made by one process sort in the order of their making, as far as seconds and the counter tell.
public struct ObjectId: Hashable, Comparable, Sendable {
    /// Bytes 0 to 7, big-endian.
    var high: UInt64
    /// Bytes 8 to 11, big-endian.
    var low: UInt32

    init(high: UInt64, low: UInt32) {
        self.high = high
        self.low = low
    }

    init(bytes: ObjectIDBytes) {
        high = bytes.high
        low = bytes.low
    }

    var bytes: ObjectIDBytes { ObjectIDBytes(high: high, low: low) }

    /// The identifier of 24 zero digits.
    public init() { self.init(high: 0, low: 0) }

    /// A new, unique identifier.
    public static func generate() -> ObjectId {
        ObjectIdGenerator.next(seconds: UInt32(truncatingIfNeeded: Int64(Date().timeIntervalSince1970)))
    }

    /// An identifier with the time, the low 24 bits of a machine's number and the low 16 bits of a process's number.
    public init(timestamp: Date, machineId: Int, processId: Int) {
        // A time that is none, or beyond what 64 bits count, is the nearest that is.
        let interval = timestamp.timeIntervalSince1970
        let whole = interval.isNaN ? 0 : Int64(max(-0x1p62, min(interval, 0x1p62)))
        let seconds = UInt64(UInt32(truncatingIfNeeded: whole))
        let machine = UInt64(truncatingIfNeeded: machineId) & 0xFF_FFFF
        let process = UInt64(truncatingIfNeeded: processId) & 0xFFFF
        high = seconds << 32 | machine << 8 | process >> 8
        low = UInt32(process & 0xFF) << 24 | ObjectIdGenerator.nextCounter()
    }

    /// Parses 24 hexadecimal digits.
    ///
    /// - Throws: `ObjectIdError` when the text is anything else.
    public init(string: String) throws {
        guard let parsed = Self.parse(string) else {
            throw ObjectIdError(text: string)
        }
        self = parsed
    }

    /// Makes an identifier from a literal of 24 hexadecimal digits.
    ///
    /// - Precondition: The literal has 24 hexadecimal digits: for text from outside ``init(string:)`` throws.
    public init(_ literal: StaticString) {
        guard let parsed = Self.parse(literal.description) else {
            misuse("Invalid Object ID string '\(literal)': must be 24 hex digits")
        }
        self = parsed
    }

    /// When the identifier was made, in whole seconds.
    public var timestamp: Date { Date(timeIntervalSince1970: TimeInterval(high >> 32)) }

    /// The 24 hexadecimal digits.
    public var stringValue: String {
        let digits = Array("0123456789abcdef".utf8)
        var text: [UInt8] = []
        text.reserveCapacity(24)
        for shift in stride(from: 60, through: 0, by: -4) { text.append(digits[Int(high >> UInt64(shift) & 15)]) }
        for shift in stride(from: 28, through: 0, by: -4) { text.append(digits[Int(low >> UInt32(shift) & 15)]) }
        return String(decoding: text, as: UTF8.self)
    }

    /// Orders identifiers by their bytes.
    public static func < (left: ObjectId, right: ObjectId) -> Bool { (left.high, left.low) < (right.high, right.low) }

    private static func parse(_ text: String) -> ObjectId? {
        var high: UInt64 = 0
        var low: UInt32 = 0
        var count = 0
        for unit in text.utf8 {
            let digit: UInt8
            switch unit {
            case 0x30...0x39: digit = unit - 0x30
            case 0x41...0x46: digit = unit - 0x41 + 10
            case 0x61...0x66: digit = unit - 0x61 + 10
            default: return nil
            }
            if count < 16 { high = high << 4 | UInt64(digit) } else { low = low << 4 | UInt32(digit) }
            count += 1
            if count > 24 { return nil }
        }
        return count == 24 ? ObjectId(high: high, low: low) : nil
    }
}

/// The text given to `ObjectId(string:)` is not an identifier.
public struct ObjectIdError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The text.
    public let text: String
    /// What is wrong with it.
    public var description: String { "Invalid Object ID string '\(text)': must be 24 hex digits" }
}

extension ObjectId: CustomStringConvertible {
    /// The 24 hexadecimal digits.
    public var description: String { stringValue }
}

extension ObjectId: Codable {
    /// Decodes the 24 hexadecimal digits.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let parsed = Self.parse(text) else {
            throw DecodingError.dataCorruptedError(
                in: container,
                debugDescription: ObjectIdError(text: text).description
            )
        }
        self = parsed
    }

    /// Encodes the 24 hexadecimal digits.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(stringValue)
    }
}

/// The parts of new identifiers that belong to the process.
private enum ObjectIdGenerator {
    static let process = UInt64.random(in: 0...0xFF_FFFF_FFFF)
    static let counter = Atomic<UInt32>(UInt32.random(in: 0...0xFF_FFFF))

    static func nextCounter() -> UInt32 {
        counter.wrappingAdd(1, ordering: .relaxed).oldValue & 0xFF_FFFF
    }

    static func next(seconds: UInt32) -> ObjectId {
        ObjectId(
            high: UInt64(seconds) << 32 | process >> 8,
            low: UInt32(truncatingIfNeeded: process & 0xFF) << 24 | nextCounter()
        )
    }
}
