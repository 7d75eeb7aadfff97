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
            if isAnnounced { LockFile.announceOutsider(in: data) }
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
}
