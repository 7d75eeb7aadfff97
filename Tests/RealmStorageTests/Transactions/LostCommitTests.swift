import Foundation
import RealmTestSupport
import Testing

@testable import RealmStorage

/// Commits that were prepared on top of one that failed.
@Suite("Lost commits")
struct LostCommitTests {
    let directory = TemporaryDirectory()
    let isFull = FullDevice.Switch()

    private func makeFile() throws -> StorageFile {
        let isFull = isFull
        var options = StorageOptions()
        options.durability = .none
        options.makeDevice = { FullDevice($0, isFull) }
        let file = try StorageFile.open(path: directory.path("lost.realm"), options: options)
        #expect(try file.tryLockForWriting())
        let transaction = try file.beginWrite()
        try PageArray.create(in: transaction)
        try file.publish([try PageArray.commit(transaction)])
        return file
    }

    private func prepare(_ values: [Int: UInt64], _ file: StorageFile) throws -> PreparedCommit {
        let transaction = try file.beginWrite()
        for (index, value) in values { try PageArray.set(index, to: value, in: transaction) }
        return try PageArray.commit(transaction)
    }

    private func values(_ file: StorageFile) throws -> [UInt64] {
        let snapshot = try file.beginRead()
        return try PageArray.values(of: snapshot.catalog.root, in: snapshot.view)
    }

    @Test("they cannot be published, and nothing of them is read again, whoever writes to their pages next")
    func otherWriter() throws {
        let file = try makeFile()
        let other = try StorageFile.openUnshared(
            data: try DataFile.open(path: file.path, isReadOnly: false),
            path: file.path,
            options: StorageOptions()
        )
        let lost = try (0..<4)
            .map { round in
                try prepare(Dictionary(uniqueKeysWithValues: (0..<10).map { ($0, UInt64(1_000 + round)) }), file)
            }
        isFull.isOn = true
        #expect(throws: StorageError.self) { try file.publish([lost[0]]) }
        isFull.isOn = false
        for commit in lost { #expect(throws: StorageError.self) { try file.publish([commit]) } }
        for commit in lost {
            for run in commit.runs { #expect(!file.reservation.isBuffered(Int(run.page)), "page \(run.page)") }
        }
        #expect(try values(file).allSatisfy { $0 == 0 })
        file.unlockForWriting()
        // What the first process had in memory for these pages is not what stands there now.
        #expect(try other.tryLockForWriting())
        var expected = [UInt64](repeating: 0, count: PageArray.count)
        for round in 0..<60 {
            let index = round % 20
            expected[index] = UInt64(round)
            try other.publish([try prepare([index: UInt64(round)], other)])
            #expect(try values(file) == expected, "round \(round)")
        }
        other.unlockForWriting()
        #expect(try file.tryLockForWriting())
        for round in 0..<60 {
            expected[round] = UInt64(round) + 100
            try file.publish([try prepare([round: UInt64(round) + 100], file)])
        }
        #expect(try values(file) == expected)
        #expect(try values(other) == expected)
        // The memory of what was lost is used again.
        _ = try file.beginWrite()
        #expect(file.reservation.pool.usedPageCount == 0)
        file.unlockForWriting()
    }

    @Test("a transaction that was open when an earlier commit failed cannot be prepared, and leaves no memory in use")
    func open() throws {
        let file = try makeFile()
        let first = try prepare([3: 3], file)
        let second = try file.beginWrite()
        try PageArray.set(4, to: 4, in: second)
        isFull.isOn = true
        #expect(throws: StorageError.self) { try file.publish([first]) }
        isFull.isOn = false
        #expect(throws: StorageError.self) { try PageArray.commit(second) }
        second.rollback()
        try file.publish([try prepare([5: 5], file)])
        let found = try values(file)
        #expect(found[3] == 0 && found[4] == 0 && found[5] == 5)
        _ = try file.beginWrite()
        #expect(file.reservation.pool.usedPageCount == 0)
        file.unlockForWriting()
    }

    @Test("a transaction that is open when a commit below it is lost reads what that wrote until it ends")
    func readingWhatIsLost() throws {
        let file = try makeFile()
        let lost = [try prepare([3: 3], file), try prepare([7: 7], file)]
        let open = try file.beginWrite()
        isFull.isOn = true
        #expect(throws: StorageError.self) { try file.publish([lost[0]]) }
        isFull.isOn = false
        let found = try PageArray.values(of: open.catalog.root, in: open.view)
        #expect(found[3] == 3 && found[7] == 7)
        open.rollback()
        for commit in lost {
            for run in commit.runs { #expect(!file.reservation.isBuffered(Int(run.page)), "page \(run.page)") }
        }
        #expect(try values(file).allSatisfy { $0 == 0 })
        _ = try file.beginWrite()
        #expect(file.reservation.pool.usedPageCount == 0)
        file.unlockForWriting()
    }
}
