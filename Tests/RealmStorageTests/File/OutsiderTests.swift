import Foundation
import RealmTestSupport
import Synchronization
import Testing

@testable import RealmStorage

/// A reader that cannot write the lock file, and so cannot say at which version it stands.
@Suite("Readers that nobody knows")
struct OutsiderTests {
    let directory = TemporaryDirectory()

    private func makeFile() throws -> StorageFile {
        var options = StorageOptions()
        options.durability = .none
        let file = try StorageFile.open(path: directory.path("read.realm"), options: options)
        #expect(try file.tryLockForWriting())
        let transaction = try file.beginWrite()
        try PageArray.create(in: transaction)
        try file.publish([try PageArray.commit(transaction)])
        return file
    }

    private func write(_ rounds: Range<Int>, _ file: StorageFile) throws {
        for round in rounds {
            let transaction = try file.beginWrite()
            try PageArray.set(round % PageArray.count, to: UInt64(round), in: transaction)
            try file.publish([try PageArray.commit(transaction)])
        }
    }

    /// What such a reader has of its own: the steps of opening a file whose lock file cannot be opened.
    private final class Outsider {
        let data: DataFile
        let reservation: Reservation
        let verifier: PageVerifier
        let header: FileHeader

        init(path: String, isAnnounced: Bool) throws {
            data = try DataFile.open(path: path, isReadOnly: true)
            let byteCount = try data.currentByteCount()
            reservation = try Reservation(descriptor: data.descriptor, byteCount: byteCount, path: path)
            verifier = PageVerifier(reservation: reservation, path: path)
            if isAnnounced { try LockFile.announceOutsider(in: data) }
            header = try StorageFile.recover(data, reservation, path).header
            reservation.verified[0].store(UInt32(header.pageCount), ordering: .releasing)
        }

        func values() throws -> [UInt64] {
            let view = PageView(
                mapping: reservation.mapping,
                buffers: reservation.buffers,
                verified: reservation.verified,
                verifier: Unmanaged.passUnretained(verifier)
            )
            return try PageArray.values(of: header.catalog, in: view)
        }
    }

    @Test("what it reads stays as it is, however lately a writer has looked for such readers", arguments: 0..<4)
    func staysReadable(seed: Int) throws {
        let file = try makeFile()
        try write(0..<500, file)
        let expected = try { () throws in
            let snapshot = try file.beginRead()
            return try PageArray.values(of: snapshot.catalog.root, in: snapshot.view)
        }()
        // The last transaction has looked, or might have, a moment ago.
        let outsider = try Outsider(path: file.path, isAnnounced: true)
        let length = file.byteCount
        try write(500..<2_500, file)
        #expect(try outsider.values() == expected)
        #expect(file.byteCount > length, "nothing may have been used again")
        file.unlockForWriting()
    }

    @Test("without its announcement its pages are used again")
    func control() throws {
        let file = try makeFile()
        try write(0..<500, file)
        let outsider = try Outsider(path: file.path, isAnnounced: false)
        try write(500..<2_500, file)
        #expect(throws: StorageError.self) { try outsider.values() }
        file.unlockForWriting()
    }

    @Test("one that has closed the file is none any more, though a child has a copy of its descriptor")
    func forked() throws {
        let file = try makeFile()
        let lock = try #require(file.lock)
        var options = StorageOptions()
        options.isReadOnly = true
        // Where no lock file can be made.
        var outsider: StorageFile? = try StorageFile.openUnshared(
            data: try DataFile.open(path: file.path, isReadOnly: true),
            path: directory.path("nowhere/read.realm"),
            options: options
        )
        #expect(outsider?.lock == nil && lock.hasOutsiders)
        var ends: [Int32] = [0, 0]
        #expect(pipe(&ends) == 0)
        let child = try ForkedChild.start {
            var byte: UInt8 = 0
            close(ends[1])
            return Int32(read(ends[0], &byte, 1))
        }
        #expect(child > 0)
        withExtendedLifetime(outsider) {}
        outsider = nil
        #expect(!lock.hasOutsiders)
        #expect(waitpid(child, nil, WNOHANG) == 0, "the child lives")
        close(ends[1])
        #expect(waitpid(child, nil, 0) == child)
        close(ends[0])
        file.unlockForWriting()
    }
}
