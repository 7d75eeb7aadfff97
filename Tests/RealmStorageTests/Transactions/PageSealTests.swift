import Testing

@testable import RealmStorage

/// A reference leads to the run that it was made for, also while that stands in the writer's memory.
@Suite struct PageSealTests {
    private static func write(_ text: String, in transaction: WriteTransaction) throws -> PageReference {
        try Array(text.utf8).withUnsafeBytes { try Overflow.write($0, in: transaction) }
    }

    @Test func `a sealed reference does not lead to another run in the writer's buffers`() throws {
        let store = try TreeFile()
        let transaction = try store.file.beginWrite()
        let reference = try Self.write("mine", in: transaction)
        #expect(try Overflow.read(reference, in: transaction.view).count == 4)
        var other = reference
        other.checksum ^= 1
        #expect(throws: StorageError.self) { try transaction.view.pointer(to: other) }
        #expect(throws: StorageError.self) { try transaction.writable(other) }
        transaction.rollback()
    }

    @Test func `a sealed reference does not lead to what took its place and is not sealed yet`() throws {
        let store = try TreeFile()
        let transaction = try store.file.beginWrite()
        let former = transaction.seal(try Self.write("former", in: transaction))
        transaction.free(former)
        let next = try transaction.allocate(pageCount: 1, kind: .overflow)
        try #require(next.reference.page == former.page)
        #expect(throws: StorageError.self) { try transaction.view.pointer(to: former) }
        transaction.rollback()
    }

    @Test(arguments: [0, 2, 1 << 20, .max] as [UInt32])
    func `a reference that lies about the length is refused after the run was verified`(_ pageCount: UInt32) throws {
        let store = try TreeFile()
        var reference = PageReference.none
        let snapshot = try store.write { reference = try Self.write("mine", in: $0) }
        #expect(try Overflow.read(reference, in: snapshot.view).count == 4)
        reference.pageCount = pageCount
        #expect(throws: StorageError.self) { try snapshot.view.pointer(to: reference) }
        #expect(throws: StorageError.self) { try snapshot.view.verifiedPointer(to: reference) }
    }

    @Test func `a run that is given up twice is damage, and the file stays as it was`() throws {
        let store = try TreeFile()
        var reference = PageReference.none
        let snapshot = try store.write { reference = try Self.write("mine", in: $0) }
        let transaction = try store.file.beginWrite()
        transaction.free(reference)
        transaction.free(reference)
        #expect(throws: StorageError.self) { try transaction.prepareCommit() }
        transaction.rollback()
        let again = try store.file.beginWrite()
        #expect(try Overflow.read(reference, in: again.view).count == 4)
        again.rollback()
        #expect(try Overflow.read(reference, in: snapshot.view).count == 4)
    }

    @Test func `the memory of runs that are given up is free again`() throws {
        let store = try TreeFile()
        func usedPageCount() throws -> Int {
            try store.file.beginWrite().rollback()
            return try store.file.reservation.pool.usedPageCount
        }
        _ = try store.write { _ = try Self.write("kept", in: $0) }
        let before = try usedPageCount()
        _ = try store.write { transaction in
            let runs = try (0..<100).map { _ in try Self.write("given up", in: transaction) }
            for run in runs { transaction.free(run) }
        }
        #expect(try usedPageCount() < before + 50)
    }

    @Test func `runs that are given up are not written, though they were sealed`() throws {
        let store = try TreeFile()
        let transaction = try store.file.beginWrite()
        let runs = try (0..<100).map { _ in transaction.seal(try Self.write("given up", in: transaction)) }
        for run in runs { transaction.free(run) }
        let prepared = try transaction.prepareCommit()
        #expect(prepared.runs.count < 50)
        try store.file.publish([prepared])
    }

    @Test func `a run of somebody else's commit that says it is of a later one is not used again`() throws {
        let store = try TreeFile()
        var reference = PageReference.none
        _ = try store.write { transaction in
            let run = try transaction.allocate(pageCount: 1, kind: .overflow)
            run.bytes.storeLittle(UInt64.max, at: PageHeader.versionOffset)
            reference = transaction.seal(run.reference)
        }
        let transaction = try store.file.beginWrite()
        transaction.free(reference)
        #expect(throws: StorageError.self) { try transaction.prepareCommit() }
        transaction.rollback()
    }

    @Test func `a walk comes to each page once, and to none outside of the file`() throws {
        let store = try TreeFile()
        var first = PageReference.none
        var second = PageReference.none
        let snapshot = try store.write {
            first = try Self.write("first", in: $0)
            second = try Self.write(String(repeating: "second ", count: 2_000), in: $0)
        }
        var visited = VisitedPages()
        try visited.enter(first, in: snapshot.view)
        try visited.enter(second, in: snapshot.view)
        #expect(throws: StorageError.self) { try visited.enter(first, in: snapshot.view) }
        let inside = PageReference(page: second.page + 1, pageCount: 1, checksum: 1)
        #expect(throws: StorageError.self) { try visited.enter(inside, in: snapshot.view) }
        let outside = PageReference(page: 1 << 20, pageCount: .max, checksum: 1)
        #expect(throws: StorageError.self) { try visited.enter(outside, in: snapshot.view) }
    }
}
