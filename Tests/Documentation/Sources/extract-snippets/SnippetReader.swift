/// Finds the code that a file shows.
///
/// In a page this is every block that is fenced as `swift`. In a Swift source it is every such block of a documentation comment,
/// and every code span of a string literal: the code that a message recommends. A block behind the line
/// `<!-- not compiled: REASON -->` is left out.
package enum SnippetReader {
    package static func snippets(in text: String, path: String) -> [Snippet] {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        if path.hasSuffix(".md") { return blocks(in: lines.map { $0 }, path: path) }
        let comments = lines.map(documentation)
        return blocks(in: comments, path: path) + spans(in: lines, path: path)
    }

    /// The text of a documentation comment's line; an empty one for every other line.
    private static func documentation(_ line: String) -> String {
        let content = line.drop { $0 == " " }
        guard content.hasPrefix("///") else { return "" }
        let text = content.dropFirst(3)
        return String(text.first == " " ? text.dropFirst() : text)
    }

    private static func blocks(in lines: [String], path: String) -> [Snippet] {
        var found: [Snippet] = []
        var open: Snippet?
        var isCompiled = true
        for (index, line) in lines.enumerated() {
            let content = line.drop { $0 == " " }
            if var snippet = open {
                if content.hasPrefix("```") {
                    found.append(snippet)
                    open = nil
                } else {
                    snippet.code.append(line)
                    open = snippet
                }
            } else if content.hasPrefix("```swift") {
                if isCompiled { open = Snippet(path: path, line: index + 2, code: []) }
                isCompiled = true
            } else if content.hasPrefix("<!-- not compiled:") {
                isCompiled = false
            }
        }
        return found
    }

    /// The code spans of string literals: what stands between two backticks and calls something.
    private static func spans(in lines: [String], path: String) -> [Snippet] {
        var found: [Snippet] = []
        for (index, line) in lines.enumerated() {
            let content = line.drop { $0 == " " }
            if content.hasPrefix("//") { continue }
            for literal in literals(in: line) {
                let parts = literal.split(separator: "`", omittingEmptySubsequences: false)
                for code in stride(from: 1, to: parts.count - 1, by: 2).map({ String(parts[$0]) }) where isCode(code) {
                    // What a message tells to send must be something that can be sent.
                    let isSent = literal.contains("end `")
                    let use = isSent ? "sends(\(code))" : "_ = \(code)"
                    found.append(Snippet(path: path, line: index + 1, code: [use]))
                }
            }
        }
        return found
    }

    /// Whether a span is a statement, and not the name of a declaration, of an argument, or a value that the message fills in.
    private static func isCode(_ span: String) -> Bool {
        !span.contains("\\(") && span.contains { $0 == "(" || $0 == "{" || $0 == "." || $0 == "=" || $0 == " " }
            && !span.hasSuffix("()") && !span.hasSuffix(":)")
    }

    /// What stands between the quotation marks of a line.
    private static func literals(in line: String) -> [String] {
        var found: [String] = []
        var current: String?
        var isEscaped = false
        for character in line {
            if isEscaped {
                current?.append(contentsOf: character == "\"" ? "\"" : "\\\(character)")
                isEscaped = false
            } else if character == "\\" {
                isEscaped = true
            } else if character == "\"" {
                if let literal = current {
                    found.append(literal)
                    current = nil
                } else {
                    current = ""
                }
            } else {
                current?.append(character)
            }
        }
        return found
    }
}
