import Glibc
import RealmTestSupport
import Testing

@testable import RealmStorage

/// The private memory of page runs, against a list of what is in use.
@Suite("Buffer pool")
struct BufferPoolTests {
    /// A pool over address space of its own.
    private final class Space {
        let memory: UnsafeMutableRawPointer
        let pageCapacity: Int

        init(pageCapacity: Int) {
            self.pageCapacity = pageCapacity
            let flags = MAP_PRIVATE | Int32(MAP_ANONYMOUS) | Int32(MAP_NORESERVE)
            memory = mmap(nil, pageCapacity * pageByteCount, PROT_READ | PROT_WRITE, flags, -1, 0)!
        }

        deinit { munmap(memory, pageCapacity * pageByteCount) }

        /// The pages of a stretch that have memory behind them.
        func residentCount(_ pages: Range<Int>) -> Int {
            var states = [UInt8](repeating: 0, count: pages.count)
            mincore(memory + pages.lowerBound * pageByteCount, pages.count * pageByteCount, &states)
            return states.count { $0 & 1 != 0 }
        }
    }

    @Test("runs in use never overlap, and keep what was written to them", arguments: [1, 2, 3, 4] as [UInt64])
    func model(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let space = Space(pageCapacity: 1 << 16)
        let pool = BufferPool(memory: space.memory, pageCapacity: space.pageCapacity)
        var used: [(bytes: UnsafeMutableRawPointer, pageCount: Int, mark: UInt64)] = []
        var emptied = 0
        for step in 0..<20_000 {
            // Fills up for a while, and drains for a while.
            let takes = Int.random(in: 0..<100, using: &random) < (step / 1_000 % 2 == 0 ? 60 : 30)
            if takes || used.isEmpty {
                let isLong = Int.random(in: 0..<40, using: &random) == 0
                let pageCount = Int.random(in: 1...(isLong ? 300 : 20), using: &random)
                guard let bytes = pool.take(pageCount) else { continue }
                let start = bytes - space.memory
                #expect(start >= 0 && start + pageCount * pageByteCount <= space.pageCapacity * pageByteCount)
                for page in 0..<pageCount {
                    bytes.storeBytes(of: UInt64(step), toByteOffset: page * pageByteCount, as: UInt64.self)
                }
                used.append((bytes, pageCount, UInt64(step)))
            } else {
                let (bytes, pageCount, mark) = used.remove(at: Int.random(in: used.indices, using: &random))
                let isKept = (0..<pageCount)
                    .allSatisfy { bytes.load(fromByteOffset: $0 * pageByteCount, as: UInt64.self) == mark }
                try #require(isKept, "a run of \(pageCount) pages was given to somebody else as well")
                pool.giveBack(bytes)
                if used.isEmpty { emptied += 1 }
            }
            #expect(pool.usedPageCount == used.reduce(0) { $0 + BufferPool.size(of: $1.pageCount).size })
        }
        #expect(emptied > 0)
    }

    @Test("the last run given back is the first one used again")
    func reuse() throws {
        let space = Space(pageCapacity: 1 << 10)
        let pool = BufferPool(memory: space.memory, pageCapacity: space.pageCapacity)
        let first = try #require(pool.take(1))
        let second = try #require(pool.take(1))
        let third = try #require(pool.take(1))
        pool.giveBack(first)
        pool.giveBack(third)
        #expect(pool.take(1) == third)
        #expect(pool.take(1) == first)
        for bytes in [first, second, third] { pool.giveBack(bytes) }
        #expect(pool.usedPageCount == 0)
        #expect(pool.take(1) == first, "an empty pool begins anew")
    }

    @Test("memory beyond what is retained goes back when nothing is in use, that of long runs at once")
    func release() throws {
        let count = BufferPool.retainedPageCount + 1_000
        let space = Space(pageCapacity: 2 * count)
        let pool = BufferPool(memory: space.memory, pageCapacity: space.pageCapacity)
        let runs = try (0..<count)
            .map { _ in
                let bytes = try #require(pool.take(1))
                bytes.storeBytes(of: 1, as: UInt8.self)
                return bytes
            }
        let long = try #require(pool.take(200))
        for page in 0..<200 { long.storeBytes(of: 1, toByteOffset: page * pageByteCount, as: UInt8.self) }
        #expect(space.residentCount(0..<(count + 200)) == count + 200)
        pool.giveBack(long)
        #expect(space.residentCount(0..<(count + 200)) == count)
        for bytes in runs { pool.giveBack(bytes) }
        #expect(space.residentCount(0..<(count + 200)) == BufferPool.retainedPageCount)
        #expect(pool.residentEnd == BufferPool.retainedPageCount)
    }

    @Test("address space that is used up is told, and can be used again")
    func exhaustion() throws {
        let space = Space(pageCapacity: 16)
        let pool = BufferPool(memory: space.memory, pageCapacity: space.pageCapacity)
        let run = try #require(pool.take(10))
        #expect(pool.take(7) == nil)
        let rest = try #require(pool.take(6))
        #expect(pool.take(1) == nil)
        pool.giveBack(run)
        #expect(pool.take(10) == run)
        pool.giveBack(run)
        pool.giveBack(rest)
        #expect(pool.take(16) == run)
    }

    @Test("a class holds its runs, and at most an eighth more")
    func classes() {
        var last = -1
        for pageCount in 1...70_000 {
            let (index, size) = BufferPool.size(of: pageCount)
            #expect(size >= pageCount && (size - pageCount) * 8 <= pageCount)
            #expect(size == BufferPool.size(ofClass: index))
            #expect(index == last || index == last + 1)
            last = index
        }
        // The longest run there is: a value of 2^32 - 1 bytes and its header.
        #expect(BufferPool.size(of: (1 << 20) + 1).index <= Int(UInt8.max))
    }
}
