import Foundation

/// A function, an initializer, a subscript or a computed property that the library's sources declare for programs.
struct PublicDeclaration {
    let file: String
    let line: Int
    /// `init` and `subscript` for what has no name.
    let name: String
    /// What stands before the body.
    let head: String
    let body: String
    let comment: String

    var canThrow: Bool { head.contains(/\b(?:re)?throws\b/) }

    /// What its documentation says must hold, to the end of the comment or the next item of it.
    var precondition: Substring? {
        comment.firstMatch(of: /- Precondition: (?<text>(?:(?! - [A-Z]).)*)/)?.text
    }

    var description: String { "\(file):\(line) \(name)" }

    func hasLabel(_ label: String) -> Bool {
        ["(", ", ", "\n        "].contains { head.contains($0 + label + ":") || head.contains($0 + label + " ") }
    }

    /// Those of a source, in their order.
    static func all(in file: URL) throws -> [PublicDeclaration] {
        let lines = try String(contentsOf: file, encoding: .utf8)
            .split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        return lines.indices
            // Regular expressions are slow where most lines are something else.
            .filter { lines[$0].hasPrefix(" ") && (lines[$0].contains("public ") || lines[$0].contains("open ")) }
            .compactMap { declaration(at: $0, of: lines, file.lastPathComponent) }
    }

    private static func declaration(at index: Int, of lines: [String], _ file: String) -> PublicDeclaration? {
        let start =
            #/(?<indent> +)(?:@\w+ )*(?:public|open) (?:(?:final|convenience|required|override|static|class|mutating|nonmutating|nonisolated) )*(?:(?:func|var) `?(?<name>[^\s(<:`]+)|(?<kind>init|subscript))/#
        guard let match = lines[index].prefixMatch(of: start) else { return nil }
        // The body ends with the first brace that stands where the declaration begins.
        let ends = ["}", ")"].map { match.indent + $0 }
        var rows = [lines[index]]
        var isOpen = lines[index].hasSuffix("{") || lines[index].hasSuffix("(")
        // Without a brace what a function returns or is for stands in the next line; a stored property ends here.
        if !lines[index].contains("{"), !lines[index].contains(" var ") { isOpen = true }
        var next = index + 1
        while isOpen, next < lines.count {
            rows.append(lines[next])
            if (ends + ["\(match.indent)where "]).contains(where: { lines[next].hasPrefix($0) }) {
                isOpen = lines[next].hasSuffix("{")
            }
            next += 1
            if !isOpen, next < lines.count, lines[next].hasPrefix("\(match.indent)where ") { isOpen = true }
        }
        let text = rows.joined(separator: "\n")
        let brace = text.firstIndex(of: "{") ?? text.endIndex
        let comment = lines[..<index].reversed().drop { $0.contains(/^ *(?:@|\)|\*,|unavailable|message|")/) }
            .prefix { $0.contains(/^ *\/\/\//) }.reversed()
        return PublicDeclaration(
            file: file,
            line: index + 1,
            name: String(match.name ?? match.kind ?? ""),
            head: String(text[..<brace]),
            body: String(text[brace...]),
            comment: comment.map { $0.drop { $0 == " " || $0 == "/" } }.joined(separator: " ")
        )
    }
}
