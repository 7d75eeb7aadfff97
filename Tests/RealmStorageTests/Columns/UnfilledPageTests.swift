import RealmTestSupport
import Testing

@testable import RealmStorage

#if DEBUG
@Suite("Pages that are not filled with zeros before they are written")
struct UnfilledPageTests {
    /// The pages of a file that was written with memory of some content, the header left out.
    private func pages(filledWith filling: UInt8, seed: UInt64) throws -> [UInt8] {
        var random = SplitMix64(seed: seed)
        let fixture = try TableFixture(columns: everyLayout)
        fixture.file.reservation.pool.filling = filling
        var keys: [Int64] = []
        for round in 0..<12 {
            try fixture.write { writer in
                for _ in 0..<[1, 3, 40, 300].randomElement(using: &random)! {
                    let key = try writer.append()
                    keys.append(key)
                    // Some leave columns as they are, so that they are absent, and some have no nulls.
                    for (column, layout) in everyLayout.enumerated() where (round + column) % 3 != 0 {
                        let cell = Cell.random(of: layout, longest: 40, using: &random)
                        try writer.set(cell, key: key, column: column)
                    }
                }
                for _ in 0..<min(20, keys.count / 2) where round % 2 == 1 {
                    let key = keys.remove(at: Int.random(in: 0..<keys.count, using: &random))
                    try writer.delete(key: key)
                }
            }
        }
        let count = Int(fixture.file.byteCount) / pageByteCount
        let start = fixture.file.reservation.mapping + FileHeader.slotPageCount * pageByteCount
        return Array(UnsafeRawBufferPointer(start: start, count: (count - FileHeader.slotPageCount) * pageByteCount))
    }

    @Test("What memory held before is nowhere in the file", arguments: [1, 2, 3, 4, 5, 6] as [UInt64])
    func content(seed: UInt64) throws {
        let zeros = try pages(filledWith: 0, seed: seed)
        let others = try pages(filledWith: 0xA5, seed: seed)
        #expect(zeros.count == others.count)
        let place = zip(zeros, others).enumerated().first { $0.element.0 != $0.element.1 }?.offset
        #expect(place == nil, "page \((place ?? 0) / pageByteCount + 4) differs at \((place ?? 0) % pageByteCount)")
    }

    @Test("A header says the same in memory of any content", arguments: [0, 1, 7, 120], [1, 2] as [UInt32])
    func header(extentCount: Int, format: UInt32) {
        var header = FileHeader(newFile: FileBeginning())
        header.format = format
        header.records = Array(repeating: 9, count: extentCount * 20)
        header.extents = (0..<extentCount).map { Extent(page: PageNumber(4 + 2 * $0), pageCount: 1) }
        func copy(in filling: UInt8) -> [UInt8] {
            var bytes = [UInt8](repeating: filling, count: pageByteCount)
            bytes.withUnsafeMutableBytes { header.store(to: $0.baseAddress!, page: 2) }
            return bytes
        }
        #expect(copy(in: 0) == copy(in: 0xA5))
    }
}
#endif
