import Foundation

/// What the hardware gives without an engine: the yardstick of a row.
@MainActor
final class RawLimit: Contestant {
    static let name = "limit"

    private let workload: Workload
    private var ages: [Int64] = []
    private var commitsPerSecond: [Double] = []

    init(_ workload: Workload) {
        self.workload = workload
    }

    func measure(_ row: RowIdentifier) async throws -> Double? {
        switch row {
        case .serial, .tasks:
            return try oneFlushLoop()
        case .sumEngine:
            if ages.isEmpty { ages = (0..<workload.objectCount).map { Int64(PersonData($0).age) } }
            return repeated(20) { consume(Self.sum(ages)) } / .milliseconds(1)
        default:
            return nil
        }
    }

    // A call, so that the sums of the rounds are not taken for one and the same.
    @inline(never)
    private static func sum(_ numbers: [Int64]) -> Int64 {
        numbers.reduce(0, &+)
    }

    /// Overwrites of one 4 KiB block, each made durable: no engine commits more often.
    private func oneFlushLoop() throws -> Double {
        let path = workload.folder + "/flush"
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
        defer {
            close(descriptor)
            unlink(path)
        }
        let block = [UInt8](repeating: 0xA5, count: 4096)
        for number in 0..<256 { pwrite(descriptor, block, block.count, off_t(number * 4096)) }
        fsync(descriptor)
        let start = ContinuousClock.now
        var commits = 0
        while ContinuousClock.now - start < workload.commitDuration {
            guard pwrite(descriptor, block, block.count, off_t(commits % 256 * 4096)) == block.count,
                fdatasync(descriptor) == 0
            else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
            commits += 1
        }
        return Double(commits) / ((ContinuousClock.now - start) / .seconds(1))
    }
}

/// The fastest of a number of runs.
@MainActor
func repeated(_ count: Int, _ body: () throws -> Void) rethrows -> Duration {
    var best = Duration.seconds(1_000_000)
    for _ in 0..<count {
        let start = ContinuousClock.now
        try body()
        best = min(best, ContinuousClock.now - start)
    }
    return best
}
