import Foundation
import RealmTestSupport
import Testing

@testable import RealmStorage

/// Candidates that are chosen while a transaction is open that began before: what the suite of checkpoints does not meet, whose
/// commits are made one behind the other.
@Suite("A candidate beside an open transaction", .serialized)
struct OpenTransactionTests {
    let folder = TemporaryDirectory()

    /// What an opening finds where all pages came to the disk, and none of the records.
    private func valuesWithoutRecords(_ path: String) throws -> [UInt64] {
        let copy = try LoggedFile.copy(of: path, in: folder)
        var log = try Data(contentsOf: URL(fileURLWithPath: copy + ".log"))
        log.replaceSubrange(4096..., with: Data(count: log.count - 4096))
        try log.write(to: URL(fileURLWithPath: copy + ".log"))
        return try LoggedFile.values(of: StorageFile.open(path: copy, options: LoggedFile.options())).values
    }

    @Test("Rule 13: a candidate's pages stay beside a transaction that began before its publishing", arguments: 0...3)
    func open(taken: Int) throws {
        let path = folder.path("open-\(taken).realm")
        let file = try StorageFile.open(path: path, options: LoggedFile.options(blocks: 512, stepping: true))
        try file.lockForWriting()
        defer { file.unlockForWriting() }
        var model = [UInt64](repeating: 0, count: 64)
        // Pages that are free, and some that wait.
        for round in UInt64(1)...20 {
            for index in 1..<60 {
                try LoggedFile.commit(file, index, round)
                model[index] = round
            }
        }
        try file.makeCheckpoint()
        var last = model
        for round in UInt64(100)...140 {
            // Two are on their way, and a third one is open, when the first two are published.
            let first = try LoggedFile.prepare(LoggedFile.Change(values: [(1, round)]), in: file)
            let second = try LoggedFile.prepare(LoggedFile.Change(values: [(2, round)]), in: file)
            let open = try file.beginWrite()
            let change = LoggedFile.Change(values: (3..<40).map { ($0, round) })
            try change.apply(to: open)
            try file.publish([first, second])
            last[1] = round
            last[2] = round
            let isChosen = file.checkpoint.withLock { $0.isResting }
            if isChosen {
                model = last
                file.beginCheckpoint()
            }
            open.changes.recordModify(table: 1, key: 1, column: 1)
            open.record = .init(kind: .changes, content: change.content)
            try file.publish([PageArray.commit(open)])
            change.apply(to: &last)
            if isChosen {
                for _ in 0..<taken { #expect(file.takeCheckpointStep()) }
                if taken >= 2 {
                    let found = try valuesWithoutRecords(path)
                    #expect(Array(found[1..<60]) == Array(model[1..<60]), "round \(round)")
                }
            }
            let found = try LoggedFile.valuesOfCopy(of: path, in: folder)
            #expect(Array(found[1..<60]) == Array(last[1..<60]), "round \(round)")
            if round % 3 == 0 { file.finishCheckpoint() }
        }
    }
}
