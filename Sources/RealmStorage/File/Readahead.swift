import Glibc
import Synchronization

/// Asks the system for pages before they are touched for the first time.
///
/// A page fault in a mapping reads 128 KiB around the page, which is most of the time that a cold file takes to give one
/// object. What is asked for by name is read and nothing else: single runs while touches are scattered, windows that
/// double while they ascend. Only around the first touches of a file just opened the neighbours are read as well: what a commit
/// wrote lies together, children before their parents, and a read of 36 KiB takes 1.5 times as long as one of 4 from a device beside
/// the processor, and hardly longer from one behind a network.
struct Readahead: ~Copyable {
    /// The stretch that was asked for last, as two page numbers in one word.
    private let asked = Atomic<UInt64>(0)
    /// The page that was touched last in the upper half, and the number of touches that ascended in the lower.
    private let touched = Atomic<UInt64>(0)
    /// What was asked for around the first touches.
    private let opening = Mutex<[Range<PageNumber>]>([])

    /// The touches around which the neighbours are read as well: the catalog, and what was written with it last.
    ///
    /// What an object has lies elsewhere, each part for itself, and is read by the page.
    private static let openingLimit = 2
    private static let openingReach: (before: PageNumber, behind: PageNumber) = (7, 2)
    /// The pages that a touch may skip and still count as ascending.
    private static let reach: UInt32 = 64
    private static let greatestWindow: UInt32 = 512

    /// What to ask for at the first touch of a run; nil when it has been asked for already.
    ///
    /// Threads that touch at once may disturb each other's guesses, and nothing else.
    func window(touching page: PageNumber, pageCount: UInt32, limit: PageNumber) -> Range<PageNumber>? {
        let last = touched.load(ordering: .relaxed)
        let lastPage = PageNumber(truncatingIfNeeded: last >> 32)
        let isNear = page >= lastPage && page - lastPage <= Self.reach
        let streak = isNear ? min(UInt32(truncatingIfNeeded: last) + 1, 16) : 0
        touched.store(UInt64(page) << 32 | UInt64(streak), ordering: .relaxed)
        let before = asked.load(ordering: .relaxed)
        let start = PageNumber(truncatingIfNeeded: before >> 32)
        let end = PageNumber(truncatingIfNeeded: before)
        // The first few may be neighbours by chance.
        let window = streak < 4 ? pageCount : max(pageCount, min(1 << streak, Self.greatestWindow))
        var wanted = page..<(page + pageCount)
        if start <= page, page + pageCount <= end {
            // While the second half of a window is gone through, the next one is on its way.
            guard streak >= 4, end - page < window / 2 else { return nil }
            wanted = end..<end.advanced(byPages: window)
        } else {
            wanted = page..<page.advanced(byPages: window)
            if streak < 4 {
                guard let first = firstTouch(of: wanted) else { return nil }
                wanted = first
            }
        }
        guard wanted.lowerBound < limit else { return nil }
        wanted = wanted.clamped(to: 0..<limit)
        asked.store(UInt64(min(page, wanted.lowerBound)) << 32 | UInt64(wanted.upperBound), ordering: .relaxed)
        return wanted
    }

    /// What to ask for at one of the first touches of the file; nil when it has been asked for already.
    private func firstTouch(of run: Range<PageNumber>) -> Range<PageNumber>? {
        opening.withLock { opening in
            let isAsked = opening.contains { $0.lowerBound <= run.lowerBound && run.upperBound <= $0.upperBound }
            if isAsked { return nil }
            if opening.count == Self.openingLimit { return run }
            let (before, behind) = Self.openingReach
            let start = run.lowerBound
            let window = (start - min(start, before))..<max(run.upperBound, start.advanced(byPages: behind))
            opening.append(window)
            return window
        }
    }
}

extension PageNumber {
    /// The page so many pages further on, or the last one that there can be.
    fileprivate func advanced(byPages count: UInt32) -> PageNumber {
        let (page, isBeyond) = addingReportingOverflow(count)
        return isBeyond ? .max : page
    }
}

extension Reservation {
    /// Starts reading pages of the file that will be touched soon.
    ///
    /// For that the system looks for each of them, also when it has them all. Of a long stretch whose last page is in memory the
    /// others most likely are, and nothing is asked for.
    func willNeed(_ pages: Range<PageNumber>) {
        if pages.count >= Reservation.longStretch, isCached(pages.upperBound - 1) { return }
        madvise(address(of: pages.lowerBound), pages.count * pageByteCount, MADV_WILLNEED)
    }

    /// Whether the system has a page of the file in memory; false where it does not say so.
    func isCached(_ page: PageNumber) -> Bool {
        var state: UInt8 = 0
        return isWritable && mincore(address(of: page), pageByteCount, &state) == 0 && state & 1 != 0
    }

    private static let longStretch = 64

    private func address(of page: PageNumber) -> UnsafeMutableRawPointer {
        UnsafeMutableRawPointer(mutating: mapping) + Int(page) * pageByteCount
    }
}
