/// Finds code in the prose of messages, where nobody builds it: it belongs between backticks.
package enum NakedNames {
    /// What of a message looks like code, or names what the library declares.
    package static func names(in message: Message, _ declared: DeclaredNames) -> [String] {
        guard message.isSentence else { return [] }
        // Operators of key paths (`@count`) are written as they are.
        let prose = message.prose.replacing(/@[a-z]\w*/, with: "…")
        var found: [String] = []
        // `name(`, `Type.name`, `name { `, `label:)`, `@Wrapper`, and names of several words.
        for pattern in [
            /[A-Za-z_]\w*\(/, /\b[A-Za-z_]\w*\.[a-z]\w*/, /\w \{/, /\b[a-z]\w*:[^\s\/\u{FFFC}]/, /@[A-Z]\w*/,
            /\b_?[a-z]+[A-Z]\w*/,
        ] {
            found += prose.matches(of: pattern).map { String($0.output) }
        }
        // Types of the library whose names are no words: `ThreadSafeReference`.
        found += prose.matches(of: /\b[A-Z][a-z]+[A-Z]\w*/).map { String($0.output) }
            .filter { declared.plain.contains($0) }
        // What is to be called: "call thaw first".
        found += prose.matches(of: /\b(?:[Cc]all(?:ing)?|[Uu]s(?:e|ing)) (?<name>[a-z]\w*)/).map { String($0.name) }
            .filter { declared.functions.contains($0) }
        return found
    }
}
