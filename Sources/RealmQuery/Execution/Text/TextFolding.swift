/// Makes the differences disappear that `[c]` and `[d]` ask to ignore.
///
/// `[c]` is Unicode simple case folding: one character becomes one character, so `ß` is not `ss`. `[d]` replaces an
/// accented letter by its base letter and drops combining accents. Text is UTF-8 before and after, so that every string
/// operation runs on the folded bytes as it would on the originals. Bytes that are not UTF-8 stay as they are.
struct TextFolding: Sendable {
    let options: StringComparisonOptions

    /// Appends the folded form of `text` to `output`.
    func fold(_ text: UnsafeRawBufferPointer, into output: inout [UInt8]) {
        let ignoresCase = options.contains(.caseInsensitive)
        var index = 0
        output.reserveCapacity(output.count + text.count)
        while index < text.count {
            let byte = text[index]
            if byte < 0x80 {
                let isUpper = byte &- 0x41 < 26
                output.append(ignoresCase && isUpper ? byte | 0x20 : byte)
                index += 1
                continue
            }
            let (scalar, length) = TextFolding.decode(text, at: index)
            guard let scalar else {
                output.append(byte)
                index += 1
                continue
            }
            index += length
            var folded = scalar
            if options.contains(.diacriticInsensitive) {
                guard let base = DiacriticTable.strip(folded) else { continue }
                folded = base
            }
            if ignoresCase {
                folded = folded < 0x80 ? (folded &- 0x41 < 26 ? folded | 0x20 : folded) : CaseFoldingTable.fold(folded)
            }
            TextFolding.encode(folded, into: &output)
        }
    }

    /// The folded form of ASCII text, made eight bytes at a time in a buffer with room for a whole word behind it; nil
    /// when there is anything but ASCII.
    @inline(__always)
    func foldASCII(_ text: UnsafeRawBufferPointer, into buffer: UnsafeMutableRawPointer) -> UnsafeRawBufferPointer? {
        guard let base = text.baseAddress else { return text }
        let high: UInt64 = 0x8080_8080_8080_8080
        let ignoresCase = options.contains(.caseInsensitive)
        var offset = 0
        while offset < text.count {
            var word: UInt64 = 0
            if offset &+ 8 <= text.count {
                word = base.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            } else {
                for index in 0..<(text.count &- offset) {
                    word |= UInt64(text[offset &+ index]) &<< UInt64(truncatingIfNeeded: index &* 8)
                }
            }
            if word & high != 0 { return nil }
            if ignoresCase {
                // The high bit of each byte that is at least 'A' and not beyond 'Z'.
                let isUpper = (word &+ 0x3F3F_3F3F_3F3F_3F3F) & ~(word &+ 0x2525_2525_2525_2525) & high
                word |= isUpper &>> 2
            }
            buffer.storeBytes(of: word, toByteOffset: offset, as: UInt64.self)
            offset &+= 8
        }
        return UnsafeRawBufferPointer(start: buffer, count: text.count)
    }

    /// The folded form of a string.
    func fold(_ text: String) -> [UInt8] {
        var output: [UInt8] = []
        var copy = text
        copy.withUTF8 { fold(UnsafeRawBufferPointer($0), into: &output) }
        return output
    }

    /// The character at an index and the number of its bytes; nil when the bytes are not UTF-8.
    static func decode(_ text: UnsafeRawBufferPointer, at index: Int) -> (scalar: UInt32?, length: Int) {
        let lead = text[index]
        func continuation(_ offset: Int) -> UInt32? {
            guard index + offset < text.count, text[index + offset] & 0xC0 == 0x80 else { return nil }
            return UInt32(text[index + offset] & 0x3F)
        }
        switch lead {
        case 0..<0x80: return (UInt32(lead), 1)
        case 0xC2..<0xE0:
            guard let second = continuation(1) else { return (nil, 1) }
            return (UInt32(lead & 0x1F) << 6 | second, 2)
        case 0xE0..<0xF0:
            guard let second = continuation(1), let third = continuation(2) else { return (nil, 1) }
            let value = UInt32(lead & 0x0F) << 12 | second << 6 | third
            return value < 0x800 || (0xD800..<0xE000).contains(value) ? (nil, 1) : (value, 3)
        case 0xF0..<0xF5:
            guard let second = continuation(1), let third = continuation(2), let fourth = continuation(3) else {
                return (nil, 1)
            }
            let value = UInt32(lead & 0x07) << 18 | second << 12 | third << 6 | fourth
            return (0x10000..<0x110000).contains(value) ? (value, 4) : (nil, 1)
        default: return (nil, 1)
        }
    }

    private static func encode(_ scalar: UInt32, into output: inout [UInt8]) {
        switch scalar {
        case 0..<0x80:
            output.append(UInt8(scalar))
        case 0x80..<0x800:
            output.append(UInt8(0xC0 | scalar >> 6))
            output.append(UInt8(0x80 | scalar & 0x3F))
        case 0x800..<0x10000:
            output.append(UInt8(0xE0 | scalar >> 12))
            output.append(UInt8(0x80 | scalar >> 6 & 0x3F))
            output.append(UInt8(0x80 | scalar & 0x3F))
        default:
            output.append(UInt8(truncatingIfNeeded: 0xF0 | scalar >> 18))
            output.append(UInt8(0x80 | scalar >> 12 & 0x3F))
            output.append(UInt8(0x80 | scalar >> 6 & 0x3F))
            output.append(UInt8(0x80 | scalar & 0x3F))
        }
    }
}
