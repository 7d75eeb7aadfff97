import RealmTestSupport
import Synchronization
import Testing

@testable import RealmStorage

#if DEBUG
@Suite("The checks of what the structures of the storage promise")
struct StorageInvariantTests {
    /// What a check says; nil when it finds nothing.
    private func complaint(_ check: () throws(BrokenInvariant) -> Void) -> String? {
        do throws(BrokenInvariant) { try check() } catch { return error.description }
        return nil
    }

    private func openFile(in directory: TemporaryDirectory) throws -> StorageFile {
        var options = StorageOptions()
        options.durability = .none
        return try StorageFile.open(path: directory.path("test.realm"), options: options)
    }

    private func group(_ taken: [Extent] = [Extent(page: 10, pageCount: 6)]) -> WriterGroup {
        let group = WriterGroup(number: 1, firstVersion: 7, firstPageCount: 10, pinned: [3, 6])
        for extent in taken { group.take(extent) }
        return group
    }

    private func run(_ page: PageNumber, _ pageCount: UInt32 = 1, checksum: UInt64 = 5) -> PreparedCommit.Run {
        PreparedCommit.Run(page: page, pageCount: pageCount, checksum: checksum)
    }

    // MARK: Space

    @Test("Extents that touch, or are miscounted, are told")
    func extents() {
        let good = [Extent(page: 4, pageCount: 2), Extent(page: 7, pageCount: 1)]
        #expect(complaint(ExtentSet(unchecked: good, pageCount: 3).checkInvariants) == nil)
        #expect(complaint(ExtentSet(unchecked: good, pageCount: 4).checkInvariants) == "3 pages are counted as 4")
        let touching = [Extent(page: 4, pageCount: 3), Extent(page: 7, pageCount: 1)]
        #expect(
            complaint(ExtentSet(unchecked: touching, pageCount: 4).checkInvariants)
                == "The extent at page 7 touches the one before"
        )
    }

    @Test("Free space behind the end, or in two places, is told")
    func space() {
        let free = [Extent(page: 10, pageCount: 5)]
        #expect(complaint(SpaceMap(pageCount: 20, free: free).checkInvariants) == nil)
        #expect(
            complaint(SpaceMap(pageCount: 12, free: free).checkInvariants)
                == "Space up to page 15 lies behind the end, which is 12"
        )
        let retired = RetiredExtent(extent: Extent(page: 12, pageCount: 1), birth: 1, death: 2)
        #expect(
            complaint(SpaceMap(pageCount: 20, free: free, waiting: [retired]).checkInvariants)
                == "Page 12 is free or retired twice"
        )
    }

    // MARK: A group

    @Test("A group that gives back what it did not take, or gives up its own as older, is told")
    func groups() {
        #expect(complaint(group().checkInvariants) == nil)
        let strange = group()
        strange.spare.singles.append(30)
        #expect(complaint(strange.checkInvariants) == "Page 30 is spare and was not taken")
        let twice = group()
        twice.spare.singles = [11, 11]
        #expect(complaint(twice.checkInvariants) == "Page 11 is spare twice")
        let young = group()
        young.retired = [RetiredExtent(extent: Extent(page: 3, pageCount: 1), birth: 7, death: 7)]
        #expect(complaint(young.checkInvariants) == "A run of the group's own is given up as an older one")
        let overlapping = group([Extent(page: 10, pageCount: 6), Extent(page: 12, pageCount: 1)])
        #expect(complaint(overlapping.checkInvariants) == "Page 12 was taken twice")
    }

    @Test("Runs that are sealed and were not taken, or wait in memory and were not sealed, are told")
    func runs() {
        let sealed = group()
        sealed.sealed.append(run(20))
        #expect(complaint(sealed.checkInvariants) == "The run at page 20 is sealed and was not taken")
        let unspilled = group()
        unspilled.noteSeal(of: run(11))
        #expect(complaint(unspilled.checkInvariants) == "An unspilled run was not sealed so")
        unspilled.sealed.append(run(11))
        #expect(complaint(unspilled.checkInvariants) == nil)
    }

    @Test("What comes to a group is told, and what was there when it was asked last is not looked at again")
    func groupsThatGrow() {
        let young = RetiredExtent(extent: Extent(page: 3, pageCount: 1), birth: 7, death: 7)
        let growing = group()
        growing.retired = [young]
        growing.sealed = [run(20)]
        let asOlder = "A run of the group's own is given up as an older one"
        #expect(complaint(growing.checkInvariantsOfChange) == asOlder)
        #expect(complaint(growing.checkInvariantsOfChange) == nil)
        growing.retired.append(RetiredExtent(extent: Extent(page: 5, pageCount: 1), birth: 2, death: 7))
        growing.sealed.append(run(11))
        #expect(complaint(growing.checkInvariantsOfChange) == nil)
        growing.sealed.append(run(30))
        #expect(complaint(growing.checkInvariantsOfChange) == "The run at page 30 is sealed and was not taken")
        growing.noteSeal(of: run(12))
        growing.sealed.append(run(12, checksum: 6))
        #expect(complaint(growing.checkInvariantsOfChange) == "An unspilled run was not sealed so")
        growing.spare.singles = [11, 11]
        #expect(complaint(growing.checkInvariantsOfChange) == "Page 11 is spare twice")
        growing.spare.singles = [30]
        #expect(complaint(growing.checkInvariantsOfChange) == "Page 30 is spare and was not taken")
        growing.spare.singles = []
        growing.take(Extent(page: 13, pageCount: 1))
        #expect(complaint(growing.checkInvariantsOfChange) == "A page was taken twice")
    }

    @Test("A transaction that changes what is not its group's, or gives up its group's own as older, is told")
    func changes() {
        let group = group()
        group.memberCount = 1
        group.spare.singles = [11]
        func changes() -> TransactionChanges { TransactionChanges(catalog: .none, in: group) }
        #expect(complaint { () throws(BrokenInvariant) in try changes().checkInvariants(in: group) } == nil)
        var strange = changes()
        strange.givenUp = [Extent(page: 40, pageCount: 1)]
        #expect(
            complaint { () throws(BrokenInvariant) in try strange.checkInvariants(in: group) }
                == "Page 40 is changed, and is not the group's"
        )
        var sealed = changes()
        sealed.sealed = [run(20)]
        #expect(
            complaint { () throws(BrokenInvariant) in try sealed.checkInvariants(in: group) }
                == "The run at page 20 is sealed, and is not the group's"
        )
        var young = changes()
        young.retired = [RetiredExtent(extent: Extent(page: 3, pageCount: 1), birth: 7, death: group.firstVersion)]
        #expect(
            complaint { () throws(BrokenInvariant) in try young.checkInvariants(in: group) }
                == "A run of the group's own is given up as an older one"
        )
    }

    @Test("Records and segments out of order, and an unsealed catalog, are told")
    func writerStates() throws {
        let directory = TemporaryDirectory()
        let file = try openFile(in: directory)
        _ = try file.tryLockForWriting()
        defer { file.unlockForWriting() }
        var transaction = try file.beginWrite()
        _ = try transaction.allocate(pageCount: 1, kind: .overflow)
        try file.publish([transaction.prepareCommit()])
        transaction = try file.beginWrite()
        defer { transaction.rollback() }
        let state = transaction.state
        #expect(complaint(state.checkInvariants) == nil)
        #expect(complaint(transaction.checkInvariants) == nil)
        let bytes = state.recordBytes
        state.recordBytes.removeLast()
        #expect(complaint(state.checkInvariants) == "The bytes of the records are not those of the records")
        state.recordBytes = bytes
        state.segments = [WriterState.Segment(version: 1 << 40, reference: .none)]
        #expect(complaint(state.checkInvariants)?.contains("is out of order") == true)
        state.segments = []
        state.group = WriterGroup(
            number: 9,
            firstVersion: state.version + 1,
            firstPageCount: state.space.pageCount,
            firstCatalog: PageReference(page: 9, pageCount: 1, checksum: 0),
            pinned: []
        )
        #expect(complaint(state.checkInvariants) == "The catalog that the group builds on is not sealed")
        state.group = nil
        #expect(complaint(transaction.checkInvariants)?.contains("is not the one that is open") == true)
        state.group = transaction.group
    }

    @Test("Whoever opened a file for the checks is told of a structure that is broken, by each step that meets it")
    func tells() throws {
        let told = Mutex<[String]>([])
        let directory = TemporaryDirectory()
        var options = StorageOptions()
        options.durability = .none
        options.invariantWasBroken = { broken in told.withLock { $0.append(broken.description) } }
        let file = try StorageFile.open(path: directory.path("test.realm"), options: options)
        _ = try file.tryLockForWriting()
        defer { file.unlockForWriting() }
        let transaction = try file.beginWrite(joining: true)
        transaction.group.spare.singles.append(4_000)
        try transaction.join()
        #expect(told.withLock { $0 } == ["Page 4000 is spare and was not taken"])
        transaction.group.spare.singles = []
        try file.publish([#require(try file.sealGroup())])
        #expect(told.withLock { $0.count } == 1)
    }

    // MARK: Publishing

    @Test("A plan that writes one run over another is told")
    func plans() {
        var published = FileHeader(newFile: FileBeginning())
        func plan(_ runs: [PreparedCommit.Run]) -> PublishingPlan {
            let commit = PreparedCommit(
                version: 5,
                group: 1,
                firstVersion: 5,
                catalog: .none,
                spaceSegment: .none,
                records: [],
                oldestLogVersion: 0,
                numbers: CommitNumbers(),
                pageCount: 20,
                runs: runs,
                retired: [],
                hasSpilled: false,
                changes: ChangeSet()
            )
            return PublishingPlan(
                [commit],
                over: published,
                inSlot: 1,
                byteCount: 20 * pageByteCount,
                bulkByteCount: 64 * pageByteCount,
                flushes: true
            )
        }
        #expect(complaint(plan([run(10, 2), run(12)]).checkInvariants) == nil)
        #expect(
            complaint(plan([run(10, 2), run(11)]).checkInvariants) == "The run at page 11 is written over another one"
        )
        #expect(complaint(plan([run(19, 2)]).checkInvariants) == "A run lies behind the end")
        published.format = FileHeader.formerFormatVersion
        #expect(complaint(plan([run(10)]).checkInvariants) == "The commit has the format before")
    }

    // MARK: Clusters

    private func withWriter(_ body: (ClusterWriter) throws -> Void) throws {
        let columns = [ColumnLayout(kind: .int), ColumnLayout(kind: .bytes, isNullable: true)]
        let fixture = try TableFixture(columns: columns)
        let transaction = try fixture.file.beginWrite()
        defer { transaction.rollback() }
        let writer = ClusterWriter(tree: fixture.tree, columns: columns, transaction: transaction)
        for number in 0..<40 {
            let key = try writer.append()
            try writer.setInt(Int64(number), key: key, column: 0)
            try "row \(number)".utf8
                .withContiguousStorageIfAvailable {
                    try writer.setBytes(UnsafeRawBufferPointer($0), key: key, column: 1)
                }
        }
        try writer.delete(key: 7)
        #expect(complaint(writer.checkInvariants) == nil)
        try body(writer)
    }

    @Test("Rows that are miscounted, and a tail that is not the last cluster, are told")
    func clusterWriters() throws {
        try withWriter { writer in
            writer.tree.rowCount += 1
            #expect(complaint(writer.checkInvariants) == "39 rows are counted as 40")
            writer.tree.rowCount -= 1
            let order = writer.openOrder
            writer.openOrder = []
            #expect(complaint(writer.checkInvariants) == "An open cluster would never be encoded early")
            writer.openOrder = order
            writer.root = nil
            writer.tree.rowCount = 0
            #expect(complaint(writer.checkInvariants) == "The tail is not the last cluster")
        }
    }

    @Test("A cluster that miscounts, and a column with a value where no row is, are told")
    func openClusters() throws {
        try withWriter { writer in
            let cluster = try #require(writer.tail)
            cluster.deadCount += 1
            #expect(complaint(cluster.checkInvariants) == "1 deleted rows are counted as 2")
            cluster.deadCount -= 1
            cluster.heapByteCount += 3
            #expect(complaint(cluster.checkInvariants)?.contains("bytes of values are counted as") == true)
            cluster.heapByteCount -= 3
            cluster.isSealed = true
            #expect(complaint(cluster.checkInvariants) == "A changed cluster counts as sealed")
            cluster.isSealed = false
            cluster.columns[1].liveByteCount -= 1
            cluster.heapByteCount -= 1
            #expect(complaint(cluster.checkInvariants)?.contains("bytes of column 1 are counted as") == true)
            cluster.columns[1].liveByteCount += 1
            cluster.heapByteCount += 1
            #expect(complaint(cluster.checkInvariants) == nil)
            let data = try #require(cluster.columns[0].data)
            data.storeBytes(of: 1, toByteOffset: cluster.rowCount * 8, as: Int64.self)
            #expect(complaint(cluster.checkInvariants) == "A row to come of column 0 has a value")
        }
    }
}
#endif
