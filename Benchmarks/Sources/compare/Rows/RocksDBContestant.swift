import Figures
import Foundation
import People

/// RocksDB in the rows that are about writing: what a log and sorted files are built for.
@MainActor
final class RocksDBContestant: Contestant {
    let name = "rocksdb"
    private let workload: Workload
    private var byProducts: [RowIdentifier: Double] = [:]

    init(_ workload: Workload) {
        self.workload = workload
    }

    func measure(_ row: RowIdentifier) async throws -> Double? {
        switch row {
        case .serial, .serialAsync: return try commits(row, isDurable: true)
        case .serialMedian, .serialPercentile99, .serialTail, .serialLongest:
            if byProducts[row] == nil { try measureCommitTimes() }
            return byProducts.removeValue(forKey: row)
        case .noSync, .noSyncAsync: return try commits(row, isDurable: false)
        case .update: return try update()
        case .updateGrowth, .updatePeak:
            if byProducts[row] == nil { _ = try update() }
            return byProducts.removeValue(forKey: row)
        default: return nil
        }
    }

    private func withFolder<Result>(_ body: (String) throws -> Result) throws -> Result {
        let path = workload.folder + "/changed.rocksdb"
        try? FileManager.default.removeItem(atPath: path)
        defer { try? FileManager.default.removeItem(atPath: path) }
        return try body(path)
    }

    private func commits(_ row: RowIdentifier, isDurable: Bool) throws -> Double {
        try withFolder { path in
            let store = try RocksDBStore(path, isDurable: isDurable)
            try store.insert(0..<workload.commitBase)
            let loop = CommitLoop(first: workload.commitBase)
            let rate = try loop.run(for: workload.commitDuration) { try store.insert($0..<$0 + 1) }
            try check(row, store, 0..<workload.commitBase + loop.count)
            return rate
        }
    }

    private func measureCommitTimes() throws {
        try withFolder { path in
            let store = try RocksDBStore(path, isDurable: true)
            try store.insert(0..<workload.commitBase)
            let times = try CommitLoop(first: workload.commitBase)
                .times(for: workload.tailDuration) { try store.insert($0..<$0 + 1) }
            try check(.serialMedian, store, 0..<workload.commitBase + times.count)
            byProducts.merge(times.commitTimes) { $1 }
        }
    }

    private func update() throws -> Double {
        let count = min(100_000, workload.objectCount / 2)
        let ids = (0..<count).map { PersonData.randomKey($0, below: workload.objectCount) }
        return try withFolder { path in
            // In pieces: a batch of all is one entry of its log.
            do {
                let store = try RocksDBStore(path, isDurable: false)
                for first in stride(from: 0, to: workload.objectCount, by: 10_000) {
                    try store.insert(first..<min(first + 10_000, workload.objectCount))
                }
                // Nothing of it may stand in the log any more, which goes later and would count as shrinking.
                try store.flush(isCompacted: true)
            }
            // What it does not need any more goes when it is opened, so that it is opened twice.
            do { _ = try RocksDBStore(path, isDurable: true) }
            sync()
            let before = byteCount(path)
            let rate: Double
            do {
                let store = try RocksDBStore(path, isDurable: true)
                let start = ContinuousClock.now
                try store.update(ids, age: 33)
                rate = Double(count) / ((ContinuousClock.now - start) / .seconds(1))
                byProducts[.updatePeak] = Double(byteCount(path) - before) / 1_048_576
            }
            // It writes its log to a sorted file when it is opened, beside what that overwrites.
            do { _ = try RocksDBStore(path, isDurable: true) }
            let growth = byteCount(path) - before
            guard growth >= 0 else { throw RocksDBStore.Failure(description: "RocksDB shrank by \(-growth) bytes.") }
            byProducts[.updateGrowth] = Double(growth) / 1_048_576
            let store = try RocksDBStore(path, isDurable: true)
            let changed = Set(ids)
            try check(.update, store, 0..<workload.objectCount) { changed.contains($0.id) ? 33 : $0.age }
            return rate
        }
    }

    /// Fails where it has not what plain Swift says.
    private func check(
        _ row: RowIdentifier,
        _ store: RocksDBStore,
        _ ids: Range<Int>,
        age: (PersonData) -> Int? = { $0.age }
    ) throws {
        try Answers.require(store.holdings(ids), is: Holdings(of: ids, age: age), of: name, in: row)
    }

    private func byteCount(_ folder: String) -> Int {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.reduce(0) { sum, name in
            var status = stat()
            return stat("\(folder)/\(name)", &status) == 0 ? sum + Int(status.st_blocks) * 512 : sum
        }
    }
}
