import Glibc

/// Private memory for the runs of pages that write transactions make, until they stand in the file.
///
/// What was given back last is used again first, so that a small commit finds its pages in the processor's caches. When nothing
/// is in use, all but ``retainedPageCount`` pages go back to the system; long runs do so at once.
///
/// Used by the holder of the write lock only, like `WriterState`.
// Unchecked because the write lock goes from one holder to the next with everything that the one before did.
final class BufferPool: @unchecked Sendable {
    /// The pages whose memory is kept for the next transactions.
    static let retainedPageCount = 8192
    /// Runs as long as this give their memory back when they are not in use.
    private static let longPageCount = 64

    private let memory: UnsafeMutableRawPointer
    private let pageCapacity: Int
    /// Per page of the pool: the class of the run that begins there.
    @exclusivity(unchecked) private var classes: [UInt8] = []
    /// Per class: the first pages of the runs that are not in use.
    @exclusivity(unchecked) private var spare: [[UInt32]] = []
    /// The pages below were given out since nothing was in use.
    @exclusivity(unchecked) private var end = 0
    /// The pages below may have memory behind them.
    @exclusivity(unchecked) private(set) var residentEnd = 0
    /// The number of pages in use, with those that round a run up.
    @exclusivity(unchecked) private(set) var usedPageCount = 0
    #if DEBUG
    /// What memory that is given out is filled with, for tests of those that must not rely on what is in it.
    @exclusivity(unchecked) var filling: UInt8?
    #endif

    /// - Parameters:
    ///   - memory: Address space that costs nothing until it is touched.
    ///   - pageCapacity: Its size in pages.
    init(memory: UnsafeMutableRawPointer, pageCapacity: Int) {
        self.memory = memory
        self.pageCapacity = pageCapacity
    }

    /// Memory for a run, with anything in it; nil when the address space is used up.
    ///
    /// - Complexity: O(1).
    func take(_ pageCount: Int) -> UnsafeMutableRawPointer? {
        let (index, size) = Self.size(of: pageCount)
        let page: Int
        if index < spare.count, let last = spare[index].popLast() {
            page = Int(last)
        } else {
            guard end + size <= pageCapacity else { return nil }
            page = end
            end += size
            residentEnd = max(residentEnd, end)
            if classes.count < end { classes.append(contentsOf: repeatElement(0, count: max(end - classes.count, 64))) }
            classes[page] = UInt8(index)
        }
        usedPageCount += size
        #if DEBUG
        if let filling {
            (memory + page * pageByteCount)
                .initializeMemory(as: UInt8.self, repeating: filling, count: pageCount * pageByteCount)
        }
        #endif
        return memory + page * pageByteCount
    }

    /// Takes the memory of a run back.
    ///
    /// - Complexity: O(1).
    func giveBack(_ bytes: UnsafeMutableRawPointer) {
        let page = (bytes - memory) / pageByteCount
        let index = Int(classes[page])
        let size = Self.size(ofClass: index)
        usedPageCount -= size
        if size >= Self.longPageCount { release(page..<(page + size)) }
        if usedPageCount == 0 { return startAnew() }
        while spare.count <= index { spare.append([]) }
        spare[index].append(UInt32(page))
    }

    /// Gives all memory back to the system, where none is in use.
    func empty() {
        guard usedPageCount == 0, residentEnd > 0 else { return }
        startAnew()
        release(0..<residentEnd)
        residentEnd = 0
    }

    private func startAnew() {
        end = 0
        for index in spare.indices where !spare[index].isEmpty { spare[index].removeAll(keepingCapacity: true) }
        if residentEnd > Self.retainedPageCount {
            release(Self.retainedPageCount..<residentEnd)
            residentEnd = Self.retainedPageCount
        }
    }

    private func release(_ pages: Range<Int>) {
        madvise(memory + pages.lowerBound * pageByteCount, pages.count * pageByteCount, MADV_DONTNEED)
    }

    /// The class of runs of a length, and the pages that one takes: the length itself up to 16, then at most an eighth more.
    static func size(of pageCount: Int) -> (index: Int, size: Int) {
        if pageCount <= 16 { return (pageCount - 1, pageCount) }
        let shift = Int.bitWidth - 4 - (pageCount - 1).leadingZeroBitCount
        let eighths = ((pageCount - 1) >> shift) + 1
        return (16 + (shift - 1) * 8 + eighths - 9, eighths << shift)
    }

    /// The pages that a run of a class takes.
    static func size(ofClass index: Int) -> Int {
        if index < 16 { return index + 1 }
        return (9 + (index - 16) & 7) << (((index - 16) >> 3) + 1)
    }
}
