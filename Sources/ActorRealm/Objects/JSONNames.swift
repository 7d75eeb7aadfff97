import FoundationEssentials

/// The names of JSON objects by their bytes.
///
/// A decoder keeps the members of an object by name, and takes two spellings of one text for the same: one of the two would be lost.
/// Therefore names that are not plain ASCII are spelled as their bytes before JSON is decoded, and read back behind the decoder.
enum JSONNames {
    /// What a spelled name begins with; other names that begin so are spelled, too.
    private static let mark = UInt8(ascii: "=")

    /// Told to the decoder of a text in which names are spelled.
    static let areSpelled = CodingUserInfoKey(rawValue: "ActorRealm.names")!

    /// The text in UTF-8 with such names spelled, and numbers as ``JSONNumbers`` has them, and a space behind it: a decoder ends the
    /// process where the last byte of a text is a bracket too deep.
    ///
    /// - Throws: Where a name stands twice in one object, of which a decoder would keep one value, and what ``JSONText`` refuses.
    static func spelled(_ json: Data) throws(JSONText.Refusal) -> Data {
        let bytes = try JSONText.utf8(json)
        let decoder = JSONDecoder()
        var result: [UInt8] = []
        var copied = 0
        var position = 0
        var members = Members()
        func spellNumbers(_ part: Range<Int>) {
            for number in JSONNumbers.far(in: bytes[part]) {
                result += bytes[copied..<number.lowerBound]
                result += JSONNumbers.spelled(bytes[number])
                copied = number.upperBound
            }
        }
        while let start = bytes[position...].firstIndex(of: UInt8(ascii: "\"")) {
            try JSONText.checkCommas(in: bytes[position..<start], of: bytes)
            members.follow(bytes[position..<start])
            spellNumbers(position..<start)
            // A text that has no end, and what follows it, are the decoder's to refuse.
            position = bytes.count
            guard let (end, isPlain) = end(ofTextAt: start, in: bytes) else { break }
            position = end
            guard isName(endingAt: end, in: bytes) else { continue }
            if isPlain, bytes[start + 1] != mark {
                try members.add(bytes[(start + 1)..<(end - 1)], at: start, of: bytes)
                continue
            }
            guard let name = try? decoder.decode(String.self, from: Data(bytes[start..<end])) else { continue }
            try members.add(ArraySlice(name.utf8), at: start, of: bytes)
            result += bytes[copied..<start]
            result.append(UInt8(ascii: "\""))
            if needsNothing(name) {
                // Escaped without need: the decoder is to take it for the same as one that is not.
                result += name.utf8
            } else {
                result.append(mark)
                for byte in name.utf8 { result += [digit(byte >> 4), digit(byte & 15)] }
            }
            result.append(UInt8(ascii: "\""))
            copied = end
        }
        try JSONText.checkCommas(in: bytes[position...], of: bytes)
        spellNumbers(position..<bytes.count)
        return Data(result + bytes[copied...] + [0x20])
    }

    /// The names of the objects that a place in a text lies in.
    private struct Members {
        /// Deeper ones are the decoder's to refuse.
        private static let greatestDepth = 1_000
        private var open: [Set<ArraySlice<UInt8>>] = []
        private var deeper = 0

        /// Goes over a part between two texts.
        mutating func follow(_ part: ArraySlice<UInt8>) {
            for byte in part {
                switch byte {
                case UInt8(ascii: "{"): if open.count < Self.greatestDepth { open.append([]) } else { deeper += 1 }
                case UInt8(ascii: "}"): if deeper > 0 { deeper -= 1 } else { _ = open.popLast() }
                default: break
                }
            }
        }

        /// Adds a name to those of the innermost object.
        mutating func add(_ name: ArraySlice<UInt8>, at start: Int, of text: [UInt8]) throws(JSONText.Refusal) {
            guard deeper == 0, !open.isEmpty, !open[open.count - 1].insert(name).inserted else { return }
            let words = String(decoding: name.prefix(100), as: UTF8.self)
            let place = JSONText.place(of: start, in: text)
            throw JSONText.Refusal(
                reason: "The name '\(words)' stands in an object twice, the second time at \(place).",
                isJSON: true
            )
        }
    }

    /// A name as it stood in the text; one that is spelled in no such way stands for itself.
    static func name(_ name: String, from decoder: any Decoder) -> String {
        guard decoder.userInfo[areSpelled] != nil, name.utf8.first == mark else { return name }
        var bytes: [UInt8] = []
        var high: UInt8?
        for character in name.utf8.dropFirst() {
            let digit: UInt8
            switch character {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = character - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = character - UInt8(ascii: "a") + 10
            default: return name
            }
            if let first = high {
                bytes.append(first << 4 | digit)
                high = nil
            } else {
                high = digit
            }
        }
        return high == nil ? String(decoding: bytes, as: UTF8.self) : name
    }

    /// Where a text ends that begins at a quotation mark, and whether it is plain ASCII; nil where it has no end.
    private static func end(ofTextAt start: Int, in bytes: [UInt8]) -> (end: Int, isPlain: Bool)? {
        var isPlain = true
        var position = start + 1
        while position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: "\""): return (position + 1, isPlain)
            case UInt8(ascii: "\\"):
                isPlain = false
                position += 1
            case 0x80...: isPlain = false
            default: break
            }
            position += 1
        }
        return nil
    }

    /// Whether a name needs neither an escape nor to be spelled.
    private static func needsNothing(_ name: String) -> Bool {
        name.utf8.first != mark
            && name.utf8.allSatisfy {
                (0x20..<0x80).contains($0) && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\")
            }
    }

    /// Whether a colon follows.
    private static func isName(endingAt end: Int, in bytes: [UInt8]) -> Bool {
        bytes[end...].first { $0 != 0x20 && $0 != 0x09 && $0 != 0x0A && $0 != 0x0D } == UInt8(ascii: ":")
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }
}
