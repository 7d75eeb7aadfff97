/// The names that the sources of the library declare for their users: plain ones, and those of functions with their labels.
package struct DeclaredNames {
    /// Plain names, also of functions and of arguments.
    package private(set) var plain: Set<String> = []
    /// Those of functions and initializers alone, without labels.
    package private(set) var functions: Set<String> = []
    /// The labels of each function and initializer of a name; `init` for all initializers.
    private var labels: [String: [[String]]] = [:]

    /// A name without arguments, or with labels in place of them: `isInvalidated`, `commit()`, `Realm(actor:)`, `@Persisted`.
    package static var pattern: Regex<(Substring, name: Substring, labels: Substring?)> {
        /@?(?<name>[A-Za-z_]\w*)(?:\((?<labels>(?:\w+:)*)\))?/
    }

    package init() {}

    /// Adds what a source declares as `public`, `open` or `package`, and the cases of enums.
    package mutating func read(_ source: String) {
        let declaration =
            /(?:^|\n) *(?:@\w+(?:\([^)\n]*\))? +)*(?:(?:[a-z]+ )*?(?:public|open|package)(?:\(set\))? [a-z_() ]*?(?<kind>func|init|var|let|class(?! (?:func|var))|struct|enum|protocol|actor|typealias)|case)(?: ?`?)(?<name>\w+)?/
        for match in source.matches(of: declaration) {
            if match.kind != "init", let name = match.name { plain.insert(String(name)) }
            guard match.kind == "func" || match.kind == "init" else { continue }
            let name = match.kind == "init" ? "init" : String(match.name ?? "")
            if match.kind == "func" { functions.insert(name) }
            let labels = Self.labels(in: source[match.range.upperBound...])
            self.labels[name, default: []].append(labels)
            plain.formUnion(labels)
        }
    }

    /// The labels of a declaration's arguments.
    private static func labels(in source: Substring) -> [String] {
        // Those of generics have no parentheses.
        guard let start = source.firstIndex(of: "(") else { return [] }
        var depth = 0
        var labels: [String] = []
        var word = ""
        var isBehindLabel = false
        for character in source[source.index(after: start)...] {
            switch character {
            case "(", "[", "<", "{": depth += 1
            case ")" where depth == 0: return labels
            case ")", "]", "}": depth -= 1
            case ">" where depth > 0: depth -= 1
            case "," where depth == 0:
                word = ""
                isBehindLabel = false
            case ":" where depth == 0 && !isBehindLabel:
                let words = word.split { $0 == " " || $0 == "\n" }.filter { !$0.hasPrefix("@") }
                labels.append(words.first.map(String.init) ?? "")
                isBehindLabel = true
            default: if depth == 0 { word.append(character) }
            }
        }
        return labels
    }

    /// Whether something has a name: where it has labels, a function with these among its own, in their order.
    package func contains(_ span: String) -> Bool {
        guard let match = span.wholeMatch(of: Self.pattern) else { return false }
        let name = String(match.name)
        guard let shown = match.labels else { return plain.contains(name) }
        let wanted = shown.split(separator: ":").map(String.init)
        let known = (labels[name] ?? []) + (plain.contains(name) && name.first!.isUppercase ? labels["init"] ?? [] : [])
        return known.contains { declared in
            var rest = wanted[...]
            for label in declared where label == rest.first { rest.removeFirst() }
            return rest.isEmpty
        }
    }
}
