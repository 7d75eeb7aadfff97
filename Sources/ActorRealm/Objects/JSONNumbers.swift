/// Numbers in JSON of which a decoder gives no more than the nearest binary number, or nothing.
///
/// Foundation's decimals have fewer exponents than those of a realm, and its integers are whole numbers next to a number with digits behind
/// the point. Therefore numbers with many digits or far exponents, and those that may be rounded to a whole number, are spelled as an object
/// with their text before JSON is decoded, and read back behind the decoder.
enum JSONNumbers {
    /// The name of the only member of such an object: no name of the text's own is the same where names are spelled.
    static let name = "=#"

    /// The greatest number of digits, and the greatest exponent, of numbers that stay as they are.
    ///
    /// Foundation's decimals have 38 digits, and exponents from -128 to 127.
    private static let digitCount = 34
    private static let exponent = 90

    /// Finds the numbers to be spelled in a part of a text that lies between two texts.
    static func far(in part: ArraySlice<UInt8>) -> [Range<Int>] {
        var found: [Range<Int>] = []
        var position = part.startIndex
        while position < part.endIndex {
            guard isPart(part[position]) else {
                position += 1
                continue
            }
            let start = position
            while position < part.endIndex, isPart(part[position]) { position += 1 }
            if isFar(part[start..<position]) { found.append(start..<position) }
        }
        return found
    }

    /// The object that stands for a number.
    static func spelled(_ number: ArraySlice<UInt8>) -> [UInt8] {
        Array("{\"\(name)\":\"".utf8) + number + Array("\"}".utf8)
    }

    /// Whether something may be a part of a number.
    private static func isPart(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: "."),
            UInt8(ascii: "e"), UInt8(ascii: "E"):
            true
        default: false
        }
    }

    /// Whether it is a number as JSON has it, with many digits or a far exponent, or one that may be rounded to a whole number; what is none
    /// is the decoder's to refuse.
    private static func isFar(_ number: ArraySlice<UInt8>) -> Bool {
        // Most numbers are short, and have no exponent.
        guard number.count > 15 || number.contains(where: { $0 | 0x20 == UInt8(ascii: "e") }),
            let parsed = JSONNumber(number)
        else { return false }
        return parsed.digitCount > digitCount || abs(parsed.exponent) > exponent || parsed.mayBeRounded
    }
}
