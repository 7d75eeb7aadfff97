import Foundation
import RealmTestSupport
import Synchronization
import Testing

@testable import RealmStorage

/// A reader that cannot write the lock file, and so cannot say at which version it stands.
@Suite("Readers that nobody knows", .serialized)
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

    // MARK: Beside a log

    /// Opens a file as somebody does who may not write its lock file, on a thread of its own.
    private final class Opening: Sendable {
        private let file = Mutex<StorageFile?>(nil)
        private let isOver = Atomic(false)
        private let thread = Mutex<OtherThread?>(nil)

        init(path: String, nowhere: String) {
            let thread = OtherThread { [self] in
                defer { isOver.store(true, ordering: .sequentiallyConsistent) }
                let found = try OutsiderTests.open(path, nowhere: nowhere)
                file.withLock { $0 = found }
            }
            self.thread.withLock { $0 = thread }
        }

        var hasEnded: Bool { isOver.load(ordering: .sequentiallyConsistent) }

        /// Waits until a writer would see it; also where it has failed before.
        func waitUntilSeen(by file: StorageFile) {
            while file.lock?.hasOutsiders == false, !hasEnded { sched_yield() }
        }

        /// What it has opened, which is the caller's alone then.
        func end() throws -> StorageFile {
            try thread.withLock { $0 }?.end()
            let found = file.withLock { file -> StorageFile? in
                defer { file = nil }
                return file
            }
            return try #require(found)
        }
    }

    private static func open(
        _ path: String,
        nowhere: String,
        waiting wait: Duration = .seconds(600)
    ) throws -> StorageFile {
        var options = StorageOptions()
        options.isReadOnly = true
        options.owedPagesWait = wait
        let data = try DataFile.open(path: path, isReadOnly: true)
        return try StorageFile.openUnshared(data: data, path: nowhere, options: options)
    }

    private var nowhere: String { directory.path("nowhere/read.realm") }
    private func hasLog(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path + ".log") }

    @Test("Rule 35: for one that comes while its log is open a writer ends that, and begins one again when it has gone")
    func besideLog() throws {
        let file = try StorageFile.open(path: directory.path("read.realm"), options: LoggedFile.options(blocks: 64))
        for value in UInt64(1)...3 { try LoggedFile.write(file, value) }
        #expect(file.openLog != nil)
        let opening = Opening(path: file.path, nowhere: nowhere)
        var last: UInt64 = 3
        while !opening.hasEnded {
            last += 1
            try LoggedFile.write(file, last)
        }
        var outsider: StorageFile? = try opening.end()
        #expect(file.openLog == nil && !hasLog(file.path))
        let values = try LoggedFile.values(of: #require(outsider)).values
        #expect((3...last).contains(values[1]))
        for value in last + 1...last + 50 { try LoggedFile.write(file, value) }
        #expect(!hasLog(file.path))
        let later = try LoggedFile.values(of: #require(outsider)).values
        #expect(later == values)
        outsider = nil
        try LoggedFile.write(file, last + 51)
        #expect(file.openLog != nil)
        #expect(try LoggedFile.valuesOfCopy(of: file.path, in: directory)[1] == last + 51)
    }

    @Test("What was acknowledged without pages is there for it")
    func besideOwedPages() throws {
        let file = try StorageFile.open(path: directory.path("read.realm"), options: OwedPagesTests.options())
        try OwedPagesTests.begin(file)
        defer { file.unlockForWriting() }
        let isOwed = try OwedPagesTests.acknowledge(5, in: file)
        #expect(isOwed)
        let opening = Opening(path: file.path, nowhere: nowhere)
        opening.waitUntilSeen(by: file)
        try file.publish([#require(try file.sealGroup())])
        let outsider = try opening.end()
        #expect(outsider.lock == nil)
        #expect(file.openLog == nil && !hasLog(file.path))
        #expect(try LoggedFile.values(of: outsider).values == OwedPagesTests.model(5))
        #expect(try LoggedFile.valuesOfCopy(of: file.path, in: directory) == OwedPagesTests.model(5))
    }

    @Test("Beside a writer that rests it waits until the log ends for that")
    func besideRest() throws {
        let clock = HandClock()
        var options = LoggedFile.options(blocks: 64)
        options.log?.clock = clock.clock
        let file = try StorageFile.open(path: directory.path("read.realm"), options: options)
        for value in UInt64(1)...3 { try LoggedFile.write(file, value) }
        let opening = Opening(path: file.path, nowhere: nowhere)
        opening.waitUntilSeen(by: file)
        clock.pass(5_000)
        let outsider = try opening.end()
        #expect(!hasLog(file.path))
        #expect(try LoggedFile.values(of: outsider).values[1] == 3)
    }

    @Test("It waits for nobody where all are dead, and until its patience ends where somebody lives")
    func patience() throws {
        let file = try StorageFile.open(path: directory.path("read.realm"), options: LoggedFile.options(blocks: 64))
        for value in UInt64(1)...3 { try LoggedFile.write(file, value) }
        let copy = try LoggedFile.copy(of: file.path, in: directory)
        let dead = #expect(throws: StorageError.self) { try Self.open(copy, nowhere: nowhere) }
        #expect(dead?.code == .unsupportedFormat)
        let alive = #expect(throws: StorageError.self) {
            try Self.open(file.path, nowhere: nowhere, waiting: .milliseconds(50))
        }
        #expect(alive?.code == .timedOut)
        #expect(file.lock?.hasOutsiders == false)
        #expect(file.openLog != nil)
    }
}
