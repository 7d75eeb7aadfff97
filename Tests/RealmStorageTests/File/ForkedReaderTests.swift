import Foundation
import RealmTestSupport
import Testing

@testable import RealmStorage

/// A forked child has a copy of its parent's table of readers, and of how far that reaches.
@Suite(.serialized) struct ForkedReaderTests {
    let directory = TemporaryDirectory()

    @Test func `a forked child that begins to write beside others hides no reader of its parent`() throws {
        var options = StorageOptions()
        options.durability = .none
        let file = try StorageFile.open(path: directory.path("readers.realm"), options: options)
        // As another process has it.
        let other = try StorageFile.openUnshared(
            data: try DataFile.open(path: file.path, isReadOnly: false),
            path: file.path,
            options: options
        )
        var ends: [Int32] = [0, 0]
        #expect(pipe(&ends) == 0)
        // Made before there are readers.
        let child = try ForkedChild.start {
            var byte: UInt8 = 0
            close(ends[1])
            _ = read(ends[0], &byte, 1)
            file.countWriter(true)
            return (try? file.beginWrite(joining: true)) == nil ? 0 : 1
        }
        #expect(child > 0)
        try file.lockForWriting()
        var snapshots: [Snapshot] = []
        for round in 1...3 {
            let transaction = try file.beginWrite()
            if round == 1 { try PageArray.create(in: transaction) }
            try PageArray.set(0, to: UInt64(round), in: transaction)
            try file.publish([try PageArray.commit(transaction)])
            snapshots.append(try file.beginRead())
        }
        close(ends[1])
        var status: Int32 = 0
        #expect(waitpid(child, &status, 0) == child && status == 0)
        #expect(try #require(other.lock).pinnedVersions() == snapshots.map(\.version))
        file.unlockForWriting()
        close(ends[0])
        withExtendedLifetime(snapshots) {}
    }
}
