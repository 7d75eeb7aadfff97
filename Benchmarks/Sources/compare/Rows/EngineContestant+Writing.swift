import Figures
import Foundation
import People

/// Inserts, commits, changes and deletions.
extension EngineContestant {
    func insertAll() throws -> Double {
        let count = workload.objectCount
        return try withFile { path in
            let rate: Double
            do {
                let engine = try open(path)
                rate = try perSecond(count) { try engine.insert(0..<count) }
                try engine.checkpoint()
            }
            note(Double(E.byteCount(at: path)) / Double(count), for: .insertBytes)
            try check(.insert, at: path, 0..<count)
            return rate
        }
    }

    func commits(isDurable: Bool) throws -> Double {
        try withCommitBase(isDurable: isDurable) { engine, _ in
            let counter = WrittenBytes()
            let first = workload.objectCount + workload.commitBase
            let loop = CommitLoop(first: first)
            let rate = try loop.run(for: workload.commitDuration) { try engine.insert($0..<$0 + 1) }
            if isDurable { note(counter.sinceStart / Double(loop.count), for: .commitBytes) }
            try check(isDurable ? .serial : .noSync, engine, committed(first..<first + loop.count))
            return rate
        }
    }

    /// Inserts that are made durable 64 at a time, as a program batches them by hand.
    func batchedCommits() throws -> Double {
        try withCommitBase(isDurable: true) { engine, _ in
            let first = workload.objectCount + workload.commitBase
            let loop = CommitLoop(first: 0)
            let rate = try loop.run(for: workload.commitDuration) {
                try engine.insert(first + 64 * $0..<first + 64 * $0 + 64)
            }
            try check(.tasks, engine, committed(first..<first + 64 * loop.count))
            return 64 * rate
        }
    }

    /// How long durable commits take within a minute: the median, and beside it the slowest ones.
    func commitTimes() throws -> Double {
        try withCommitBase(isDurable: true) { engine, _ in
            let first = workload.objectCount + workload.commitBase
            let times = try CommitLoop(first: first)
                .times(for: workload.tailDuration) { try engine.insert($0..<$0 + 1) }
            try check(.serialMedian, engine, committed(first..<first + times.count))
            for (row, figure) in times.commitTimes where row != .serialMedian { note(figure, for: row) }
            return times.percentile(0.5)
        }
    }

    private var changedIDs: [Int] {
        let count = min(100_000, workload.objectCount / 2)
        return (0..<count).map { PersonData.randomKey($0, below: workload.objectCount) }
    }

    func update() throws -> Double {
        let ids = changedIDs
        return try withFile(copied: true) { path in
            let before = E.byteCount(at: path)
            func growth() -> Double { Double(E.byteCount(at: path) - before) / 1_048_576 }
            let rate: Double
            do {
                let engine = try open(path)
                rate = try perSecond(ids.count) { try engine.update(ids, age: 33) }
                note(growth(), for: .updatePeak)
                try engine.checkpoint()
            }
            note(growth(), for: .updateGrowth)
            let changed = Set(ids)
            try check(.update, at: path, 0..<workload.objectCount) { changed.contains($0.id) ? 33 : $0.age }
            return rate
        }
    }

    func delete() throws -> Double {
        let deleted = Set(changedIDs)
        let ids = deleted.sorted { PersonData($0).score < PersonData($1).score }
        return try withFile(copied: true) { path in
            let rate: Double
            do {
                let engine = try open(path)
                rate = try perSecond(ids.count) { try engine.delete(ids) }
            }
            try check(.delete, at: path, 0..<workload.objectCount) { deleted.contains($0.id) ? nil : $0.age }
            return rate
        }
    }

    func deleteByQuery() throws -> Double {
        // A tenth of all.
        let count = (0..<workload.objectCount).count { PersonData($0).age < 10 }
        return try withFile(copied: true) { path in
            let rate: Double
            do {
                let engine = try open(path)
                rate = try perSecond(count) { try engine.deleteAll(youngerThan: 10) }
            }
            try check(.deleteByQuery, at: path, 0..<workload.objectCount) { $0.age < 10 ? nil : $0.age }
            return rate
        }
    }

    /// Commits of two processes at once, without a flush.
    func commitsOfProcesses() throws -> Double {
        let first = workload.commitBase + 10_000_000
        return try withCommitBase(isDurable: false) { engine, path in
            let seconds = workload.commitDuration / .seconds(1)
            let other = try ChildProcess(["commits", E.name, path, "\(first + 10_000_000)", "\(seconds)"])
            try other.go()
            let loop = CommitLoop(first: first)
            let rate = try loop.run(for: workload.commitDuration) { try engine.insert($0..<$0 + 1) }
            let theirs = try other.commits()
            let ids = committed(
                first..<first + loop.count,
                first + 10_000_000..<first + 10_000_000 + theirs.count
            )
            try check(.processes, engine, ids)
            return rate + theirs.rate
        }
    }

    func perSecond(_ count: Int, _ body: () throws -> Void) rethrows -> Double {
        let start = ContinuousClock.now
        try body()
        return Double(count) / ((ContinuousClock.now - start) / .seconds(1))
    }
}

/// Commits one after the other for some time.
final class CommitLoop {
    private let first: Int
    private(set) var count = 0

    init(first: Int) {
        self.first = first
    }

    /// Runs commits, each given its number, until the time is over or there are so many; returns how many there were in a second.
    func run(
        for duration: Duration,
        atMost limit: Int = .max,
        _ commit: (Int) throws -> Void
    ) rethrows -> Double {
        let start = ContinuousClock.now
        while count < limit, ContinuousClock.now - start < duration {
            try commit(first + count)
            count += 1
        }
        return Double(count) / ((ContinuousClock.now - start) / .seconds(1))
    }

    /// Runs commits, each given its number, until the time is over or there are so many; returns how many microseconds each took.
    func times(
        for duration: Duration,
        atMost limit: Int = .max,
        _ commit: (Int) throws -> Void
    ) rethrows -> [Double] {
        var times: [Double] = []
        _ = try run(for: duration, atMost: limit) { id in
            times.append(try repeated(1) { try commit(id) } / .microseconds(1))
        }
        return times
    }
}

extension [Double] {
    /// What the times of commits are in each row that is about them.
    var commitTimes: [RowIdentifier: Double] {
        [
            .serialMedian: percentile(0.5), .serialPercentile99: percentile(0.99), .serialTail: percentile(0.999),
            .serialLongest: self.max() ?? 0,
        ]
    }
}
