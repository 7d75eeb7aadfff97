/// Numbers in JSON of which a decoder gives no more than the nearest binary number, or nothing.
///
/// Foundation's decimals have fewer exponents than those of a realm. Therefore numbers with many digits or far exponents are spelled as
/// an object with their text before JSON is decoded, and read back behind the decoder.
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

    /// Whether it is a number as JSON has it, with many digits or a far exponent; what is none is the decoder's to refuse.
    private static func isFar(_ number: ArraySlice<UInt8>) -> Bool {
        var rest = number
        /// Takes the digits that follow.
        func digits() -> ArraySlice<UInt8> {
            let digits = rest.prefix(while: { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
            rest = rest.dropFirst(digits.count)
            return digits
        }
        if rest.first == UInt8(ascii: "-") { rest = rest.dropFirst() }
        let whole = digits()
        guard let first = whole.first, whole.count == 1 || first != UInt8(ascii: "0") else { return false }
        var count = whole.count
        if rest.first == UInt8(ascii: ".") {
            rest = rest.dropFirst()
            let fraction = digits()
            if fraction.isEmpty { return false }
            count += fraction.count
        }
        var isFarOut = false
        if let mark = rest.first {
            guard mark == UInt8(ascii: "e") || mark == UInt8(ascii: "E") else { return false }
            rest = rest.dropFirst()
            if let sign = rest.first, sign == UInt8(ascii: "-") || sign == UInt8(ascii: "+") { rest = rest.dropFirst() }
            let exponent = digits()
            if exponent.isEmpty { return false }
            isFarOut = Int(String(decoding: exponent, as: UTF8.self)).map { $0 > Self.exponent } ?? true
        }
        return rest.isEmpty && (count > digitCount || isFarOut)
    }
}
