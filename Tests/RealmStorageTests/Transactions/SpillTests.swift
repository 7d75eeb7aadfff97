import Dispatch
import Foundation
import RealmTestSupport
import Synchronization
import Testing

@testable import RealmStorage

/// Transactions that write to the file before their commits, beside commits that are being written.
@Suite("Writing before the commit", .serialized)
struct SpillTests {
    let directory = TemporaryDirectory()

    /// A device that stops before a write behind a given end until it is told to go on, or half a second has passed.
    private final class StoppingDevice: ForwardingDevice {
        let base: any StorageDevice
        let stops: Stops

        final class Stops: Sendable {
            let end = Mutex<Int?>(nil)
            let isStopped = DispatchSemaphore(value: 0)
            let goOn = DispatchSemaphore(value: 0)
        }

        init(_ base: any StorageDevice, _ stops: Stops) {
            self.base = base
            self.stops = stops
        }

        func write(_ pieces: [(UnsafeRawPointer, Int)], at offset: Int) throws(StorageError) {
            let stops = stops.end.withLock { end in
                guard let limit = end, offset >= limit else { return false }
                end = nil
                return true
            }
            if stops {
                self.stops.isStopped.signal()
                _ = self.stops.goOn.wait(timeout: .now() + 0.5)
            }
            try base.write(pieces, at: offset)
        }
    }

    private func begin(_ file: StorageFile) throws -> WriteTransaction {
        let transaction = try file.beginWrite()
        transaction.unspilledPageLimit = .max
        return transaction
    }

    private func makeFile(_ device: (@Sendable (any StorageDevice) -> any StorageDevice)? = nil) throws -> StorageFile {
        var options = StorageOptions()
        options.durability = .none
        options.makeDevice = device
        let file = try StorageFile.open(path: directory.path("spill.realm"), options: options)
        #expect(try file.tryLockForWriting())
        let transaction = try begin(file)
        try PageArray.create(in: transaction)
        try file.publish([try PageArray.commit(transaction)])
        return file
    }

    private func allocate(_ pageCount: Int, in transaction: WriteTransaction) throws -> MutablePage {
        let run = try transaction.allocate(pageCount: pageCount, kind: .overflow)
        run.bytes.storeLittle(UInt64(run.byteCount - PageHeader.byteCount), at: 24)
        return run
    }

    /// A run whose bytes are known.
    private func run(_ pageCount: Int, _ mark: UInt64, in transaction: WriteTransaction) throws -> PageReference {
        let run = try allocate(pageCount, in: transaction)
        for page in 0..<pageCount { run.bytes.storeLittle(mark, at: page * pageByteCount + 2_048) }
        return transaction.seal(run.reference)
    }

    private func isIntact(_ reference: PageReference, _ mark: UInt64, in view: PageView) throws -> Bool {
        let bytes = try view.verifiedPointer(to: reference)
        return (0..<Int(reference.pageCount))
            .allSatisfy { bytes.little(UInt64.self, at: $0 * pageByteCount + 2_048) == mark }
    }

    @Test(
        "a commit that makes the file longer and a transaction that writes behind it do not overwrite each other",
        .timeLimit(.minutes(60)),
        arguments: [200, 300, 500]
    )
    func besideGrowth(pageCount: Int) throws {
        let stops = StoppingDevice.Stops()
        let file = try makeFile { StoppingDevice($0, stops) }
        defer { file.unlockForWriting() }
        let first = try begin(file)
        let early = try run(pageCount, 1, in: first)
        let commit = try PageArray.commit(first)
        // Stops where the commit begins to make the file longer.
        stops.end.withLock { $0 = file.byteCount }
        let isPublished = DispatchSemaphore(value: 0)
        let failure = Mutex<StorageError?>(nil)
        Thread.detachNewThread {
            do throws(StorageError) {
                try file.publish([commit])
            } catch {
                failure.withLock { $0 = error }
            }
            isPublished.signal()
        }
        stops.isStopped.wait()
        let second = try begin(file)
        let late = try run(700, 2, in: second)
        try second.spill()
        stops.goOn.signal()
        isPublished.wait()
        #expect(failure.withLock { $0 } == nil)
        #expect(try isIntact(early, 1, in: second.view))
        #expect(try isIntact(late, 2, in: second.view))
        try file.publish([try PageArray.commit(second)])
        let snapshot = try file.beginRead()
        #expect(try isIntact(early, 1, in: snapshot.view))
        #expect(try isIntact(late, 2, in: snapshot.view))
    }

    @Test("what is pointed into stays in memory, and the commit writes it")
    func pointedInto() throws {
        let file = try makeFile()
        let transaction = try begin(file)
        let kept = try run(3, 1, in: transaction)
        let other = try run(3, 2, in: transaction)
        transaction.forgetSeal(of: kept)
        try transaction.spill()
        try file.publish([try PageArray.commit(transaction)])
        file.unlockForWriting()
        let copy = directory.path("copy.realm")
        try FileManager.default.copyItem(atPath: file.path, toPath: copy)
        let snapshot = try StorageFile.open(path: copy).beginRead()
        #expect(try isIntact(kept, 1, in: snapshot.view))
        #expect(try isIntact(other, 2, in: snapshot.view))
    }

    @Test("what is not ready yet is left out and written once, and nothing below the end is left out at last")
    func holes() throws {
        let log = RecordingDevice.Log()
        let file = try makeFile { RecordingDevice($0, log: log) }
        defer { file.unlockForWriting() }
        let before = log.state.withLock { $0.operations.count }
        let transaction = try begin(file)
        let late = try allocate(3_000, in: transaction)
        let early = try run(2_000, 1, in: transaction)
        try transaction.spill()
        let dropped = try run(40, 2, in: transaction)
        transaction.free(dropped)
        let last = try run(200, 3, in: transaction)
        let late2 = transaction.seal(late.reference)
        try file.publish([try PageArray.commit(transaction)])
        var written = 0
        var pages: Set<Int> = []
        for case .write(let offset, let bytes) in log.state.withLock({ $0.operations[before...] }) {
            written += bytes.count
            pages.formUnion((offset / pageByteCount)..<((offset + bytes.count) / pageByteCount))
        }
        let needed = file.state.withLock { Int($0.published.pageCount) }
        let old = try #require(pages.filter { $0 >= FileHeader.slotPageCount }.min())
        #expect(Set(old..<needed).isSubset(of: pages), "every page below the end has been written to")
        #expect(written < (3_000 + 2_000 + 40 + 200 + 100) * pageByteCount, "and none of those twice")
        let snapshot = try file.beginRead()
        #expect(try isIntact(early, 1, in: snapshot.view))
        #expect(try isIntact(last, 3, in: snapshot.view))
        _ = try snapshot.view.verifiedPointer(to: late2)
    }

    @Test("a transaction that is rolled back leaves no hole for the next commits to fill")
    func rollback() throws {
        let log = RecordingDevice.Log()
        let file = try makeFile { RecordingDevice($0, log: log) }
        defer { file.unlockForWriting() }
        let length = file.byteCount
        let transaction = try begin(file)
        _ = try allocate(3_000, in: transaction)
        _ = try run(2_000, 1, in: transaction)
        try transaction.spill()
        #expect(file.byteCount >= length + 4_900 * pageByteCount)
        transaction.rollback()
        #expect(file.byteCount < length + 100 * pageByteCount)
        #expect(file.growth.withLock { $0.holes.isEmpty })
        let before = log.state.withLock { $0.operations.count }
        let next = try begin(file)
        let small = try run(30, 5, in: next)
        try file.publish([try PageArray.commit(next)])
        let written = log.state.withLock { state in
            state.operations[before...]
                .reduce(0) { sum, operation in
                    if case .write(_, let bytes) = operation { sum + bytes.count } else { sum }
                }
        }
        #expect(written < 2 << 20)
        #expect(try isIntact(small, 5, in: try file.beginRead().view))
    }

    @Test("what a commit needs that is written but not yet published stays when a later transaction is rolled back")
    func rollbackBesideCommits() throws {
        let file = try makeFile()
        defer { file.unlockForWriting() }
        let first = try begin(file)
        _ = try allocate(1_500, in: first)
        let kept = try run(1_000, 7, in: first)
        try first.spill()
        let commit = try PageArray.commit(first)
        let second = try begin(file)
        _ = try allocate(1_200, in: second)
        _ = try run(900, 8, in: second)
        try second.spill()
        second.rollback()
        #expect(try isIntact(kept, 7, in: first.view))
        try file.publish([commit])
        #expect(try isIntact(kept, 7, in: try file.beginRead().view))
    }

    @Test("a commit that fails does not cut off what a later transaction has written already")
    func failureBesideSpill() throws {
        let log = RecordingDevice.Log()
        let file = try makeFile { RecordingDevice($0, log: log) }
        defer { file.unlockForWriting() }
        let first = try begin(file)
        _ = try run(1_500, 7, in: first)
        try first.spill()
        let commit = try PageArray.commit(first)
        let second = try begin(file)
        let later = try run(900, 8, in: second)
        try second.spill()
        log.fail(at: 0, code: .full)
        #expect(throws: StorageError.self) { try file.publish([commit]) }
        log.fail(at: nil)
        // Its own commit is lost as well, but until it ends it may read what it wrote.
        #expect(try isIntact(later, 8, in: second.view))
        #expect(throws: StorageError.self) { try PageArray.commit(second) }
        second.rollback()
        let next = try begin(file)
        let small = try run(30, 5, in: next)
        try file.publish([try PageArray.commit(next)])
        #expect(try isIntact(small, 5, in: try file.beginRead().view))
    }

    @Test("a forked child cannot commit its copy of a transaction, and cuts nothing off the file")
    func rollbackInChild() throws {
        let file = try makeFile()
        defer { file.unlockForWriting() }
        let transaction = try begin(file)
        let early = try run(1_500, 7, in: transaction)
        try transaction.spill()
        let byteCount = try file.data.currentByteCount()
        let child = try ForkedProcess { _ in
            do {
                _ = try run(50, 8, in: transaction)
                try transaction.spill()
                _exit(2)
            } catch {
                guard (error as? StorageError)?.code == .invalidArgument else { _exit(3) }
            }
            do {
                _ = try PageArray.commit(transaction)
                _exit(4)
            } catch {}
            transaction.rollback()
            _exit(0)
        }
        #expect(child.end() == 0)
        try #require(try file.data.currentByteCount() == byteCount)
        #expect(try isIntact(early, 7, in: transaction.view))
        try file.publish([try PageArray.commit(transaction)])
    }

    @Test("a commit that fails is cut off when the transaction that reads it has ended", arguments: [false, true])
    func failureBeneathReader(spills: Bool) throws {
        let log = RecordingDevice.Log()
        let file = try makeFile { RecordingDevice($0, log: log) }
        defer { file.unlockForWriting() }
        let first = try begin(file)
        let kept = try run(1_500, 7, in: first)
        try first.spill()
        _ = try run(2, 3, in: first)
        let commit = try PageArray.commit(first)
        let second = try begin(file)
        #expect(try isIntact(kept, 7, in: second.view))
        log.fail(at: 0, code: .full)
        #expect(throws: StorageError.self) { try file.publish([commit]) }
        log.fail(at: nil)
        // Through the mapping, at addresses that it may have kept.
        #expect(try isIntact(kept, 7, in: second.view))
        if spills {
            let later = try run(900, 8, in: second)
            try second.spill()
            #expect(try isIntact(later, 8, in: second.view))
            #expect(try isIntact(kept, 7, in: second.view))
        }
        second.rollback()
        let needed = file.state.withLock { Int($0.published.pageCount) } * pageByteCount
        #expect(try file.data.currentByteCount() == needed)
        #expect(file.byteCount == needed)
        let next = try begin(file)
        let small = try run(30, 5, in: next)
        try file.publish([try PageArray.commit(next)])
        #expect(try isIntact(small, 5, in: try file.beginRead().view))
    }

    @Test("what is known of holes ends with the write lock: what another process writes there stays", arguments: 0..<3)
    func holesBesideOtherProcess(ending: Int) throws {
        let log = RecordingDevice.Log()
        let file = try makeFile { RecordingDevice($0, log: log) }
        let other = try StorageFile.openUnshared(
            data: try DataFile.open(path: file.path, isReadOnly: false),
            path: file.path,
            options: StorageOptions()
        )
        let first = try begin(file)
        let early = try run(40, 1, in: first)
        let commit = try PageArray.commit(first)
        let second = try begin(file)
        let unready = try allocate(1_200, in: second)
        let behind = try run(900, 2, in: second)
        try second.spill()
        // Holes are left: of the second transaction, and where the first commit is still to be written.
        switch ending {
        case 0:
            second.rollback()
            try file.publish([commit])
        case 1:
            log.fail(at: 0, code: .full)
            #expect(throws: StorageError.self) { try file.publish([commit]) }
            log.fail(at: nil)
            second.rollback()
        default:
            try file.publish([commit])
            second.free(unready.reference)
            second.free(behind)
            try file.publish([try PageArray.commit(second)])
        }
        file.unlockForWriting()
        #expect(file.growth.withLock { $0.holes.isEmpty })
        #expect(try other.tryLockForWriting())
        let theirs = try begin(other)
        let written = try run(3_000, 3, in: theirs)
        try other.publish([try PageArray.commit(theirs)])
        other.unlockForWriting()
        #expect(try file.tryLockForWriting())
        for round in 0..<20 as Range<UInt64> {
            let own = try begin(file)
            let small = try run(60, 10 + round, in: own)
            try file.publish([try PageArray.commit(own)])
            #expect(try isIntact(small, 10 + round, in: try file.beginRead().view))
        }
        #expect(try isIntact(written, 3, in: try other.beginRead().view))
        #expect(try isIntact(written, 3, in: try file.beginRead().view))
        if ending != 1 { #expect(try isIntact(early, 1, in: try file.beginRead().view)) }
        file.unlockForWriting()
    }

    @Test("holes agree with a set of bytes after random steps", arguments: [1, 2, 3] as [UInt64])
    func model(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var growth = FileGrowth()
        var model: Set<Int> = []
        var end = 0
        for _ in 0..<3_000 {
            switch Int.random(in: 0..<10, using: &random) {
            case 0...2:
                let next = end + Int.random(in: 0..<20, using: &random)
                growth.skip(end..<next)
                model.formUnion(end..<next)
                end = next + Int.random(in: 0..<9, using: &random)
            case 3...8:
                let start = Int.random(in: 0...max(end, 1), using: &random)
                let bytes = start..<start + Int.random(in: 0..<30, using: &random)
                growth.fill(bytes)
                model.subtract(bytes)
            default:
                let cut = max(0, end - Int.random(in: 0..<40, using: &random))
                growth.cut(at: cut)
                model = model.filter { $0 < cut }
                end = min(end, cut)
            }
            #expect(growth.holes.flatMap { $0 } == model.sorted())
            #expect(growth.holes.allSatisfy { !$0.isEmpty })
        }
    }
}
