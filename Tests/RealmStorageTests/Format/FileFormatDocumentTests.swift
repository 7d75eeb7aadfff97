import Foundation
import Testing

@testable import RealmStorage

/// `Docs/FileFormat.md` says what the code does: the offsets in its tables are the constants.
@Suite struct FileFormatDocumentTests {
    /// The offsets in the table that follows a line of the document, with what stands there.
    private func offsets(behind marker: String) throws -> [Int: String] {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let text = try String(contentsOf: root.appendingPathComponent("Docs/FileFormat.md"), encoding: .utf8)
        let start = try #require(text.range(of: marker), "the document has no \"\(marker)\"")
        var result: [Int: String] = [:]
        var isInTable = false
        for line in text[start.upperBound...].split(separator: "\n", omittingEmptySubsequences: false).dropFirst() {
            let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            if !line.hasPrefix("|") {
                if isInTable { break }
                continue
            }
            isInTable = true
            if let offset = Int(cells[0]) { result[offset] = cells[2] }
        }
        return result
    }

    @Test func `the page header`() throws {
        let table = try offsets(behind: "Every run starts with the page header")
        #expect(table[PageHeader.pageOffset] == "page number")
        #expect(table[PageHeader.pageCountOffset] == "page count of the run")
        #expect(table[PageHeader.versionOffset] == "version that wrote the run")
        #expect(table[PageHeader.kindOffset] == "kind")
        #expect(table[PageHeader.levelOffset]?.hasPrefix("level") == true)
        #expect(table[PageHeader.entryCountOffset]?.hasPrefix("entry count") == true)
        #expect(table[PageHeader.payloadByteCountOffset]?.hasPrefix("payload byte count") == true)
        #expect(table[PageHeader.auxiliaryOffset] == "kind-specific")
        #expect(table.count == 8)
    }

    @Test func `the file header`() throws {
        let table = try offsets(behind: "A header page (`FileHeader`)")
        let constants: [Int: String] = [
            0: "page header", FileHeader.magicOffset: "magic", FileHeader.formatVersionOffset: "format version",
            FileHeader.pageSizeOffset: "page size", FileHeader.fileIDOffset: "file identifier",
            FileHeader.versionOffset: "version", FileHeader.confirmedVersionOffset: "newest version known",
            FileHeader.catalogOffset: "reference to the catalog",
            FileHeader.logOffset: "reference to the newest log segment",
            FileHeader.pageCountOffset: "number of pages", FileHeader.flagsOffset: "flags",
            FileHeader.extentCountOffset: "number of extents", FileHeader.contentChecksumOffset: "checksum over",
            FileHeader.oldestLogVersionOffset: "the changes of all versions",
            FileHeader.recordByteCountOffset: "byte count of the newest", FileHeader.extentsOffset: "extents",
            FileHeader.recordsOffset: "the commit records", FileHeader.checksumOffset: "XXH64",
        ]
        #expect(Set(table.keys) == Set(constants.keys))
        for (offset, text) in constants { #expect(table[offset]?.hasPrefix(text) == true, "offset \(offset)") }
    }

    @Test func `the lock file`() throws {
        let table = try offsets(behind: "## The lock file")
        #expect(table[LockFile.processSlotsOffset]?.hasPrefix("per process slot") == true)
        #expect(table[LockFile.readerEntriesOffset]?.hasPrefix("reader entries") == true)
        #expect(table[LockFile.rowKeysOffset]?.contains("were given out") == true)
        #expect(table[LockFile.waitingOffset]?.contains("wait for the write lock") == true)
        #expect(Set(table.keys).isSuperset(of: [0, 8, 16, 24, 32, 36, 40, 44]))
    }

    @Test func `the kinds of pages`() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let text = try String(contentsOf: root.appendingPathComponent("Docs/FileFormat.md"), encoding: .utf8)
        let line = try #require(text.range(of: "The kinds are:"))
        let list = text[line.upperBound...].prefix { $0 != "." }.replacingOccurrences(of: "\n", with: " ")
        let numbers = list.split(separator: ",").compactMap { Int($0.split(separator: " ")[0]) }
        #expect(numbers == PageKind.allCases.map { Int($0.rawValue) })
    }
}
