import RealmTestSupport
import Synchronization
import Testing

@testable import RealmStorage

#if DEBUG
@Suite("The checks of what the log and its checkpoints promise")
struct LogInvariantTests {
    let folder = TemporaryDirectory()

    /// What a check says; nil when it finds nothing.
    private func complaint(_ check: () throws(BrokenInvariant) -> Void) -> String? {
        do throws(BrokenInvariant) { try check() } catch { return error.description }
        return nil
    }

    @Test("A log whose places are out of order, or do not fit its ring, is told")
    func logs() throws {
        let small = try SmallLog(in: folder)
        let log = small.log
        #expect(complaint(log.checkInvariants) == nil)
        try log.append([SmallLog.entry(2)])
        try log.flush()
        try log.append([SmallLog.entry(3)])
        #expect(complaint(log.checkInvariants) == nil)
        let (start, durable, end) = (log.start, log.durable, log.end)
        log.start.offset = durable.offset + 8
        #expect(complaint(log.checkInvariants) == "A recovery begins behind what is durable of the log")
        log.start = start
        log.durable.offset = end.offset + 8
        #expect(complaint(log.checkInvariants) == "The log is durable behind its end")
        log.durable = durable
        log.isFlushed = true
        #expect(complaint(log.checkInvariants) == "The log counts as flushed, and ends behind what is")
        log.isFlushed = false
        log.end.offset += UInt64(small.header.ringByteCount)
        #expect(complaint(log.checkInvariants)?.contains("bytes of a ring of") == true)
        log.end = end
        #expect(complaint(log.checkInvariants) == nil)
    }

    private func candidate(_ version: UInt64) -> CheckpointCourse.Candidate {
        var header = FileHeader(newFile: FileBeginning())
        header.version = version
        header.confirmedVersion = version - 1
        header.isContentFlushed = true
        header.extents = []
        header.mark = LogMark(
            log: LogIdentifier(low: 1, high: 2),
            point: LogPoint(offset: version * 4096, chain: version),
            isOpen: true
        )
        return CheckpointCourse.Candidate(header: header, slot: 1)
    }

    @Test("A checkpoint that no recovery could begin at, or that lies before the one before, is told")
    func courses() {
        func told(_ breaking: (inout CheckpointCourse.Candidate) -> Void) -> String? {
            var changed = candidate(7)
            breaking(&changed)
            var course = CheckpointCourse()
            _ = course.choose(changed)
            return complaint(course.checkInvariants)
        }
        #expect(told { _ in } == nil)
        #expect(told { $0.slot = 2 } == "There is no slot 2")
        #expect(told { $0.header.mark.isOpen = false } == "A checkpoint beside commits would close the log")
        let vouches = "The checkpoint vouches for what was flushed before it"
        #expect(told { $0.header.isContentFlushed = false } == vouches)
        #expect(told { $0.header.extents = [Extent(page: 5, pageCount: 1)] } == vouches)
        #expect(told { $0.header.confirmedVersion = 7 } == "The checkpoint says of itself that it is durable")
        var course = CheckpointCourse()
        _ = course.choose(candidate(7))
        for _ in 0..<3 { course.advance() }
        #expect(complaint(course.checkInvariants) == nil)
        _ = course.choose(candidate(5))
        #expect(complaint(course.checkInvariants) == "The checkpoint lies before the one that was finished")
    }

    @Test("A version that ends elsewhere than the log, and a candidate whose pages or slot are not kept, are told")
    func files() throws {
        let told = Mutex<[String]>([])
        var options = LoggedFile.options(blocks: 64, stepping: true)
        options.invariantWasBroken = { broken in told.withLock { $0.append(broken.description) } }
        options.invariantScope = .change
        let file = try StorageFile.open(path: folder.path("a.realm"), options: options)
        try file.lockForWriting()
        defer { file.unlockForWriting() }
        for index in 0..<5 { try LoggedFile.commit(file, index) }
        let end = try #require(file.openLog).end
        let version = file.newestVersion
        #expect(complaint(file.checkLog) == nil)
        file.state.withLock { $0.published.mark.point.offset += 8 }
        #expect(complaint(file.checkLog) == "Version \(version) does not end where the log ends")
        file.state.withLock { $0.published.mark.point = end }
        let base = file.checkpointVersion.load(ordering: .sequentiallyConsistent)
        for other in [0, version + 1] {
            file.checkpointVersion.store(other, ordering: .sequentiallyConsistent)
            let expected = "A recovery begins at version \(other), and the newest one is \(version)"
            #expect(complaint(file.checkLog) == expected)
        }
        file.checkpointVersion.store(base, ordering: .sequentiallyConsistent)
        #expect(complaint(file.checkLog) == nil)

        file.beginCheckpoint()
        let candidate = try #require(file.checkpoint.withLock { $0.next?.candidate })
        func checkCandidate() -> String? { complaint { () throws(BrokenInvariant) in try file.check(candidate) } }
        #expect(checkCandidate() == nil)
        file.state.withLock { $0.slot = candidate.slot }
        #expect(checkCandidate() == "A checkpoint takes the place of the one before")
        file.state.withLock { $0.slot = 1 - candidate.slot }
        #expect(told.withLock { $0 } == [])
        file.candidateVersion.store(1, ordering: .sequentiallyConsistent)
        #expect(file.takeCheckpointStep())
        let expected = "A checkpoint is made of version \(version), and pages of version 1 stay"
        #expect(told.withLock { $0 } == [expected])
        file.candidateVersion.store(version, ordering: .sequentiallyConsistent)
        while file.takeCheckpointStep() {}
        #expect(told.withLock { $0 } == [expected])
    }

    @Test("Commits and checkpoints in many rounds of a ring break nothing")
    func rounds() throws {
        var options = LoggedFile.options(blocks: 8)
        options.invariantWasBroken = { Issue.record("A structure is broken: \($0)") }
        options.invariantScope = .whole
        let file = try StorageFile.open(path: folder.path("rounds.realm"), options: options)
        try file.lockForWriting()
        defer { file.unlockForWriting() }
        var begins: Set<UInt64> = []
        for round in 0..<100 {
            try LoggedFile.commit(file, round % 50, UInt64(round), recorded: round % 17 != 16)
            begins.insert(file.checkpointVersion.load(ordering: .sequentiallyConsistent))
        }
        #expect(begins.count > 10)
        let log = try #require(file.openLog)
        #expect(log.end.offset > 5 * UInt64(log.header.ringByteCount))
    }
}
#endif
