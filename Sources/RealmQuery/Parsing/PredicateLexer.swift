import RealmModel

/// Splits the text of a predicate into tokens, one at a time.
struct PredicateLexer {
    private let text: [UInt8]
    private var position = 0

    init(_ text: [UInt8]) {
        self.text = text
    }

    /// What went wrong while reading a token.
    struct Failure: Error {
        var message: String
        var position: Int
    }

    /// The next token; `.end` again and again after the last.
    mutating func next() throws(Failure) -> PredicateToken {
        skipWhitespace()
        let start = position
        guard let byte = peek() else { return PredicateToken(kind: .end, position: start) }
        let kind: PredicateToken.Kind
        switch byte {
        case UInt8(ascii: "("): kind = take(1, .openParenthesis)
        case UInt8(ascii: ")"): kind = take(1, .closeParenthesis)
        case UInt8(ascii: "{"): kind = take(1, .openBrace)
        case UInt8(ascii: "}"): kind = take(1, .closeBrace)
        case UInt8(ascii: "["): kind = take(1, .openBracket)
        case UInt8(ascii: "]"): kind = take(1, .closeBracket)
        case UInt8(ascii: ","): kind = take(1, .comma)
        case UInt8(ascii: "'"), UInt8(ascii: "\""): kind = .string(try string(quote: byte))
        case UInt8(ascii: "%"): kind = .placeholder(try placeholder())
        case UInt8(ascii: "0")...UInt8(ascii: "9"): kind = try number()
        case UInt8(ascii: "."):
            kind = isDigit(peek(1)) ? try number() : take(1, .dot)
        case UInt8(ascii: "-"), UInt8(ascii: "+"):
            guard isDigit(peek(1)) || (peek(1) == UInt8(ascii: ".") && isDigit(peek(2))) else {
                throw Failure(message: "arithmetic is not supported", position: start)
            }
            kind = try number()
        case UInt8(ascii: "*"), UInt8(ascii: "/"):
            throw Failure(message: "arithmetic is not supported", position: start)
        case UInt8(ascii: "@"):
            position += 1
            kind = .collectionOperator("@" + (try name(after: "@")))
        case UInt8(ascii: "$"):
            position += 1
            kind = .variable("$" + (try name(after: "$")))
        case UInt8(ascii: "#"):
            position += 1
            kind = .escapedWord(try name(after: "#"))
        case UInt8(ascii: "="), UInt8(ascii: "!"), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "&"),
            UInt8(ascii: "|"):
            kind = try symbol(byte)
        default:
            guard isNameStart(byte) else {
                throw Failure(message: "unexpected character '\(character(at: start))'", position: start)
            }
            kind = .word(try name(after: ""))
        }
        return PredicateToken(kind: kind, position: start)
    }

    private func peek(_ offset: Int = 0) -> UInt8? {
        position + offset < text.count ? text[position + offset] : nil
    }

    private mutating func take(_ count: Int, _ kind: PredicateToken.Kind) -> PredicateToken.Kind {
        position += count
        return kind
    }

    private mutating func skipWhitespace() {
        while let byte = peek(), byte == 0x20 || (0x09...0x0D).contains(byte) { position += 1 }
    }

    private func isDigit(_ byte: UInt8?) -> Bool {
        guard let byte else { return false }
        return byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9")
    }

    private func isNameStart(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"), 0x80...:
            true
        default: false
        }
    }

    /// The character at an offset, for messages.
    private func character(at start: Int) -> String {
        let rest = String(decoding: text[start..<min(start + 32, text.count)], as: UTF8.self)
        return rest.unicodeScalars.first.map { $0.value < 0x20 || $0.value == 0x7F ? "\\u{\($0.value)}" : "\($0)" }
            ?? ""
    }

    private mutating func name(after prefix: String) throws(Failure) -> String {
        let start = position
        guard let first = peek(), isNameStart(first) else {
            throw Failure(message: "a name must follow '\(prefix)'", position: start)
        }
        while let byte = peek(), isNameStart(byte) || isDigit(byte) { position += 1 }
        return String(decoding: text[start..<position], as: UTF8.self)
    }

    private mutating func symbol(_ byte: UInt8) throws(Failure) -> PredicateToken.Kind {
        let second = peek(1)
        switch (byte, second) {
        case (UInt8(ascii: "="), UInt8(ascii: "=")): return take(2, .comparison(.equal))
        case (UInt8(ascii: "="), UInt8(ascii: "<")): return take(2, .comparison(.lessOrEqual))
        case (UInt8(ascii: "="), UInt8(ascii: ">")): return take(2, .comparison(.greaterOrEqual))
        case (UInt8(ascii: "="), _): return take(1, .comparison(.equal))
        case (UInt8(ascii: "!"), UInt8(ascii: "=")): return take(2, .comparison(.notEqual))
        case (UInt8(ascii: "!"), _): return take(1, .not)
        case (UInt8(ascii: "<"), UInt8(ascii: "=")): return take(2, .comparison(.lessOrEqual))
        case (UInt8(ascii: "<"), UInt8(ascii: ">")): return take(2, .comparison(.notEqual))
        case (UInt8(ascii: "<"), _): return take(1, .comparison(.less))
        case (UInt8(ascii: ">"), UInt8(ascii: "=")): return take(2, .comparison(.greaterOrEqual))
        case (UInt8(ascii: ">"), _): return take(1, .comparison(.greater))
        case (UInt8(ascii: "&"), UInt8(ascii: "&")): return take(2, .and)
        case (UInt8(ascii: "|"), UInt8(ascii: "|")): return take(2, .or)
        default:
            throw Failure(message: "unexpected character '\(character(at: position))'", position: position)
        }
    }

    private mutating func placeholder() throws(Failure) -> PredicateToken.Placeholder {
        let start = position
        position += 1
        if peek() == UInt8(ascii: "@") {
            position += 1
            return .any
        }
        if peek() == UInt8(ascii: "K") {
            position += 1
            return .keyPath
        }
        while let byte = peek(),
            [UInt8(ascii: "l"), UInt8(ascii: "h"), UInt8(ascii: "q"), UInt8(ascii: "z")].contains(byte),
            position - start < 3
        {
            position += 1
        }
        switch peek() {
        case UInt8(ascii: "d"), UInt8(ascii: "i"), UInt8(ascii: "u"), UInt8(ascii: "D"), UInt8(ascii: "U"):
            position += 1
            return .integer
        case UInt8(ascii: "f"), UInt8(ascii: "F"), UInt8(ascii: "g"), UInt8(ascii: "G"), UInt8(ascii: "e"),
            UInt8(ascii: "E"):
            position += 1
            return .floatingPoint
        default:
            throw Failure(message: "unknown placeholder; use %@, %K, %d or %f", position: start)
        }
    }

    private mutating func number() throws(Failure) -> PredicateToken.Kind {
        let start = position
        if let sign = peek(), sign == UInt8(ascii: "-") || sign == UInt8(ascii: "+") { position += 1 }
        if peek() == UInt8(ascii: "0"), peek(1) == UInt8(ascii: "x") || peek(1) == UInt8(ascii: "X") {
            return try hexadecimal(from: start)
        }
        var isWhole = true
        while isDigit(peek()) { position += 1 }
        if peek() == UInt8(ascii: "."), isDigit(peek(1)) {
            isWhole = false
            position += 1
            while isDigit(peek()) { position += 1 }
        }
        if let exponent = peek(), exponent == UInt8(ascii: "e") || exponent == UInt8(ascii: "E") {
            let signLength = peek(1) == UInt8(ascii: "-") || peek(1) == UInt8(ascii: "+") ? 1 : 0
            if isDigit(peek(1 + signLength)) {
                isWhole = false
                position += 1 + signLength
                while isDigit(peek()) { position += 1 }
            }
        }
        if let byte = peek(), isNameStart(byte) {
            throw Failure(message: "a number must not run into a name", position: position)
        }
        guard position - start <= 400 else { throw Failure(message: "the number is too long", position: start) }
        let digits = String(decoding: text[start..<position], as: UTF8.self)
        if isWhole {
            if let value = Int64(digits) { return .int(value) }
            // Exact, as an argument of the same value is; a double would be another number.
            let significant = text[start..<position].drop { !isDigit($0) || $0 == UInt8(ascii: "0") }
            if significant.count <= DecimalNumber.precision, let value = DecimalNumber(parsing: digits) {
                return .decimal(DecimalBytes(value))
            }
        }
        guard let value = Double(digits), value.isFinite else {
            throw Failure(message: "the number is too large", position: start)
        }
        return .double(value)
    }

    private mutating func hexadecimal(from start: Int) throws(Failure) -> PredicateToken.Kind {
        let isNegative = text[start] == UInt8(ascii: "-")
        position += 2
        let digitsStart = position
        while let byte = peek(), isNameStart(byte) || isDigit(byte) { position += 1 }
        let digits = String(decoding: text[digitsStart..<min(position, digitsStart + 40)], as: UTF8.self)
        guard let magnitude = Int64((isNegative ? "-" : "") + digits, radix: 16) else {
            throw Failure(message: "not a hexadecimal number that fits 64 bits", position: start)
        }
        return .int(magnitude)
    }

    private mutating func string(quote: UInt8) throws(Failure) -> String {
        let start = position
        position += 1
        var bytes: [UInt8] = []
        while let byte = peek() {
            position += 1
            if byte == quote { return String(decoding: bytes, as: UTF8.self) }
            if byte == UInt8(ascii: "\\") {
                try escape(into: &bytes)
            } else {
                bytes.append(byte)
            }
        }
        throw Failure(message: "the string is not closed", position: start)
    }

    private mutating func escape(into bytes: inout [UInt8]) throws(Failure) {
        let start = position - 1
        guard let byte = peek() else { throw Failure(message: "the string is not closed", position: start) }
        position += 1
        switch byte {
        case UInt8(ascii: "n"): bytes.append(0x0A)
        case UInt8(ascii: "r"): bytes.append(0x0D)
        case UInt8(ascii: "t"): bytes.append(0x09)
        case UInt8(ascii: "0"): bytes.append(0x00)
        case UInt8(ascii: "u"), UInt8(ascii: "U"):
            var scalar = try codeUnit(escape: start)
            if (0xD800..<0xDC00).contains(scalar), peek() == UInt8(ascii: "\\"),
                peek(1) == UInt8(ascii: "u") || peek(1) == UInt8(ascii: "U")
            {
                position += 2
                let low = try codeUnit(escape: start)
                guard (0xDC00..<0xE000).contains(low) else {
                    throw Failure(message: "not a Unicode character", position: start)
                }
                scalar = 0x10000 + ((scalar - 0xD800) << 10) + (low - 0xDC00)
            }
            guard let value = Unicode.Scalar(scalar) else {
                throw Failure(message: "not a Unicode character", position: start)
            }
            bytes.append(contentsOf: String(value).utf8)
        default:
            // `\'`, `\"`, `\\` and every other character stand for themselves.
            bytes.append(byte)
        }
    }

    /// The four hexadecimal digits of `\uXXXX`.
    private mutating func codeUnit(escape start: Int) throws(Failure) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<4 {
            guard let byte = peek(), let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
                throw Failure(message: "'\\u' takes four hexadecimal digits", position: start)
            }
            value = value << 4 | UInt32(digit)
            position += 1
        }
        return value
    }
}
