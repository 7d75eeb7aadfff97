import CLimits
import Figures
import Foundation
import People

/// What the hardware gives without an engine: the yardstick of a row.
@MainActor
final class RawLimit: Contestant {
    let name = "limit"

    private let workload: Workload
    private lazy var values = Values(count: workload.objectCount)
    /// What a measurement has shown beside its own row.
    private var byProducts: [RowIdentifier: Double] = [:]

    init(_ workload: Workload) {
        self.workload = workload
    }

    func measure(_ row: RowIdentifier) async throws -> Double? {
        switch row {
        case .insert: try pages()
        case .serial, .serialAsync, .attached, .observed, .tasks: try flushes(blocksEach: 1)
        case .twoFlushes: try flushes(blocksEach: 2)
        case .serialMedian, .serialPercentile99, .serialTail, .serialLongest: try times(row)
        case .commitBytes: 4096
        case .sumObjects: repeated(3) { consume(values.sum()) } / .nanoseconds(workload.objectCount)
        case .sumEngine: repeated(20) { consume(values.sum()) } / .milliseconds(1)
        case .countEqual: repeated(20) { consume(values.countEqual()) } / .milliseconds(1)
        case .countAnd: repeated(20) { consume(values.countAnd()) } / .milliseconds(1)
        case .notify, .notifyTail: await hop()
        case .read: repeated(3) { Self.checks(10_000_000) } / .nanoseconds(10_000_000)
        default: nil
        }
    }

    /// The runtime's own question whether this is the right executor.
    private static func checks(_ count: Int) {
        let words = unsafeBitCast(MainActor.sharedUnownedExecutor, to: (UInt, UInt).self)
        consume(limits_is_current(words.0, words.1, count))
    }

    /// From handing something to a task of another executor until it has it, in microseconds.
    private func hop() async -> Double {
        let (stream, continuation) = AsyncStream<Void>.makeStream()
        let deliveries = Deliveries()
        let task = Task.detached {
            for await _ in stream { deliveries.note() }
        }
        var waits: [Double] = []
        for number in 1...1_000 {
            let start = ContinuousClock.now
            continuation.yield()
            waits.append((await deliveries.wait(for: number) - start) / .microseconds(1))
        }
        task.cancel()
        await task.value
        return waits.percentile(0.5)
    }

    private func withFile<Result>(_ body: (Int32) throws -> Result) throws -> Result {
        let path = workload.folder + "/limit"
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
        defer {
            close(descriptor)
            unlink(path)
        }
        return try body(descriptor)
    }

    private func write(_ block: [UInt8], at offset: Int, in descriptor: Int32, isFlushed: Bool) throws {
        guard pwrite(descriptor, block, block.count, off_t(offset)) == block.count,
            !isFlushed || fdatasync(descriptor) == 0
        else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
    }

    /// Objects in a second when a hundred bytes for each are written and flushed, and nothing else.
    private func pages() throws -> Double {
        try withFile { descriptor in
            let block = [UInt8](repeating: 0xA5, count: 100 * workload.objectCount)
            let start = ContinuousClock.now
            try write(block, at: 0, in: descriptor, isFlushed: true)
            return Double(workload.objectCount) / ((ContinuousClock.now - start) / .seconds(1))
        }
    }

    /// Overwrites of blocks of 4 KiB, each made durable: no engine commits more often.
    private func flushes(blocksEach: Int) throws -> Double {
        try withBlocks { overwrite in
            try CommitLoop(first: 0)
                .run(for: workload.commitDuration) { number in
                    for part in 0..<blocksEach { try overwrite(number * blocksEach + part) }
                }
        }
    }

    /// How long one such overwrite takes, within a minute.
    private func times(_ row: RowIdentifier) throws -> Double? {
        if byProducts[row] == nil {
            let times = try withBlocks { try CommitLoop(first: 0).times(for: workload.tailDuration, $0) }
            byProducts.merge(times.commitTimes) { $1 }
        }
        return byProducts.removeValue(forKey: row)
    }

    /// Runs a body with what overwrites one of 256 blocks that are there, and makes that durable.
    private func withBlocks<Result>(_ body: ((Int) throws -> Void) throws -> Result) throws -> Result {
        try withFile { descriptor in
            let block = [UInt8](repeating: 0xA5, count: 4096)
            for number in 0..<256 { try write(block, at: number * 4096, in: descriptor, isFlushed: false) }
            fsync(descriptor)
            return try body { try write(block, at: $0 % 256 * 4096, in: descriptor, isFlushed: true) }
        }
    }
}

/// The values of all persons in arrays, and loops over them that a C compiler made: no actor, no closure, no check.
private struct Values {
    /// As the program declares them, for the sums.
    private let ages: [Int64]
    /// In as few bytes as they need, for the conditions: less cannot be read.
    private let narrowAges: [UInt8]
    private let scores: [Double]

    init(count: Int) {
        ages = (0..<count).map { Int64(PersonData($0).age) }
        narrowAges = ages.map { UInt8($0) }
        scores = (0..<count).map { PersonData($0).score }
    }

    func sum() -> Int { Int(limits_sum(ages, ages.count)) }

    func countEqual() -> Int { limits_count_equal(narrowAges, narrowAges.count, 33) }

    func countAnd() -> Int { limits_count_and(narrowAges, scores, narrowAges.count, 30, 40, 0.5) }
}
