import RealmTestSupport
import Testing

@testable import RealmStorage

/// The picture of free space, which is in no estimate.
extension OwedSpaceTests {
    @Test("A group that owes puts the picture of free space off where the file has no room for it")
    func pictureWithoutRoom() throws {
        let control = TightDevice.Control()
        let file = try open(hasLongLog: true) { TightDevice($0, control) }
        defer { file.unlockForWriting() }
        let large = try file.beginWrite()
        let pages = try (0..<6_000).map { _ in large.seal(try allocate(in: large)) }
        try file.publish([PageArray.commit(large)])
        // One entry for each of them.
        let held = try file.beginRead()
        let freeing = try file.beginWrite()
        for page in pages { freeing.free(page) }
        try file.publish([PageArray.commit(freeing)])
        #expect(try Owed.acknowledge(3, in: file))
        let last = try file.beginWrite(joining: true)
        let change = LoggedFile.Change(values: [(9, 9)])
        try change.apply(to: last)
        last.record = .init(kind: .changes, content: change.content)
        let state = last.state
        try #require(state.space.extentCount >= 6_000)
        // It is due, and the estimate was too low.
        state.writesPicture = true
        while last.pageCount + 3 < file.byteCount / pageByteCount { _ = last.seal(try allocate(in: last)) }
        control.isTight = true
        try file.publish([PageArray.commit(last)])
        #expect(!file.hasStopped)
        #expect(state.writesPicture)
        #expect(try values(of: file) == Owed.model(3, more: [9: 9]))
        control.isTight = false
        // A commit with pages of its own writes it.
        let next = try file.beginWrite()
        try #require(next.state === state)
        try file.publish([PageArray.commit(next)])
        #expect(!state.writesPicture)
        // What the file says of its space is whole.
        file.forgetWriterState()
        let again = try file.beginWrite()
        #expect(again.state.space.extentCount >= 6_000)
        again.rollback()
        withExtendedLifetime(held) {}
    }

    @Test(
        "A picture of free space is put off wherever it does not fit with what the group has changed",
        arguments: 11..<28
    )
    func pictureOfLargeGroup(room: Int) throws {
        let control = TightDevice.Control()
        let file = try open(hasLongLog: true) { TightDevice($0, control) }
        defer { file.unlockForWriting() }
        let large = try file.beginWrite()
        let pages = try (0..<2_000).map { _ in large.seal(try allocate(in: large)) }
        try file.publish([PageArray.commit(large)])
        let held = try file.beginRead()
        // Small segments, and entries for what is held back.
        for part in 0..<40 {
            let freeing = try file.beginWrite()
            for page in pages[part * 50..<part * 50 + 50] { freeing.free(page) }
            try file.publish([PageArray.commit(freeing)])
        }
        #expect(try Owed.acknowledge(3, in: file))
        let last = try file.beginWrite(joining: true)
        let change = LoggedFile.Change(values: [(9, 9)])
        try change.apply(to: last)
        // A segment of 11 pages.
        for row in 0..<10_000 { last.changes.recordModify(table: 1, key: Int64(row) * 200, column: 1) }
        last.record = .init(kind: .changes, content: change.content)
        last.state.writesPicture = true
        while last.pageCount + room < file.byteCount / pageByteCount { _ = last.seal(try allocate(in: last)) }
        control.isTight = true
        try file.publish([PageArray.commit(last)])
        #expect(!file.hasStopped)
        withExtendedLifetime(held) {}
    }
}
