/// A `LIKE` pattern: `*` stands for any run of characters, `?` for one.
///
/// There are no escapes, as in Realm. Matching goes back to the last `*` only, so its time is bounded by the product of
/// the two lengths.
struct LikePattern: Sendable {
    private let pattern: [UInt8]

    init(_ pattern: [UInt8]) {
        // Runs of `*` are one `*`: they would only add steps.
        self.pattern = pattern.indices.reduce(into: []) { result, index in
            if pattern[index] == UInt8(ascii: "*"), result.last == UInt8(ascii: "*") { return }
            result.append(pattern[index])
        }
    }

    /// Whether the whole text matches.
    func matches(_ text: UnsafeRawBufferPointer) -> Bool {
        pattern.withUnsafeBufferPointer { matches(text, $0) }
    }

    private func matches(_ text: UnsafeRawBufferPointer, _ pattern: UnsafeBufferPointer<UInt8>) -> Bool {
        var position = 0
        var next = 0
        /// Where to resume: behind the last `*`, and the text position that it reaches to.
        var resume: (next: Int, position: Int)?
        while position < text.count {
            if next < pattern.count, pattern[next] == UInt8(ascii: "*") {
                next += 1
                resume = (next, position)
                if next == pattern.count { return true }
            } else if next < pattern.count, pattern[next] == UInt8(ascii: "?") {
                position += TextFolding.decode(text, at: position).length
                next += 1
            } else if next < pattern.count, pattern[next] == text[position] {
                position += 1
                next += 1
            } else if let last = resume {
                position = last.position + 1
                while position < text.count, text[position] & 0xC0 == 0x80 { position += 1 }
                next = last.next
                resume = (next, position)
            } else {
                return false
            }
        }
        while next < pattern.count, pattern[next] == UInt8(ascii: "*") { next += 1 }
        return next == pattern.count
    }
}
