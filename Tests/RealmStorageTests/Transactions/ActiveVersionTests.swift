import Foundation
import RealmStorage
import RealmTestSupport
import Testing

/// Who pins a version can be told from outside.
@Suite struct ActiveVersionTests {
    let directory = TemporaryDirectory()

    private func commit(_ file: StorageFile) throws {
        try file.publish([try file.beginWrite().prepareCommit()])
    }

    @Test func `too many active versions are an error that says who pins the oldest, since when and from where`() throws
    {
        var options = StorageOptions()
        options.durability = .none
        options.maximumNumberOfActiveVersions = 3
        let file = try StorageFile.open(path: directory.path("limit.realm"), options: options)
        #expect(try file.tryLockForWriting())
        var snapshots: [Snapshot] = []
        let line: UInt = #line + 2
        for _ in 0..<3 {
            snapshots.append(try file.beginRead(from: ReaderOrigin(fileID: #fileID, line: #line)))
            try commit(file)
        }
        snapshots.append(try file.beginRead())
        let error = #expect(throws: StorageError.self) { try commit(file) }
        #expect(error?.code == .limit)
        let message = error?.message ?? ""
        #expect(message.contains("(4)") && message.contains("limit of 3"), "\(message)")
        #expect(message.contains("version 1, held for 0 s by process \(getpid()) (this process)"), "\(message)")
        #expect(message.contains("opened at RealmStorageTests/ActiveVersionTests.swift:\(line)"), "\(message)")
        snapshots.removeFirst()
        try commit(file)
        #expect(file.activeVersions().map(\.version) == [2, 3, 4])
        snapshots = []
        #expect(file.activeVersions().isEmpty)
    }

    @Test func `a reader that leaves a version takes its place of opening with it`() throws {
        let file = try StorageFile.open(path: directory.path("origins.realm"))
        var first: Snapshot? = try file.beginRead(from: ReaderOrigin(fileID: "A/A.swift", line: 1))
        let second = try file.beginRead(from: ReaderOrigin(fileID: "B/B.swift", line: 2))
        #expect(file.activeVersions().map(\.origins) == [["A/A.swift:1", "B/B.swift:2"]])
        #expect(first?.version == second.version)
        first = nil
        #expect(file.activeVersions().map(\.origins) == [["B/B.swift:2"]])
        #expect(file.activeVersions().first?.isThisProcess == true)
    }
}
