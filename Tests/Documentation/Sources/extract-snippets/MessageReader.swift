/// Finds the string literals of a Swift source.
///
/// Literals that only `+` joins are one message. Those in an interpolation are messages of their own.
package struct MessageReader {
    private let text: [Character]
    private var place = 0
    private var line = 1
    private var found: [Message] = []
    /// Whether only spaces, comments and one `+` stand behind the message that was found last, and whether there was a `+`.
    private var continues = false
    private var isJoined = false

    private init(_ text: String) { self.text = Array(text) }

    package static func messages(in text: String) -> [Message] {
        var reader = MessageReader(text)
        reader.readCode(untilParenthesis: false)
        return reader.found
    }

    private func at(_ word: String) -> Bool { text[place...].starts(with: word) }

    private mutating func step() {
        if text[place] == "\n" { line += 1 }
        place += 1
    }

    /// Reads code to its end, or to the parenthesis that closes an interpolation.
    private mutating func readCode(untilParenthesis: Bool) {
        var depth = 0
        while place < text.count {
            if at("//") {
                while place < text.count, text[place] != "\n" { step() }
                continue
            }
            if at("/*") {
                while place < text.count, !at("*/") { step() }
                continue
            }
            let character = text[place]
            if character == "\"" || character == "#" {
                let hashes = text[place...].prefix { $0 == "#" }.count
                if place + hashes < text.count, text[place + hashes] == "\"" {
                    readLiteral(hashes)
                    continue
                }
            }
            switch character {
            case " ", "\n": break
            case "+" where continues && !isJoined: isJoined = true
            case "(":
                depth += 1
                continues = false
            case ")":
                if untilParenthesis, depth == 0 {
                    step()
                    return
                }
                depth -= 1
                continues = false
            default: continues = false
            }
            step()
        }
    }

    private mutating func readLiteral(_ hashes: Int) {
        let start = line
        let joins = continues && isJoined
        let fence = String(repeating: "#", count: hashes)
        for _ in 0..<hashes { step() }
        let quotes = at("\"\"\"") ? "\"\"\"" : "\""
        for _ in quotes { step() }
        var content: [Character] = []
        while place < text.count, !at(quotes + fence) {
            guard at("\\" + fence), place + hashes + 1 < text.count else {
                content.append(text[place])
                step()
                continue
            }
            for _ in 0...hashes { step() }
            switch text[place] {
            case "(":
                step()
                let outer = found
                found = []
                continues = false
                readCode(untilParenthesis: true)
                found = found + outer
                content.append(Message.filling)
                continue
            case "n": content.append("\n")
            case "t": content.append("\t")
            // The line goes on behind the spaces of the next one.
            case "\n": while place + 1 < text.count, text[place + 1] == " " { step() }
            case let character: content.append(character)
            }
            step()
        }
        for _ in 0..<(quotes.count + hashes) where place < text.count { step() }
        let message = Message(line: start, text: content)
        if joins, let last = found.indices.last {
            found[last].append(message)
        } else {
            found.append(message)
        }
        continues = true
        isJoined = false
    }
}
