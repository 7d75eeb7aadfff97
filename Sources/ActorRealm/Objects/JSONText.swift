import FoundationEssentials

/// What a JSON text is refused for that a decoder does not see, or not without ending the process.
enum JSONText {
    /// Why a text is refused: it is no JSON, or says something twice.
    struct Refusal: Error {
        let reason: String
        var isJSON = false
    }

    /// A text in UTF-8 without a mark of the order of its bytes, whichever of JSON's encodings it comes in.
    ///
    /// - Throws: Where it is in none.
    static func utf8(_ json: Data) throws(Refusal) -> [UInt8] {
        let bytes = [UInt8](json)
        let text = inUTF8(bytes)
        // A decoder would look for an encoding once more, and find another one.
        guard let text, !text.prefix(4).contains(where: { $0 == 0 || $0 >= 0xFE }) else {
            throw Refusal(reason: "It is no text in UTF-8, UTF-16 or UTF-32.")
        }
        return text
    }

    /// Refuses a comma behind the last member of an object or element of an array, which a decoder lets pass, in a part that lies
    /// between two texts.
    ///
    /// - Throws: Where it stands.
    static func checkCommas(in part: ArraySlice<UInt8>, of text: [UInt8]) throws(Refusal) {
        var comma: Int?
        for position in part.indices {
            switch part[position] {
            case UInt8(ascii: ","): comma = position
            case UInt8(ascii: "]"), UInt8(ascii: "}"):
                guard let comma else { continue }
                throw Refusal(reason: "Nothing follows the comma at \(place(of: comma, in: text)).")
            case 0x20, 0x09, 0x0A, 0x0D: break
            default: comma = nil
            }
        }
    }

    /// Where a byte of a text stands.
    static func place(of position: Int, in text: [UInt8]) -> String {
        let lines = text[..<position].split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        return "line \(lines.count), column \((lines.last?.count ?? 0) + 1)"
    }

    /// The text in UTF-8; nil where it is broken in another encoding.
    private static func inUTF8(_ bytes: [UInt8]) -> [UInt8]? {
        func decoded<Encoding: Unicode.Encoding>(
            _ encoding: Encoding.Type,
            behind mark: Int = 0,
            isBigEndian: Bool
        ) -> [UInt8]? {
            transcoded(bytes.dropFirst(mark), from: encoding, isBigEndian: isBigEndian)
        }
        // The first character of a text is ASCII.
        let zeros = bytes.prefix(4).map { $0 == 0 }
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { return Array(bytes.dropFirst(3)) }
        if bytes.starts(with: [0, 0, 0xFE, 0xFF]) { return decoded(UTF32.self, behind: 4, isBigEndian: true) }
        if bytes.starts(with: [0xFF, 0xFE, 0, 0]) { return decoded(UTF32.self, behind: 4, isBigEndian: false) }
        if bytes.starts(with: [0xFE, 0xFF]) { return decoded(UTF16.self, behind: 2, isBigEndian: true) }
        if bytes.starts(with: [0xFF, 0xFE]) { return decoded(UTF16.self, behind: 2, isBigEndian: false) }
        if zeros == [true, true, true, false] { return decoded(UTF32.self, isBigEndian: true) }
        if zeros == [false, true, true, true] { return decoded(UTF32.self, isBigEndian: false) }
        if zeros.starts(with: [true, false]) { return decoded(UTF16.self, isBigEndian: true) }
        if zeros.starts(with: [false, true]) { return decoded(UTF16.self, isBigEndian: false) }
        return bytes
    }

    private static func transcoded<Encoding: Unicode.Encoding>(
        _ bytes: ArraySlice<UInt8>,
        from encoding: Encoding.Type,
        isBigEndian: Bool
    ) -> [UInt8]? {
        let width = Encoding.CodeUnit.bitWidth / 8
        guard bytes.count.isMultiple(of: width) else { return nil }
        func unit(at start: Int) -> Encoding.CodeUnit {
            var unit: Encoding.CodeUnit = 0
            for place in 0..<width {
                unit = unit << 8 | Encoding.CodeUnit(bytes[start + (isBigEndian ? place : width - 1 - place)])
            }
            return unit
        }
        let units = stride(from: bytes.startIndex, to: bytes.endIndex, by: width).lazy.map { unit(at: $0) }
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        let isBroken = transcode(units.makeIterator(), from: encoding, to: UTF8.self, stoppingOnError: true) {
            result.append($0)
        }
        return isBroken ? nil : result
    }
}
