import Foundation
import RealmTestSupport
import Testing

@testable import RealmStorage

/// Lengths that a file says it has: a hole of terabytes costs a stranger nothing.
@Suite("Files that are longer than what is in them")
struct LongFileTests {
    let directory = TemporaryDirectory()

    private var options: StorageOptions {
        var options = StorageOptions()
        options.durability = .none
        return options
    }

    /// A closed file with some pages, and a hole of so many bytes behind them.
    private func file(_ name: String, _ byteCount: Int) throws -> String {
        let path = directory.path(name)
        do {
            let file = try StorageFile.open(path: path, options: options)
            try file.lockForWriting()
            defer { file.unlockForWriting() }
            let transaction = try file.beginWrite()
            try PageArray.create(in: transaction)
            try file.publish([try PageArray.commit(transaction)])
        }
        try #require(truncate(path, byteCount) == 0)
        return path
    }

    /// With twice its length in address space there are more pages than a page number counts.
    @Test("a file with terabytes of nothing behind its pages is written to like any other", arguments: [5, 9])
    func hole(tebibytes: Int) throws {
        let path = try file("hole\(tebibytes).realm", tebibytes << 40)
        let file: StorageFile
        do throws(StorageError) {
            file = try StorageFile.open(path: path, options: options)
        } catch {
            // A sanitizer leaves less address space than that.
            return #expect(error.code == .addressSpaceExhausted)
        }
        #expect(UInt(bitPattern: UnsafeRawPointer(file.reservation.buffers)) % 8 == 0)
        try file.lockForWriting()
        defer { file.unlockForWriting() }
        let transaction = try file.beginWrite()
        try PageArray.set(3, to: 33, in: transaction)
        try file.publish([try PageArray.commit(transaction)])
        let snapshot = try file.beginRead()
        #expect(try PageArray.values(of: snapshot.catalog.root, in: snapshot.view)[3] == 33)
        #expect(snapshot.view.pageLimit < 1_000)
    }

    @Test("words of 8 bytes lie at multiples of 8, however many pages there is room for", arguments: [254, 255])
    func alignment(pageCount: Int) throws {
        let path = try file("words\(pageCount).realm", 1 << 20)
        let descriptor = open(path, O_RDONLY)
        defer { close(descriptor) }
        let reservation = try Reservation(
            descriptor: descriptor,
            byteCount: 1 << 20,
            path: path,
            reservedByteCount: pageCount * pageByteCount
        )
        #expect(UInt(bitPattern: UnsafeRawPointer(reservation.buffers)) % 8 == 0)
        #expect(reservation.pageCapacity == 254)
    }

    @Test("a file that is longer than page numbers reach is refused", arguments: [1 << 45, 1 << 62, .max])
    func tooLong(byteCount: Int) throws {
        let path = try file("long\(byteCount).realm", 1 << 20)
        let descriptor = open(path, O_RDONLY)
        defer { close(descriptor) }
        let error = #expect(throws: StorageError.self) {
            try Reservation(descriptor: descriptor, byteCount: byteCount, path: path)
        }
        #expect(error?.code == .corrupt)
    }

    @Test("what is read ahead ends with the last page that a page number counts")
    func lastPages() {
        let limit = PageNumber.max - 1
        let first = Readahead()
        #expect(first.window(touching: limit - 1, pageCount: 1, limit: limit) == limit - 8..<limit)
        let ascending = Readahead()
        var last: Range<PageNumber>?
        for page in limit - 200..<limit {
            if let window = ascending.window(touching: page, pageCount: 1, limit: limit) { last = window }
        }
        #expect(last?.upperBound == limit)
    }
}
