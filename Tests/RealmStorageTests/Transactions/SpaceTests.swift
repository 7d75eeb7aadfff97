import Foundation
import RealmTestSupport
import Testing

@testable import RealmStorage

/// The file becomes smaller again, and nobody who reads it notices.
@Suite struct SpaceTests {
    let directory = TemporaryDirectory()

    private func makeFile(_ name: String) throws -> StorageFile {
        var options = StorageOptions()
        options.durability = .none
        let file = try StorageFile.open(path: directory.path(name), options: options)
        #expect(try file.tryLockForWriting())
        let transaction = try file.beginWrite()
        try PageArray.create(in: transaction)
        try file.publish([try PageArray.commit(transaction)])
        return file
    }

    private func length(_ file: StorageFile) throws -> Int {
        try #require(try FileManager.default.attributesOfItem(atPath: file.path)[.size] as? Int)
    }

    private func setBallast(_ pageCount: Int, _ file: StorageFile) throws {
        let transaction = try file.beginWrite()
        try PageArray.setBallast(pageCount, in: transaction)
        try file.publish([try PageArray.commit(transaction)])
    }

    private func write(_ index: Int, _ value: UInt64, _ file: StorageFile) throws {
        let transaction = try file.beginWrite()
        try PageArray.set(index, to: value, in: transaction)
        try file.publish([try PageArray.commit(transaction)])
    }

    /// Commits one value, and rows that changed by number; a log that is moved is written anew, wherever it stands.
    private func change(_ keys: Range<Int64>, movesLog: Bool, _ file: StorageFile) throws {
        let transaction = try file.beginWrite()
        try PageArray.set(0, to: UInt64(keys.upperBound), in: transaction)
        for key in keys { transaction.changes.recordModify(table: 1, key: key * 3, column: 2) }
        if movesLog { try transaction.relocateLog(below: 0) }
        try file.publish([try PageArray.commit(transaction)])
    }

    /// The numbers of the rows that changed after a snapshot.
    private func changed(after snapshot: Snapshot, _ file: StorageFile) throws -> [Int64]? {
        let changes = try file.changes(after: snapshot.version, through: try file.beginRead())
        return changes?.tables[1]?.modified.map { $0.key / 3 }
    }

    /// Shrinks until nothing is left to do; returns the number of steps.
    @discardableResult
    private func shrink(_ file: StorageFile, budget: Int = 32) throws -> Int {
        var steps = 0
        while let commit = try PageArray.shrink(file, budget: budget) {
            try file.publish([commit])
            steps += 1
            try PageArray.audit(try file.beginRead())
            try #require(steps < 1000)
        }
        return steps
    }

    @Test func `free pages at the end go back to the file system, and the file can be opened at every moment`() throws {
        let file = try makeFile("end.realm")
        try setBallast(4000, file)
        let long = try length(file)
        try setBallast(0, file)
        let steps = try shrink(file)
        #expect(try length(file) < long / 8, "\(file.byteCount) of \(long) bytes after \(steps) steps")
        #expect(file.byteCount == (try length(file)))
        try write(3, 33, file)
        let copy = directory.path("copy.realm")
        try FileManager.default.copyItem(atPath: file.path, toPath: copy)
        let snapshot = try StorageFile.open(path: copy).beginRead()
        #expect(try PageArray.values(of: snapshot.catalog.root, in: snapshot.view)[3] == 33)
        try PageArray.audit(snapshot)
    }

    @Test func `pages move off the end in small steps while others write`() throws {
        let file = try makeFile("moved.realm")
        // The ballast comes first in the file, and everything in use behind it.
        try setBallast(3000, file)
        for round in 0..<3 { for index in 0..<PageArray.count { try write(index, UInt64(round), file) } }
        try setBallast(0, file)
        var other = 0
        var steps = 0
        let long = try length(file)
        while let commit = try PageArray.shrink(file, budget: 8) {
            try file.publish([commit])
            #expect(commit.writtenPageCount < 40, "a step writes \(commit.writtenPageCount) pages")
            other += 1
            steps += 1
            try write(other % PageArray.count, UInt64(other + 1000), file)
            try #require(steps < 1000)
        }
        #expect(try length(file) < long / 4, "\(file.byteCount) of \(long) bytes after \(steps) steps")
        try PageArray.audit(try file.beginRead())
    }

    @Test func `a snapshot reads on while the file is cut under it, and keeps no more than its own pages`() throws {
        let file = try makeFile("pinned.realm")
        try setBallast(3000, file)
        for index in 0..<PageArray.count { try write(index, 7, file) }
        var snapshot: Snapshot? = try file.beginRead()
        try setBallast(0, file)
        for index in 0..<PageArray.count { try write(index, 8, file) }
        try shrink(file)
        let old = try PageArray.values(of: snapshot!.catalog.root, in: snapshot!.view)
        #expect(old == [UInt64](repeating: 7, count: PageArray.count))
        let held = try length(file)
        snapshot = nil
        try write(0, 9, file)
        try shrink(file)
        #expect(try length(file) < held / 4, "\(file.byteCount) of \(held) bytes")
        try PageArray.audit(try file.beginRead())
    }

    @Test func `pictures of the log that a snapshot may ask for are moved whole`() throws {
        let file = try makeFile("log.realm")
        let snapshot = try file.beginRead()
        // The picture with the many stays apart from those with the few that come after them, and is moved with each.
        try change(0..<20_000, movesLog: false, file)
        for key in Int64(20_000)..<20_006 {
            try change(key..<key + 1, movesLog: true, file)
            #expect(try changed(after: snapshot, file) == [Int64](0...key))
            try PageArray.audit(try file.beginRead())
        }
        let copy = directory.path("log-copy.realm")
        try FileManager.default.copyItem(atPath: file.path, toPath: copy)
        try PageArray.audit(try StorageFile.open(path: copy).beginRead())
    }

    @Test func `a picture of the log that stays names the one before it at the place to which that was moved`() throws {
        let file = try makeFile("log-chain.realm")
        let snapshot = try file.beginRead()
        try change(0..<20_000, movesLog: false, file)
        try change(20_000..<20_001, movesLog: true, file)
        // Too small to take over the one with the many, and too large to be taken over by those with the few.
        try change(20_001..<25_001, movesLog: true, file)
        for key in Int64(25_001)..<25_009 {
            try change(key..<key + 1, movesLog: !key.isMultiple(of: 2), file)
            try PageArray.audit(try file.beginRead())
            #expect(try changed(after: snapshot, file) == [Int64](0...key))
        }
        // As the next process to write reads it.
        file.forgetWriterState()
        try change(25_009..<25_010, movesLog: true, file)
        try PageArray.audit(try file.beginRead())
        #expect(try changed(after: snapshot, file) == [Int64](0..<25_010))
    }

    @Test func `the log is read no further back than what is asked for, where its pages may be another's`() throws {
        let file = try makeFile("log-end.realm")
        var oldest: Snapshot? = try file.beginRead()
        try change(0..<20_000, movesLog: false, file)
        try change(20_000..<20_001, movesLog: true, file)
        let snapshot = try file.beginRead()
        try change(20_001..<20_002, movesLog: true, file)
        // The picture with the many is moved, and the next one names it at its new place, which the snapshot does not keep.
        try change(20_002..<25_002, movesLog: true, file)
        #expect(oldest!.version < snapshot.version)
        oldest = nil
        // Nobody can ask for that picture any more.
        var transaction = try file.beginWrite()
        #expect(transaction.state.pictures.count == 1)
        let moved = try #require(transaction.state.pictures.first?.reference)
        transaction.state.writesPicture = true
        transaction.changes.recordModify(table: 1, key: 25_002 * 3, column: 2)
        try file.publish([try PageArray.commit(transaction)])
        // Its pages are the lowest that are free, but for some.
        transaction = try file.beginWrite()
        transaction.setPlacementLimit(moved.page + moved.pageCount)
        for index in 0..<PageArray.count { try PageArray.set(index, to: 7, in: transaction) }
        try file.publish([try PageArray.commit(transaction)])
        #expect(throws: StorageError.self) { try SpaceSegment.read(moved, in: file.view) }

        #expect(try changed(after: snapshot, file) == [Int64](20_001..<25_003))
        try PageArray.audit(try file.beginRead())
        let copy = directory.path("log-end-copy.realm")
        try FileManager.default.copyItem(atPath: file.path, toPath: copy)
        var damagedPages: [PageNumber] = []
        try DamagedFile(path: copy).checkLog { damagedPages.append($0) }
        #expect(damagedPages.isEmpty, "whoever salvages the file does not take them for damaged either")
    }

    @Test func `growing and shrinking by turns does not cut the file every time`() throws {
        let file = try makeFile("hysteresis.realm")
        for index in 0..<PageArray.count { try write(index, 1, file) }
        try shrink(file)
        var lengths: [Int] = []
        for _ in 0..<20 {
            try setBallast(60, file)
            lengths.append(try length(file))
            try setBallast(0, file)
            try shrink(file)
            lengths.append(try length(file))
        }
        let cuts = zip(lengths, lengths.dropFirst()).count { $1 < $0 }
        #expect(cuts <= 2, "\(lengths)")
        #expect(Set(lengths.suffix(20)).count == 1, "\(lengths)")
    }

    @Test func `trimming that is rolled back loses no page`() throws {
        let file = try makeFile("rollback.realm")
        try setBallast(2000, file)
        try setBallast(0, file)
        try write(0, 1, file)
        let transaction = try file.beginWrite()
        #expect(transaction.trimEnd() > 1000)
        try PageArray.set(1, to: 5, in: transaction)
        transaction.rollback()
        try write(0, 2, file)
        try PageArray.audit(try file.beginRead())
    }
}
