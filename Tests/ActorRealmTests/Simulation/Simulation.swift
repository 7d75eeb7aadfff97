import RealmStorage
import RealmTestSupport

@testable import ActorRealm

/// One thread, one source of random numbers and one clock for everything that tasks, threads and the disk do: the same seed
/// gives the same run.
///
/// Whatever could run is kept in a list, and each step chooses from it. Where a thread would block, in the disk or in a pause,
/// other steps are taken meanwhile.
// Unchecked because one thread has it; the runtime asks for `Sendable`.
final class Simulation: TaskExecutor, @unchecked Sendable {
    /// Blocks of one thread, one behind the other.
    private struct Thread {
        var blocks: [@Sendable () -> Void] = []
        var isRunning = false
    }

    private var random: SplitMix64
    private var jobs: [UnownedJob] = []
    private var threads = [Thread(), Thread()]
    private(set) var time: UInt64 = 1_000_000_000
    private(set) var stepCount = 0
    /// A hash of all choices.
    private(set) var trace: UInt64 = 0xCBF2_9CE4_8422_2325

    init(seed: UInt64) { random = SplitMix64(seed: seed) }

    func enqueue(_ job: consuming ExecutorJob) { jobs.append(UnownedJob(job)) }

    /// A number below another.
    func choose(_ count: Int) -> Int {
        let choice = Int(random.next() % UInt64(count))
        trace = (trace ^ UInt64(choice &+ count << 16)) &* 0x100_0000_01B3
        return choice
    }

    func isOneOf(_ count: Int) -> Bool { choose(count) == 0 }

    /// A thread of the file; `index` is 0 for what blocks in the device, 1 for what waits for the lock.
    func thread(_ index: Int) -> DedicatedThread {
        DedicatedThread(name: "simulated") { [self] block in threads[index].blocks.append(block) }
    }

    var clock: WriteScheduler.Clock {
        WriteScheduler.Clock(now: { self.time }, pause: { self.pause($0) })
    }

    /// Passes time, in which others go on.
    func pause(_ nanoseconds: UInt64) {
        let end = time + nanoseconds
        for _ in 0..<choose(6) where !step() { break }
        time = max(time, end)
    }

    /// Runs something that can run; false when there is nothing.
    func step() -> Bool {
        let ready = threads.indices.filter { !threads[$0].isRunning && !threads[$0].blocks.isEmpty }
        let count = jobs.count + ready.count
        if count == 0 { return false }
        stepCount += 1
        time += UInt64(choose(40_000))
        let choice = choose(count)
        if choice < jobs.count {
            jobs.remove(at: choice).runSynchronously(on: asUnownedTaskExecutor())
            return true
        }
        let index = ready[choice - jobs.count]
        let block = threads[index].blocks.removeFirst()
        threads[index].isRunning = true
        block()
        threads[index].isRunning = false
        return true
    }
}

/// A disk that has what was flushed, and after a power cut any part of what was not, in any order, torn in sectors.
// Unchecked because the simulation's one thread has it.
final class SimulatedDisk: @unchecked Sendable {
    private enum Operation {
        case write(offset: Int, bytes: [UInt8])
        case setByteCount(Int)
    }

    private let world: Simulation
    private var durable: [UInt8]
    private var pending: [Operation] = []
    /// How many flushes succeed before one fails.
    private var goodFlushes: Int
    private(set) var hasFailed = false

    init(_ world: Simulation, content: [UInt8], goodFlushes: Int) {
        self.world = world
        durable = content
        self.goodFlushes = goodFlushes
    }

    /// Writes to the file as well, which is where pages are read.
    struct Device: StorageDevice {
        let disk: SimulatedDisk
        let base: any StorageDevice

        var descriptor: Int32 { base.descriptor }
        var path: String { base.path }
        var isReadOnly: Bool { base.isReadOnly }

        func currentByteCount() throws(StorageError) -> Int { try base.currentByteCount() }

        func write(_ pieces: [(UnsafeRawPointer, Int)], at offset: Int) throws(StorageError) {
            var bytes: [UInt8] = []
            for (start, count) in pieces { bytes += UnsafeRawBufferPointer(start: start, count: count) }
            disk.pending.append(.write(offset: offset, bytes: bytes))
            try base.write(pieces, at: offset)
            disk.isHeaderWritten = offset < 4 * 4096 && bytes.count == 2 * 4096
        }

        func setByteCount(_ byteCount: Int) throws(StorageError) {
            disk.pending.append(.setByteCount(byteCount))
            try base.setByteCount(byteCount)
        }

        func synchronize() throws(StorageError) {
            // While the file grows, its writer has a lock that others may ask for.
            if disk.isHeaderWritten { disk.world.pause(100_000) }
            disk.isHeaderWritten = false
            if disk.goodFlushes == 0 {
                disk.hasFailed = true
                disk.losePart()
                throw StorageError(.io, "Injected failure", errorNumber: 5)
            }
            disk.goodFlushes -= 1
            for operation in disk.pending { disk.apply(operation) { true } }
            disk.pending = []
        }
    }

    private var isHeaderWritten = false

    private func apply(_ operation: Operation, _ keepsSector: () -> Bool) {
        switch operation {
        case .setByteCount(let count):
            if !keepsSector() { return }
            durable.removeLast(max(0, durable.count - count))
            durable += Array(repeating: 0, count: max(0, count - durable.count))
        case .write(let offset, let bytes):
            for start in stride(from: 0, to: bytes.count, by: 512) where keepsSector() {
                let end = min(bytes.count, start + 512)
                durable += Array(repeating: 0, count: max(0, offset + end - durable.count))
                durable.replaceSubrange(offset + start..<offset + end, with: bytes[start..<end])
            }
        }
    }

    /// Any part of what was not flushed reaches the disk, and the rest never will.
    private func losePart() {
        for operation in pending {
            switch world.choose(4) {
            case 0: break
            case 1: apply(operation) { world.isOneOf(2) }
            default: apply(operation) { true }
            }
        }
        pending = []
    }

    /// What is there after a power cut.
    func cutPower() -> [UInt8] {
        losePart()
        return durable
    }
}
