/// Finds the code that a file shows.
///
/// In a page this is every block that is fenced as `swift`. In a Swift source it is every such block of a documentation comment,
/// and every code span of a string literal: the code that a message recommends, as far as it is more than a name. A block behind the
/// line `<!-- not compiled: REASON -->` is left out.
package enum SnippetReader {
    package static func snippets(in text: String, path: String) -> [Snippet] {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        if path.hasSuffix(".md") { return blocks(in: lines.map { $0 }, path: path) }
        let comments = lines.map(documentation)
        return blocks(in: comments, path: path) + spans(in: text, path: path)
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

    /// The code that messages show between backticks, each as something to be built.
    private static func spans(in text: String, path: String) -> [Snippet] {
        MessageReader.messages(in: text)
            .flatMap { message in
                (message.spans ?? []).filter { isCode($0.code) }
                    .map { Snippet(path: path, line: $0.line, code: [statement(of: $0)]) }
            }
    }

    /// Whether a span is code to be built, and not the name of a declaration, an operator, or what the message fills in.
    package static func isCode(_ span: String) -> Bool {
        span.contains(where: \.isLetter) && span.wholeMatch(of: DeclaredNames.pattern) == nil
    }

    /// What is built of a span, whose sentence says what is to be done with it.
    private static func statement(of span: Message.Span) -> String {
        let code = filled(span.code)
        if code.hasPrefix("@") { return "class Shown: Object { \(code) }" }
        // What a message tells to send must be something that can be sent.
        if span.sentence.contains(/\b[Ss]end\b/), !code.hasPrefix("try") { return "sends(\(code))" }
        // Where a function suspends, the compiler wants what suspends.
        if span.following.contains("synchronous") { return "func synchronous() throws { _ = \(code) }" }
        return "_ = \(code)"
    }

    /// Code with something in the place of what its message fills in.
    private static func filled(_ code: String) -> String {
        code.replacing("\"\(Message.filling)\"", with: "\"filled\"").replacing("\(Message.filling)", with: "filled")
    }
}
