import RealmTestSupport
import Synchronization
import Testing

@testable import RealmStorage

/// The space of commits that are acknowledged by their records.
@Suite("Space for commits without pages", .serialized)
struct OwedSpaceTests {
    typealias Owed = OwedPagesTests
    let folder = TemporaryDirectory()

    /// A file with a log, which may be long enough for some hundred records.
    func open(
        hasLongLog: Bool = false,
        _ makeDevice: @escaping @Sendable (any StorageDevice) -> any StorageDevice
    ) throws -> StorageFile {
        var options = Owed.options()
        options.makeDevice = makeDevice
        if hasLongLog {
            options.log?.ringByteCount = 1024 * LogHeader.blockByteCount
            // Commits that are kept as pages do not end it.
            options.log?.pageCommitLimit = .max
        }
        let file = try StorageFile.open(path: folder.path("a.realm"), options: options)
        try Owed.begin(file)
        return file
    }

    func allocate(in transaction: WriteTransaction) throws -> PageReference {
        let page = try transaction.allocate(pageCount: 1, kind: .overflow)
        page.bytes.storeLittle(UInt32(8), at: PageHeader.payloadByteCountOffset)
        return page.reference
    }

    /// What a file has, also where pages of a test are in no tree.
    func values(of file: StorageFile) throws -> [UInt64] {
        let snapshot = try file.beginRead()
        return try PageArray.values(of: snapshot.catalog.root, in: snapshot.view)
    }

    /// Takes pages until what a transaction needs lies behind the end of the file by one.
    func fill(_ transaction: WriteTransaction) throws {
        let end = transaction.file.byteCount
        while transaction.pageCount * pageByteCount <= end { _ = transaction.seal(try allocate(in: transaction)) }
    }

    @Test("Nothing is written ahead of its commit while what others left is settled")
    func settling() throws {
        let isFull = FullDevice.Switch()
        let file = try open { FullDevice($0, isFull) }
        defer { file.unlockForWriting() }
        #expect(try Owed.acknowledge(3, in: file))
        let member = try file.beginWrite(joining: true)
        member.unspilledPageLimit = 8
        for _ in 0..<100 { _ = member.seal(try allocate(in: member)) }
        isFull.isOn = true
        try member.settle { () throws(StorageError) in try member.spillIfNeeded() }
        #expect(isFull.refused == 0)
        // Behind it, and this fails alone.
        #expect(throws: StorageError.self) { try member.spillIfNeeded() }
        isFull.isOn = false
        member.rollback()
        #expect(!file.hasStopped)
        try file.publish([#require(try file.sealGroup())])
        #expect(try LoggedFile.values(of: file).values == Owed.model(3))
    }

    @Test("On a full disk no more is owed than leaves room for a commit that ends the group")
    func roomForEnd() throws {
        let control = TightDevice.Control()
        let file = try open { TightDevice($0, control) }
        defer { file.unlockForWriting() }
        #expect(try Owed.acknowledge(1, in: file))
        control.isTight = true
        var model = Owed.model(1)
        for value in 2..<1_000 {
            guard try Owed.acknowledge(file, value % 150 + 2, UInt64(value)) else { break }
            model[value % 150 + 2] = UInt64(value)
        }
        #expect(file.isOwingPages)
        let last = try file.beginWrite(joining: true)
        let change = LoggedFile.Change(values: [(190, 7)])
        try change.apply(to: last)
        last.record = .init(kind: .changes, content: change.content)
        try LoggedCommit(of: last).secureSpace()
        try file.publish([PageArray.commit(last)])
        model[190] = 7
        #expect(try LoggedFile.values(of: file).values == model)
    }

    @Test("A member that was written ahead in part is sealed with others once nothing is left out")
    func holes() throws {
        let control = TightDevice.Control()
        let file = try open { TightDevice($0, control) }
        defer { file.unlockForWriting() }
        #expect(try Owed.acknowledge(3, in: file))
        let member = try file.beginWrite(joining: true)
        var late = PageReference.none
        for index in 0..<2_000 {
            let page = try allocate(in: member)
            if index == 1_900 {
                late = page
            } else {
                _ = member.seal(page)
            }
        }
        try member.spill()
        let start = Int(late.page) * pageByteCount
        control.refused = start..<(start + pageByteCount)
        _ = member.seal(late)
        #expect(throws: StorageError.self) { try LoggedCommit(of: member).secureSpace() }
        #expect(!file.hasStopped)
        control.refused = 0..<0
        try LoggedCommit(of: member).secureSpace()
        member.rollback()
        try file.publish([#require(try file.sealGroup())])
        #expect(try LoggedFile.values(of: file).values == Owed.model(3))
        #expect(try LoggedFile.valuesOfCopy(of: folder.path("a.realm"), in: folder) == Owed.model(3))
    }

    @Test("No file is made longer beside what an open transaction has written ahead")
    func besideSpilled() throws {
        let file = try open { $0 }
        defer { file.unlockForWriting() }
        let first = try file.beginWrite(joining: true)
        let change = LoggedFile.Change(values: [(1, 100)])
        try change.apply(to: first)
        first.catalog = ByteTree(root: first.seal(first.catalog.root))
        first.record = .init(kind: .changes, content: change.content)
        let group = first.groupNumber
        let record = try LoggedCommit(of: first).joinOwing()
        let large = try file.beginWrite(joining: true)
        for _ in 0..<100 { _ = large.seal(try allocate(in: large)) }
        try large.spill()
        let before = file.byteCount
        #expect(try !file.acknowledge([record], of: group))
        #expect(file.byteCount == before)
        large.rollback()
        try file.publish([#require(try file.sealGroup())])
        #expect(try LoggedFile.values(of: file).values == Owed.model(1))
    }

    @Test("Who verifies a file that has stopped while it owes pages reads its published version, others what it owes")
    func stoppedVerification() throws {
        let isBroken = FullDevice.Switch(.io)
        let file = try open { FullDevice($0, isBroken) }
        defer { file.unlockForWriting() }
        let version = file.newestVersion
        #expect(try Owed.acknowledge(3, in: file))
        let commit = try #require(try file.sealGroup())
        isBroken.isOn = true
        #expect(throws: StorageError.self) { try file.publish([commit]) }
        isBroken.isOn = false
        try #require(file.hasStopped)
        #expect(try file.beginRead(asking: .inFile).version == version)
        #expect(try file.beginRead().isInMemory)
        #expect(try values(of: file) == Owed.model(3))
        #expect(file.newestVersion == version)
    }

    /// Acknowledges commits until there is no room for another one, and makes their pages.
    ///
    /// - Returns: How many there were.
    private func fill(_ file: StorageFile) throws -> Int {
        var count = 0
        while count < 600, try Owed.acknowledge(file, count % 190 + 1, UInt64(count)) { count += 1 }
        if let commit = try file.sealGroup() { try file.publish([commit]) }
        return count
    }

    /// Has every second stretch of so many pages be free, in a file that gets no longer.
    private func scatter(_ file: StorageFile, stretch: Int, _ control: TightDevice.Control) throws {
        // Of a larger commit the file would get no room ahead.
        var pages: [PageReference] = []
        for _ in 0..<2 {
            let large = try file.beginWrite()
            for _ in 0..<500 { pages.append(large.seal(try allocate(in: large))) }
            try file.publish([PageArray.commit(large)])
        }
        let scattering = try file.beginWrite()
        for index in pages.indices where index / stretch % 2 == 0 { scattering.free(pages[index]) }
        try file.publish([PageArray.commit(scattering)])
        try file.publish([PageArray.commit(try file.beginWrite())])
        control.isTight = true
    }

    @Test("Free pages that are too scattered to be taken are no room for what is owed", arguments: [1, 8])
    func scattered(stretch: Int) throws {
        let control = TightDevice.Control()
        let file = try open(hasLongLog: true) { TightDevice($0, control) }
        defer { file.unlockForWriting() }
        try scatter(file, stretch: stretch, control)
        let member = try Owed.member(file, 1, 7)
        #expect(LoggedCommit(of: member).owedSpace.needed > member.pageCount)
        member.rollback()
        _ = try fill(file)
        #expect(!file.hasStopped)
    }

    @Test("What is owed takes free pages that are few together before the file would have to be longer")
    func shortStretches() throws {
        let control = TightDevice.Control()
        let file = try open(hasLongLog: true) { TightDevice($0, control) }
        defer { file.unlockForWriting() }
        try scatter(file, stretch: 32, control)
        #expect(try fill(file) > 50)
        #expect(!file.hasStopped)
    }

    @Test("A commit whose pages lie behind the length of the file already is not left without them")
    func takenBehindEnd() throws {
        let control = TightDevice.Control()
        let file = try open(hasLongLog: true) { TightDevice($0, control) }
        defer { file.unlockForWriting() }
        try scatter(file, stretch: 32, control)
        let member = try file.beginWrite(joining: true)
        let change = LoggedFile.Change(values: (1...40).map { ($0, 7) })
        try change.apply(to: member)
        member.record = .init(kind: .changes, content: change.content)
        try #require(member.pageCount * pageByteCount > file.byteCount)
        #expect(!LoggedCommit(of: member).mayOwePages)
        member.rollback()
    }

    @Test("What a member has written ahead that was rolled back is no space for those behind it")
    func holesBehindRollback() throws {
        let control = TightDevice.Control()
        let file = try open(hasLongLog: true) { TightDevice($0, control) }
        defer { file.unlockForWriting() }
        #expect(try Owed.acknowledge(3, in: file))
        let end = file.byteCount
        let member = try file.beginWrite(joining: true)
        for index in 0..<2_000 {
            let page = try allocate(in: member)
            if index % 2 == 1 { _ = member.seal(page) }
        }
        try member.spill()
        member.rollback()
        #expect(file.byteCount == end)
        try file.publish([#require(try file.sealGroup())])
        control.isTight = true
        control.refused = end..<(1 << 30)
        _ = try fill(file)
        #expect(!file.hasStopped)
    }

    @Test("What a transaction has written ahead that was rolled back alone is no space for those behind it")
    func spilledAlone() throws {
        let file = try open { $0 }
        defer { file.unlockForWriting() }
        let end = file.byteCount
        let alone = try file.beginWrite()
        for _ in 0..<2_000 { _ = alone.seal(try allocate(in: alone)) }
        try alone.spill()
        #expect(file.byteCount > end)
        alone.rollback()
        // It was never flushed, though there is no hole in it.
        #expect(file.byteCount == end)
    }

    @Test("The first commit of a group makes the file no longer than it stays when it rests")
    func restingLength() throws {
        let file = try open { $0 }
        defer { file.unlockForWriting() }
        let ballast = try file.beginWrite()
        try PageArray.setBallast(400, in: ballast)
        try file.publish([PageArray.commit(ballast)])
        let needed = Int(file.state.withLock { $0.published.pageCount }) * pageByteCount
        let rested = (needed + StorageFile.growthStep(byteCount: needed) / 2 + 65535) & ~65535
        try file.data.setByteCount(rested)
        file.note(byteCount: rested)
        #expect(try Owed.acknowledge(1, in: file))
        #expect(file.byteCount > rested)
        #expect(!StorageFile.isWorthCutting(file.byteCount - needed, behind: needed))
    }

    @Test(
        "What is settled into a page that the member has sealed and given up has its own checksum",
        arguments: [true, false]
    )
    func settledIntoSealed(hasLog: Bool) throws {
        var options = Owed.options()
        // It is not begun.
        if !hasLog { options.log?.pageCommitCount = 100 }
        let file = try StorageFile.open(path: folder.path("a.realm"), options: options)
        try Owed.begin(file)
        defer { file.unlockForWriting() }
        // The root of each is to spare behind the next.
        for index in 1...3 { _ = try LoggedCommit(of: Owed.member(file, index, 7)).joinOwing() }
        let last = try file.beginWrite(joining: true)
        let own = last.seal(try allocate(in: last))
        last.free(own)
        var kept = PageReference.none
        try last.settle { () throws(StorageError) in
            let page = try last.allocate(pageCount: 1, kind: .overflow)
            page.bytes.storeLittle(UInt32(8), at: PageHeader.payloadByteCountOffset)
            kept = last.seal(page.reference)
        }
        try #require(kept.page == own.page && kept.checksum != own.checksum)
        let change = LoggedFile.Change(values: [(9, 9)])
        try change.apply(to: last)
        last.record = .init(kind: .changes, content: change.content)
        let commit = try PageArray.commit(last)
        #expect(commit.runs.first { $0.page == kept.page }?.checksum == kept.checksum)
        try file.publish([commit])
        var header = file.state.withLock { $0.published }
        // The mark is not on the disk.
        header.confirmedVersion = header.version - 1
        #expect(HeaderRecovery.isIntact(header, mapping: file.reservation.mapping, byteCount: file.byteCount))
    }
}
