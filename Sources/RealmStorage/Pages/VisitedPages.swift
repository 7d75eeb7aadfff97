/// The pages that a walk over trees has come to.
///
/// Each run is entered before the walk goes down into it, so that a file in which trees share pages costs a walk no more than its
/// size: a page that is met twice is damage.
///
/// A walk may be one over some pages only. It passes over all others, and over what is below them.
package struct VisitedPages {
    /// Per page whether the walk goes down into a run that begins there, and not behind the last one; nil for all.
    private let wanted: [Bool]?
    /// Per stretch of pages a bit for each, empty as long as no page of it was met; that of `number` is in `bits`.
    private var stretches: [[UInt64]] = []
    /// The stretch that was met last, apart from the others so that a page costs one access to an array.
    private var bits: [UInt64] = []
    private var number = -1

    private static var stretchPageCount: Int { 32_768 }

    /// Begins a walk.
    ///
    /// - Parameter wanted: Per page whether the walk goes down into a run that begins there; nil for all.
    package init(only wanted: [Bool]? = nil) { self.wanted = wanted }

    /// Notes a run, before it is read.
    ///
    /// - Returns: Whether the walk goes down into it. One that it passes over is not noted.
    /// - Throws: `StorageError` with code `corrupt` when it does not lie in the file, or a page of it was met before.
    @discardableResult
    package mutating func enter(_ reference: PageReference, in view: PageView) throws(StorageError) -> Bool {
        try view.checkPlace(of: reference)
        if passesOver(reference) { return false }
        let first = Int(reference.page)
        if let met = insert(first..<first + Int(reference.pageCount)) {
            throw .corrupt("A page is accounted for twice", page: PageNumber(met))
        }
        return true
    }

    /// Whether the walk passes over a run, and over what is below it; false where there is none.
    package func passesOver(_ reference: PageReference?) -> Bool {
        guard let wanted, let reference else { return false }
        let first = Int(reference.page)
        return first >= wanted.count || !wanted[first]
    }

    /// As ``enter(_:in:)``; false when that fails.
    package mutating func claims(_ reference: PageReference?, in view: PageView) -> Bool {
        guard let reference else { return false }
        return (try? enter(reference, in: view)) != nil
    }

    /// Notes pages up to the first one that was met before, which is returned.
    mutating func insert(_ pages: Range<Int>) -> Int? {
        var page = pages.lowerBound
        while page < pages.upperBound {
            let (stretch, place) = page.quotientAndRemainder(dividingBy: Self.stretchPageCount)
            if stretch != number { turn(to: stretch) }
            let shift = place % UInt64.bitWidth
            let count = min(pages.upperBound - page, UInt64.bitWidth - shift)
            let mask = (UInt64.max >> UInt64(UInt64.bitWidth - count)) << UInt64(shift)
            let known = bits[place / UInt64.bitWidth] & mask
            if known != 0 {
                bits[place / UInt64.bitWidth] |= mask & (1 << UInt64(known.trailingZeroBitCount) - 1)
                return page - shift + known.trailingZeroBitCount
            }
            bits[place / UInt64.bitWidth] |= mask
            page += count
        }
        return nil
    }

    private mutating func turn(to stretch: Int) {
        while stretches.count <= stretch { stretches.append([]) }
        if number >= 0 { swap(&bits, &stretches[number]) }
        swap(&bits, &stretches[stretch])
        if bits.isEmpty { bits = Array(repeating: 0, count: Self.stretchPageCount / UInt64.bitWidth) }
        number = stretch
    }
}
