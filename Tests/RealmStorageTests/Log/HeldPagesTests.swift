import Testing

@testable import RealmStorage

@Suite("Which pages are held in memory")
struct HeldPagesTests {
    /// What a call that changes something came to.
    private func isSo(_ value: Bool) -> Bool { value }

    private static let later: UInt64 = 1_000_000_000

    private static func run(_ page: PageNumber, _ pageCount: UInt32 = 1) -> PreparedCommit.Run {
        PreparedCommit.Run(page: page, pageCount: pageCount, checksum: UInt64(page) * 7)
    }

    private static func retired(_ page: PageNumber, _ versions: Range<UInt64>) -> RetiredExtent {
        RetiredExtent(
            extent: Extent(page: page, pageCount: 1),
            birth: versions.lowerBound,
            death: versions.upperBound
        )
    }

    /// Some pages of a commit of version 5, and openings that wait for them.
    private static func held(_ pages: PageNumber...) -> HeldPages {
        var held = HeldPages()
        let isExpected = held.expect(pages: pages.count, at: later) { true }
        precondition(isExpected)
        held.add(pages.map { run($0) })
        return held
    }

    @Test("Openings are shut before the first commit, and let through when nothing is held")
    func doors() {
        var held = HeldPages()
        var calls: [String] = []
        func expect(at now: UInt64) -> Bool {
            held.expect(pages: 1, at: now) {
                calls.append("shut")
                return true
            }
        }
        #expect(isSo(expect(at: Self.later)))
        held.add([Self.run(9)])
        #expect(isSo(expect(at: Self.later)))
        held.add([Self.run(10)])
        #expect(held.open(at: Self.later, readers: []) { calls.append("open") } == nil, "two pages are held")
        held.remove([Self.run(9), Self.run(10)])
        #expect(isSo(expect(at: Self.later)))
        #expect(held.open(at: Self.later, readers: []) { calls.append("open") } == nil, "a commit is under way")
        held.abandon()
        #expect(held.open(at: Self.later, readers: []) { calls.append("open") } == [])
        #expect(calls == ["shut", "open"])
        #expect(!isSo(expect(at: Self.later + HeldPages.openNanoseconds - 1)), "whoever waited could not come in")
        #expect(isSo(expect(at: Self.later + HeldPages.openNanoseconds)))
        #expect(calls == ["shut", "open", "shut"])
    }

    @Test("Nothing is held beside another process, above the limit, and before openings are let through")
    func refusals() {
        var held = HeldPages()
        #expect(!isSo(held.expect(pages: 1, at: Self.later) { false }))
        #expect(!held.isShut)
        #expect(!isSo(held.expect(pages: HeldPages.pageLimit + 1, at: Self.later) { true }))
        #expect(isSo(held.expect(pages: HeldPages.pageLimit, at: Self.later) { true }))
        held.add([Self.run(9, UInt32(HeldPages.pageLimit))])
        #expect(!isSo(held.expect(pages: 1, at: Self.later) { true }))
        held.remove([Self.run(9, UInt32(HeldPages.pageLimit))])
        held.end()
        #expect(!isSo(held.expect(pages: 1, at: Self.later) { true }))
        #expect(held.open(at: Self.later, readers: []) {} == [])
        #expect(isSo(held.expect(pages: 1, at: 2 * Self.later) { true }))
    }

    @Test("A run that died is needed by those who read it, until its pages may be used again")
    func death() {
        var held = Self.held(9, 10, 11)
        held.retire([Self.retired(10, 5..<6)])
        #expect(held.needed(by: []).map(\.page) == [9, 11])
        #expect(held.needed(by: [5]).map(\.page) == [9, 10, 11])
        #expect(held.needed(by: [4, 6]).map(\.page) == [9, 11])
        #expect(held.pageCount == 3)
        #expect(held.reclaim([Extent(page: 8, pageCount: 4)]) == [Self.run(10)])
        #expect(held.reclaim([Extent(page: 8, pageCount: 4)]) == [])
        #expect(held.pageCount == 2)
        // Another run in its place is another one.
        held.remove([PreparedCommit.Run(page: 9, pageCount: 1, checksum: 1)])
        #expect(held.pageCount == 2)
    }

    @Test("Dead runs that nobody needs are forgotten when openings are let through")
    func leftOver() {
        var held = Self.held(9, 10)
        held.retire([Self.retired(9, 5..<6), Self.retired(10, 5..<6)])
        #expect(held.open(at: Self.later, readers: [4, 5]) {} == nil, "one reads them")
        let left = held.open(at: Self.later, readers: [4, 6]) {}
        #expect(left?.map(\.page).sorted() == [9, 10])
        #expect(held.pageCount == 0)
        #expect(held.needed(by: [5]).isEmpty)
    }

    @Test("Whoever else has openings wait is not passed over")
    func others() {
        var held = HeldPages()
        var isLocked = false
        func other(_ change: Int) -> Bool {
            held.countOther(change) {
                isLocked = change > 0
                return true
            }
        }
        #expect(isSo(other(1)))
        #expect(isLocked)
        #expect(isSo(held.expect(pages: 1, at: Self.later) { false }), "they wait already")
        held.add([])
        #expect(held.open(at: Self.later, readers: []) { isLocked = false } == [])
        #expect(isLocked)
        #expect(isSo(other(-1)))
        #expect(!isLocked)
        let isExpected = held.expect(pages: 1, at: 2 * Self.later) {
            isLocked = true
            return true
        }
        #expect(isExpected)
        #expect(isSo(other(1)))
        #expect(isSo(other(-1)))
        #expect(isLocked, "pages are held")
    }

    @Test("One waits for a quiet moment, until openings were let through")
    func waiting() {
        var held = Self.held(9)
        #expect(isSo(held.beginsWaiting()))
        #expect(!isSo(held.beginsWaiting()))
        held.remove([Self.run(9)])
        #expect(held.open(at: Self.later, readers: []) {} == [])
        #expect(!isSo(held.beginsWaiting()))
        #expect(isSo(held.expect(pages: 1, at: 2 * Self.later) { true }))
        #expect(isSo(held.beginsWaiting()))
    }
}
