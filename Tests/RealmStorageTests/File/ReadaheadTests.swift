import Testing

@testable import RealmStorage

@Suite("What is asked for before pages are touched")
struct ReadaheadTests {
    @Test("Around the first touches of a file the neighbours are read, and behind them single runs")
    func opening() {
        let readahead = Readahead()
        #expect(readahead.window(touching: 1_000, pageCount: 1, limit: 5_000) == 993..<1_006)
        #expect(readahead.window(touching: 994, pageCount: 1, limit: 5_000) == nil, "it was asked for with the first")
        #expect(readahead.window(touching: 3, pageCount: 1, limit: 5_000) == 0..<9)
        #expect(readahead.window(touching: 4_998, pageCount: 1, limit: 5_000) == 4_991..<5_000)
        #expect(readahead.window(touching: 2_000, pageCount: 20, limit: 5_000) == 1_993..<2_020)
        #expect(readahead.window(touching: 100, pageCount: 1, limit: 5_000) == 93..<106)
        #expect(readahead.window(touching: 995, pageCount: 1, limit: 5_000) == nil, "others were asked for since")
        #expect(readahead.window(touching: 3_000, pageCount: 1, limit: 5_000) == 3_000..<3_001)
        #expect(readahead.window(touching: 50, pageCount: 4, limit: 5_000) == 50..<54)
    }

    @Test("While touches ascend, each page is asked for once, in windows that double")
    func ascending() {
        let readahead = Readahead()
        var asked = 0..<PageNumber(0)
        var windows = 0
        for page in PageNumber(0)..<4_000 {
            if let window = readahead.window(touching: page, pageCount: 1, limit: 4_000) {
                windows += 1
                #expect(window.lowerBound <= max(page, asked.upperBound), "nothing is left out")
                #expect(window.upperBound > asked.upperBound, "nothing is asked for twice alone")
                asked = 0..<window.upperBound
            }
            #expect(asked.contains(page))
        }
        #expect(windows < 40)
    }
}
