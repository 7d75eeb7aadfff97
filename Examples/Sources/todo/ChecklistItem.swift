import Foundation

/// An item of a list in a Markdown file: `- [ ] text`, or `- [x] text` when it is done.
struct ChecklistItem: Sendable {
    var text: String
    /// The heading above it.
    var section: String
    var isDone: Bool

    /// The list for contributors in this repository.
    static var standardFile: String {
        var folder = URL(fileURLWithPath: #filePath)
        for _ in 0..<4 { folder.deleteLastPathComponent() }
        return folder.appendingPathComponent("CONTRIBUTING.md").path
    }

    static func items(inFile path: String) throws -> [ChecklistItem] {
        var items: [ChecklistItem] = []
        var section = URL(fileURLWithPath: path).lastPathComponent
        for line in try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n") {
            if line.hasPrefix("#") {
                section = line.drop { $0 == "#" || $0 == " " }.description
            } else if line.hasPrefix("- [ ] ") || line.hasPrefix("- [x] ") {
                items.append(
                    ChecklistItem(
                        text: line.dropFirst(6).description,
                        section: section,
                        isDone: line.hasPrefix("- [x]")
                    )
                )
            }
        }
        return items
    }
}
