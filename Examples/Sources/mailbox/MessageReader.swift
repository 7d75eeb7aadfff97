import ExampleSupport
import Foundation

/// Reads mails, one at a time, from an mbox file: each begins with a line "From ", then come header fields, an empty line
/// and the text, in which lines that would begin with "From " begin with ">From ".
final class MessageReader {
    private let lines: LineReader
    private var envelope: String?
    private var isFirst = true

    init(_ source: ByteSource) {
        lines = LineReader(source)
    }

    /// The next mail, or nil at the end.
    func next() throws -> Message? {
        if isFirst {
            isFirst = false
            while let line = try nextLine() {
                if line.hasPrefix("From ") {
                    envelope = line
                    break
                }
            }
        }
        guard let envelope else { return nil }
        self.envelope = nil
        var header = MessageHeader()
        var text: [String] = []
        var isInHeader = true
        while let line = try nextLine() {
            if isInHeader {
                isInHeader = !line.isEmpty
                header.take(line)
            } else if line.hasPrefix("From "), text.last?.isEmpty ?? true {
                self.envelope = line
                break
            } else {
                text.append(line.hasPrefix(">From ") ? String(line.dropFirst()) : line)
            }
        }
        return Message(
            identifier: header["message-id"] ?? envelope,
            sender: header["from"].map(EncodedWord.decode) ?? "",
            subject: header["subject"].map(EncodedWord.decode) ?? "",
            date: header["date"].flatMap(MessageHeader.date) ?? Date(timeIntervalSince1970: 0),
            text: text.joined(separator: "\n")
        )
    }

    private func nextLine() throws -> String? {
        try lines.withNextLine { bytes in
            String(decoding: bytes.last == 0x0D ? bytes.dropLast() : bytes[...], as: UTF8.self)
        }
    }
}
