import Foundation
import RealmTestSupport
import Testing

@testable import RealmStorage

/// A realm file that becomes longer and shorter while a log is open beside it.
@Suite("The length of a file beside its log")
struct LogLengthTests {
    let folder = TemporaryDirectory()

    /// Commits a run of pages that nobody reads, with a record.
    private func addBallast(_ pageCount: Int, to file: StorageFile) throws {
        let transaction = try file.beginWrite()
        try PageArray.setBallast(pageCount, in: transaction)
        transaction.changes.recordModify(table: 1, key: 1, column: 1)
        transaction.record = .init(kind: .changes, content: LoggedFile.Change().content)
        try file.publish([PageArray.commit(transaction)])
    }

    @Test("Rule 18: what a file is made longer by is flushed before a record relies on it")
    func growth() throws {
        let recorder = LoggedFile.Recorder()
        let options = LoggedFile.options(blocks: 64, recorder: recorder)
        let file = try StorageFile.open(path: folder.path("a.realm"), options: options)
        try file.lockForWriting()
        defer { file.unlockForWriting() }
        try LoggedFile.commit(file, 1)
        let byteCount = file.byteCount
        let before = recorder.operations.count
        try addBallast(200, to: file)
        #expect(file.byteCount > byteCount)
        var (isLonger, isFlushed, appends) = (false, false, 0)
        for operation in recorder.operations[before...] {
            switch operation {
            case .write(.realm, let offset, let bytes): if offset + bytes.count > byteCount { isLonger = true }
            case .synchronize(.realm): isFlushed = isLonger
            case .write(.log, _, _):
                appends += 1
                #expect(isFlushed, "a record relies on a length that is not on the disk")
            default: break
            }
        }
        #expect(isLonger)
        #expect(appends == 1)
    }

    @Test("Rule 18: it is not cut before the end of a version that only the log has, whatever the slots promise")
    func cut() throws {
        let path = folder.path("a.realm")
        let file = try StorageFile.open(path: path, options: LoggedFile.options(blocks: 64))
        try file.lockForWriting()
        defer { file.unlockForWriting() }
        // Both slots have short versions.
        for value in UInt64(1)...3 { try LoggedFile.commit(file, 1, value, recorded: value == 1) }
        try addBallast(400, to: file)
        try LoggedFile.commit(file, 1, 9)
        let end = Int(file.state.withLock { $0.published.pageCount }) * pageByteCount
        let slots = try HeaderRecovery.slots(in: file.reservation.mapping, path: path).compactMap { $0 }
        #expect(slots.count == 2)
        for slot in slots {
            // Behind them there would be enough to be cut off.
            let promised = Int(slot.pageCount) * pageByteCount
            #expect(StorageFile.isWorthCutting(end - promised, behind: promised))
        }
        #expect(try !file.returnTrailingSpace())
        #expect(try LoggedFile.bytes(of: path).count >= end)
        #expect(try LoggedFile.values(of: file).values[1] == 9)
        #expect(try LoggedFile.valuesOfCopy(of: path, in: folder)[1] == 9)
    }
}
