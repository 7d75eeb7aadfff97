import Foundation

/// Words such as `=?UTF-8?q?Gr=C3=BC=C3=9Fe?=`, in which header fields carry what is not ASCII (RFC 2047).
enum EncodedWord {
    /// The field with its encoded words decoded; words in other character sets than UTF-8 and its subsets stay as they are.
    static func decode(_ field: String) -> String {
        var result = ""
        var rest = field[...]
        var follows = false
        while let start = rest.range(of: "=?") {
            let gap = rest[..<start.lowerBound]
            guard let (word, end) = word(at: start.upperBound, in: rest) else {
                result += rest[..<start.upperBound]
                rest = rest[start.upperBound...]
                follows = false
                continue
            }
            // White space between two encoded words is not part of the text.
            if !follows || !gap.allSatisfy(\.isWhitespace) { result += gap }
            result += word
            rest = rest[end...]
            follows = true
        }
        return result + rest
    }

    private static func word(at start: String.Index, in text: Substring) -> (String, String.Index)? {
        let parts = text[start...].split(separator: "?", maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count == 4, parts[3].hasPrefix("="), ["utf-8", "us-ascii"].contains(parts[0].lowercased()) else {
            return nil
        }
        let bytes: [UInt8]?
        switch parts[1].lowercased() {
        case "b": bytes = Data(base64Encoded: String(parts[2])).map(Array.init)
        case "q": bytes = quotedBytes(parts[2])
        default: bytes = nil
        }
        guard let bytes else { return nil }
        return (String(decoding: bytes, as: UTF8.self), text.index(after: parts[3].startIndex))
    }

    private static func quotedBytes(_ text: Substring) -> [UInt8]? {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "_"):
                bytes.append(0x20)
            case UInt8(ascii: "="):
                guard rest.count >= 2, let code = UInt8(String(rest.prefix(2)) ?? "", radix: 16) else { return nil }
                bytes.append(code)
                rest = rest.dropFirst(2)
            default:
                bytes.append(byte)
            }
        }
        return bytes
    }
}
