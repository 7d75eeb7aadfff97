import Figures
import Foundation
import People

/// What the hardware gives without an engine: the yardstick of a row.
@MainActor
final class RawLimit: Contestant {
    let name = "limit"

    private let workload: Workload
    private lazy var ages = (0..<workload.objectCount).map { Int64(PersonData($0).age) }
    private lazy var scores = (0..<workload.objectCount).map { PersonData($0).score }

    init(_ workload: Workload) {
        self.workload = workload
    }

    func measure(_ row: RowIdentifier) async throws -> Double? {
        switch row {
        case .insert: try pages()
        case .serial, .tasks: try flushes(blocksEach: 1)
        case .twoFlushes: try flushes(blocksEach: 2)
        case .commitBytes: 4096
        case .sumObjects: repeated(3) { consume(Self.sum(ages)) } / .nanoseconds(ages.count)
        case .sumEngine: repeated(20) { consume(Self.sum(ages)) } / .milliseconds(1)
        case .countEqual: repeated(5) { consume(Self.count(ages)) } / .milliseconds(1)
        case .countAnd: repeated(5) { consume(Self.count(ages, scores)) } / .milliseconds(1)
        default: nil
        }
    }

    // Calls, so that the results of the rounds are not taken for one and the same.
    @inline(never)
    private static func sum(_ numbers: [Int64]) -> Int64 {
        numbers.reduce(0, &+)
    }

    @inline(never)
    private static func count(_ ages: [Int64]) -> Int {
        ages.reduce(0) { $0 &+ ($1 == 33 ? 1 : 0) }
    }

    @inline(never)
    private static func count(_ ages: [Int64], _ scores: [Double]) -> Int {
        ages.indices.reduce(0) { $0 &+ (ages[$1] >= 30 && ages[$1] < 40 && scores[$1] > 0.5 ? 1 : 0) }
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
        try withFile { descriptor in
            let block = [UInt8](repeating: 0xA5, count: 4096)
            for number in 0..<256 { try write(block, at: number * 4096, in: descriptor, isFlushed: false) }
            fsync(descriptor)
            return try CommitLoop(first: 0)
                .run(for: workload.commitDuration) { number in
                    for part in 0..<blocksEach {
                        try write(block, at: (number * blocksEach + part) % 256 * 4096, in: descriptor, isFlushed: true)
                    }
                }
        }
    }
}
