/// What a program is told by a string literal of a source, or by several that are joined by `+`.
///
/// What the message fills in is ``filling``.
package struct Message: Equatable {
    /// The line on which each literal begins, from 1, with the place in the text at which it begins.
    private var pieces: [(line: Int, start: Int)]
    package private(set) var text: [Character]

    /// Stands for what an interpolation fills in.
    package static var filling: Character { "\u{FFFC}" }

    init(line: Int, text: [Character]) {
        pieces = [(line, 0)]
        self.text = text
    }

    mutating func append(_ other: Message) {
        pieces += other.pieces.map { ($0.line, $0.start + text.count) }
        text += other.text
    }

    /// The line of the literal that has a place of the text.
    package func line(at place: Int) -> Int { pieces.last { $0.start <= place }?.line ?? 0 }

    /// The line on which the message begins.
    package var line: Int { line(at: 0) }

    package static func == (left: Message, right: Message) -> Bool {
        left.line == right.line && left.text == right.text
    }

    /// Whether it is made of words, and no key, operator or name.
    package var isSentence: Bool {
        text.split(separator: " ").count { $0.contains(where: \.isLetter) } > 1
    }

    /// A piece of code between backticks.
    package struct Span {
        package var code: String
        package var line: Int
        /// The text around it as far as its sentence goes, without other spans.
        var sentence: String
        /// The text behind it up to the next span or the end of the sentence.
        var following: String
    }

    /// The code between backticks; nil where a backtick has no other one.
    package var spans: [Span]? {
        let ticks = text.indices.filter { text[$0] == "`" }
        guard ticks.count.isMultiple(of: 2) else { return nil }
        let ends = stride(from: 0, to: ticks.count, by: 2).map { (ticks[$0], ticks[$0 + 1]) }
        return ends.map { start, end in
            let from = sentenceStart(before: start)
            let to = sentenceEnd(after: end, ends)
            let around = text.indices[from..<to].filter { place in !ends.contains { $0.0 <= place && place <= $0.1 } }
            let next = ends.first { $0.0 > end }?.0 ?? text.count
            return Span(
                code: String(text[(start + 1)..<end]),
                line: line(at: start),
                sentence: String(around.map { text[$0] }),
                following: String(text[(end + 1)..<max(end + 1, min(to, next))])
            )
        }
    }

    /// The text without what stands between backticks and in quotation marks, which are names of the program and the file.
    package var prose: String {
        let parts = text.split(separator: "`", omittingEmptySubsequences: false)
        return stride(from: 0, to: parts.count, by: 2).map { String(parts[$0]) }.joined(separator: "…")
            .replacing(/'[A-Za-z@.\u{FFFC}]+'/, with: "…")
    }

    private func endsSentence(_ place: Int) -> Bool {
        text[place] == "." && (place + 1 == text.count || text[place + 1] == " " || text[place + 1] == "\n")
    }

    private func sentenceStart(before place: Int) -> Int {
        text.indices[..<place].last { endsSentence($0) }.map { $0 + 1 } ?? 0
    }

    private func sentenceEnd(after place: Int, _ ends: [(Int, Int)]) -> Int {
        text.indices[place...]
            .first { candidate in endsSentence(candidate) && !ends.contains { $0.0 < candidate && candidate < $0.1 } }
            ?? text.count
    }
}
