import Glibc
import RealmTestSupport
import Testing

@testable import RealmStorage

@Suite("What is asked for before pages are touched")
struct ReadaheadTests {
    @Test("Around the first touches of a file the neighbours are read, and behind them single runs")
    func opening() {
        let readahead = Readahead()
        #expect(readahead.window(touching: 1_000, pageCount: 1, limit: 5_000) == 993..<1_002)
        #expect(readahead.window(touching: 994, pageCount: 1, limit: 5_000) == nil, "it was asked for with the first")
        #expect(readahead.window(touching: 4_999, pageCount: 1, limit: 5_000) == 4_992..<5_000)
        #expect(readahead.window(touching: 2_000, pageCount: 20, limit: 5_000) == 2_000..<2_020)
        #expect(readahead.window(touching: 100, pageCount: 1, limit: 5_000) == 100..<101)
        #expect(readahead.window(touching: 995, pageCount: 1, limit: 5_000) == nil, "others were asked for since")
        #expect(readahead.window(touching: 3_000, pageCount: 1, limit: 5_000) == 3_000..<3_001)
        #expect(readahead.window(touching: 50, pageCount: 4, limit: 5_000) == 50..<54)
    }

    @Test("The window around a first touch ends with the pages that there are, and has a long run whole")
    func openingAtEnds() {
        let low = Readahead()
        #expect(low.window(touching: 3, pageCount: 1, limit: 5_000) == 0..<5)
        #expect(low.window(touching: 2_000, pageCount: 20, limit: 5_000) == 1_993..<2_020)
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

    @Test("What the system has in memory is known of files that may be written to")
    func cached() throws {
        let directory = TemporaryDirectory()
        let path = directory.path("cached")
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        #expect(descriptor >= 0)
        defer { close(descriptor) }
        let byteCount = 100 * pageByteCount
        #expect(
            [UInt8](repeating: 1, count: byteCount).withUnsafeBytes { pwrite(descriptor, $0.baseAddress, byteCount, 0) }
                == byteCount
        )
        let reservation = try Reservation(descriptor: descriptor, byteCount: byteCount, path: path)
        #expect(reservation.isCached(99))
        #expect(fsync(descriptor) == 0)
        #expect(posix_fadvise(descriptor, 0, 0, Int32(POSIX_FADV_DONTNEED)) == 0)
        // A file system in memory keeps what it has.
        guard !reservation.isCached(99) else { return }
        reservation.willNeed(0..<100)
        var waits = 0
        while !reservation.isCached(99), waits < 10_000 {
            usleep(1_000)
            waits += 1
        }
        #expect(reservation.isCached(99), "it was asked for, since it was not there")

        let reading = open(path, O_RDONLY | O_CLOEXEC)
        defer { close(reading) }
        let other = try Reservation(descriptor: reading, byteCount: byteCount, path: path)
        #expect(!other.isCached(99))
    }
}
