/// The sealed runs of a transaction that stand in memory only, by first page.
///
/// Most transactions seal a handful of runs, and then a list is faster than a dictionary; those that spill seal thousands.
struct UnspilledRuns {
    /// Their number of pages.
    private(set) var pageCount = 0
    private var few: [PreparedCommit.Run] = []
    private var many: [PageNumber: PreparedCommit.Run] = [:]

    private static let listLimit = 32

    /// Notes a run that has been sealed; what was known of its first page is replaced.
    mutating func insert(_ run: PreparedCommit.Run) {
        if many.isEmpty {
            if let index = index(of: run.page) {
                pageCount += Int(run.pageCount) - Int(few[index].pageCount)
                few[index] = run
                return
            }
            pageCount += Int(run.pageCount)
            if few.count < Self.listLimit {
                if few.isEmpty { few.reserveCapacity(Self.listLimit) }
                few.append(run)
                return
            }
            for run in few { many[run.page] = run }
            few.removeAll()
            many[run.page] = run
            return
        }
        let before = many.updateValue(run, forKey: run.page)
        pageCount += Int(run.pageCount) - Int(before?.pageCount ?? 0)
    }

    /// Forgets the run that begins at a page, if there is one.
    @inline(__always)
    mutating func remove(_ page: PageNumber) {
        if pageCount == 0 { return }
        if many.isEmpty {
            guard let index = index(of: page) else { return }
            pageCount -= Int(few[index].pageCount)
            few.swapAt(index, few.count - 1)
            few.removeLast()
        } else if let run = many.removeValue(forKey: page) {
            pageCount -= Int(run.pageCount)
        }
    }

    /// Takes all of them out, in the order of their pages.
    mutating func takeAll() -> [PreparedCommit.Run] {
        defer {
            few.removeAll(keepingCapacity: true)
            many.removeAll(keepingCapacity: true)
            pageCount = 0
        }
        return (many.isEmpty ? few : Array(many.values)).sorted { $0.page < $1.page }
    }

    private func index(of page: PageNumber) -> Int? {
        // The newest are asked for most.
        var index = few.count
        while index > 0 {
            index -= 1
            if few[index].page == page { return index }
        }
        return nil
    }
}

#if DEBUG
extension UnspilledRuns {
    /// All of them, in any order.
    var runs: [PreparedCommit.Run] { many.isEmpty ? few : Array(many.values) }

    /// The one that begins at a page.
    func run(at page: PageNumber) -> PreparedCommit.Run? {
        many.isEmpty ? index(of: page).map { few[$0] } : many[page]
    }

    /// They stand in one of the two forms, each page once, and their pages are counted.
    func checkInvariants() throws(BrokenInvariant) {
        try Invariant.require(few.isEmpty || many.isEmpty, "Unspilled runs stand in both forms")
        let pages = runs.reduce(0) { $0 + Int($1.pageCount) }
        try Invariant.require(pages == pageCount, "\(pages) unspilled pages are counted as \(pageCount)")
        try Invariant.require(Set(runs.map(\.page)).count == runs.count, "A page has two unspilled runs")
        for (page, run) in many { try Invariant.require(page == run.page, "A run stands under another page") }
    }
}
#endif
