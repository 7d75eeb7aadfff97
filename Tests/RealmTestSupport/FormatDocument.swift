import Foundation

/// `Docs/FileFormat.md`, for tests that compare its tables with the sources.
public struct FormatDocument {
    /// A row of a table of the page which begins with an offset.
    public struct Row {
        /// Where the field begins.
        public let offset: Int
        /// How many bytes the field has, as the page says it.
        public let size: String
        /// What the row says of it.
        public let text: String

        /// The same as a number; nil where it is another one in each page or entry.
        public var byteCount: Int? { Int(size) }
    }

    /// The page does not say something.
    public struct Missing: Error {
        /// The line that was looked for.
        public let marker: String
    }

    /// The page.
    public let text: String

    /// Reads the page.
    ///
    /// - Throws: What reading a file throws.
    public init() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        text = try String(contentsOf: root.appendingPathComponent("Docs/FileFormat.md"), encoding: .utf8)
    }

    /// The rows with an offset of the first table behind a line.
    public func rows(behind marker: String) throws -> [Row] {
        guard let start = text.range(of: marker) else { throw Missing(marker: marker) }
        var result: [Row] = []
        var isInTable = false
        for line in text[start.upperBound...].split(separator: "\n", omittingEmptySubsequences: false).dropFirst() {
            guard line.hasPrefix("|") else {
                if isInTable { break }
                continue
            }
            isInTable = true
            let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            guard cells.count >= 3, let offset = Int(cells[0]) else { continue }
            result.append(Row(offset: offset, size: cells[1], text: cells[2]))
        }
        return result
    }

    /// What a table says otherwise than bytes that the library stored.
    ///
    /// - Parameters:
    ///   - marker: The line behind which the table stands, of which the rows count that have an offset and a number of bytes.
    ///   - stored: The bytes.
    ///   - fields: What these hold, in their order: what the row begins with, and the bytes.
    /// - Returns: The differences; nothing where there are none.
    /// - Throws: ``Missing`` where the page has no such line.
    public func differences(
        behind marker: String,
        from stored: some Sequence<UInt8>,
        holding fields: [(text: String, bytes: [UInt8])]
    ) throws -> [String] {
        let stored = Array(stored)
        let rows = try rows(behind: marker).filter { $0.byteCount != nil }
        var result: [String] = []
        if rows.count != fields.count { result.append("\(rows.count) rows for \(fields.count) fields") }
        for (row, field) in zip(rows, fields) {
            if !row.text.hasPrefix(field.text) {
                result.append("the row at \(row.offset) is \"\(row.text)\", not \"\(field.text)\"")
            }
            let found = Array(stored.dropFirst(row.offset).prefix(row.byteCount ?? 0))
            if found != field.bytes { result.append("\"\(row.text)\" is \(found), not \(field.bytes)") }
        }
        return result
    }

    /// A number as files hold it.
    public static func bytes(_ number: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: number.littleEndian) { Array($0) }
    }
}
