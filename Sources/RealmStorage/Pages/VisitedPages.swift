/// The pages that a walk over trees has come to.
///
/// Each run is entered before the walk goes down into it, so that a file in which trees share pages costs a walk no more than its
/// size: a page that is met twice is damage.
package struct VisitedPages {
    /// Per stretch of pages a bit for each, empty as long as no page of it was met.
    private var stretches: [[UInt64]] = []

    private static var stretchPageCount: Int { 32_768 }

    package init() {}

    /// Notes a run, before it is read.
    ///
    /// - Throws: `StorageError` with code `corrupt` when it does not lie in the file, or a page of it was met before.
    package mutating func enter(_ reference: PageReference, in view: PageView) throws(StorageError) {
        try view.checkPlace(of: reference)
        for page in Int(reference.page)..<(Int(reference.page) + Int(reference.pageCount)) {
            guard insert(page) else { throw .corrupt("A page is accounted for twice", page: PageNumber(page)) }
        }
    }

    /// As ``enter(_:in:)``; false when that fails.
    package mutating func claims(_ reference: PageReference?, in view: PageView) -> Bool {
        guard let reference else { return false }
        return (try? enter(reference, in: view)) != nil
    }

    /// Notes a page; false when it was met before.
    private mutating func insert(_ page: Int) -> Bool {
        let (stretch, place) = page.quotientAndRemainder(dividingBy: Self.stretchPageCount)
        while stretches.count <= stretch { stretches.append([]) }
        if stretches[stretch].isEmpty {
            stretches[stretch] = Array(repeating: 0, count: Self.stretchPageCount / UInt64.bitWidth)
        }
        let bit = UInt64(1) << UInt64(place % UInt64.bitWidth)
        guard stretches[stretch][place / UInt64.bitWidth] & bit == 0 else { return false }
        stretches[stretch][place / UInt64.bitWidth] |= bit
        return true
    }
}
