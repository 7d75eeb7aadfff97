import Testing

@testable import RealmStorage

@Suite("What a failure while a commit comes to the disk leaves to be done")
struct PublishingPlanTests {
    private static let published: FileHeader = {
        var header = FileHeader(newFile: FileBeginning())
        header.version = 4
        header.pageCount = 10
        return header
    }()

    private static func plan(
        runCount: Int = 1,
        hasSpilled: Bool = false,
        pageCount: UInt32 = 12,
        flushes: Bool = true,
        way: PublishingPlan.Way = .oneFlush,
        hasAcknowledged: Bool = false
    ) -> PublishingPlan {
        // Every other page, so that none of them are neighbours.
        let runs = (0..<runCount).map { PreparedCommit.Run(page: PageNumber(10 + 2 * $0), pageCount: 1, checksum: 7) }
        let commit = PreparedCommit(
            version: 5,
            group: 1,
            firstVersion: 5,
            catalog: .none,
            spaceSegment: .none,
            records: [],
            oldestLogVersion: 0,
            numbers: CommitNumbers(position: 9, schemaGeneration: 2),
            pageCount: pageCount,
            runs: runs,
            retired: [],
            hasSpilled: hasSpilled,
            changes: ChangeRecorder().changeSet
        )
        return PublishingPlan(
            [commit],
            over: published,
            inSlot: 1,
            byteCount: 10 * pageByteCount,
            bulkByteCount: 64 * pageByteCount,
            flushes: flushes,
            way: way,
            hasAcknowledged: hasAcknowledged
        )
    }

    @Test("The header goes to the slot that does not hold the published version, and confirms that")
    func header() {
        let plan = Self.plan()
        #expect(plan.slot == 0)
        #expect(plan.header.version == 5 && plan.header.confirmedVersion == 4)
        #expect(plan.neededByteCount == 12 * pageByteCount)
    }

    @Test("Content is flushed by itself where the header cannot vouch for it: much growth, early pages, many places")
    func content() {
        #expect(!Self.plan().flushesContent)
        #expect(Self.plan(hasSpilled: true).flushesContent)
        #expect(Self.plan(pageCount: 75).flushesContent)
        #expect(!Self.plan(pageCount: 74).flushesContent)
        let limit = FileHeader.maximumExtentCount
        #expect(!Self.plan(runCount: limit).flushesContent)
        #expect(Self.plan(runCount: limit + 1).flushesContent)
        #expect(!Self.plan(runCount: limit + 1, flushes: false).flushesContent)
        #expect(Self.plan(runCount: limit).header.extents.count == limit)
        #expect(Self.plan(runCount: limit + 1).header.extents.isEmpty)
    }

    @Test("Before the header nothing has to be put back, from it on the slot does, and a failed flush stops writing")
    func remedies() {
        typealias Remedy = PublishingPlan.Remedy
        let plan = Self.plan()
        let nothing = Remedy(restoresSlot: false, cutsBack: false, stopsWriting: false)
        #expect(plan.remedy(afterFailureOf: .writing, .io) == nothing)
        #expect(plan.remedy(afterFailureOf: .flushingLength, .full) == nothing)
        let stop = Remedy(restoresSlot: false, cutsBack: false, stopsWriting: true)
        #expect(plan.remedy(afterFailureOf: .flushingLength, .io) == stop)
        #expect(plan.remedy(afterFailureOf: .flushingContent, .full) == stop)
        let restore = Remedy(restoresSlot: true, cutsBack: false, stopsWriting: false)
        #expect(plan.remedy(afterFailureOf: .writingHeader, .io) == restore)
        let both = Remedy(restoresSlot: true, cutsBack: false, stopsWriting: true)
        #expect(plan.remedy(afterFailureOf: .flushingHeader, .full) == both)
    }

    @Test("Rule 8: a flush of growth that finds no space stops writing where pages of earlier records hang on it")
    func growthBesideLog() {
        for way in [.records([]), .pages(.none)] as [PublishingPlan.Way] {
            let plan = Self.plan(way: way)
            #expect(plan.remedy(afterFailureOf: .flushingLength, .full).stopsWriting)
            // Nothing was written yet: the log and the pages before are as they were.
            #expect(!plan.remedy(afterFailureOf: .writing, .full).stopsWriting)
        }
    }

    @Test("What has members that were acknowledged stops writing where it fails, unless there was no space for it")
    func acknowledged() {
        for way in [.records([]), .pages(.none)] as [PublishingPlan.Way] {
            let plan = Self.plan(way: way, hasAcknowledged: true)
            #expect(plan.remedy(afterFailureOf: .writing, .io).stopsWriting)
            #expect(plan.remedy(afterFailureOf: .writingHeader, .corrupt).stopsWriting)
            #expect(!plan.remedy(afterFailureOf: .writing, .full).stopsWriting)
            #expect(!plan.remedy(afterFailureOf: .writingHeader, .full).stopsWriting)
            #expect(plan.remedy(afterFailureOf: .flushingLength, .full).stopsWriting)
            #expect(plan.remedy(afterFailureOf: .flushingContent, .full).stopsWriting)
        }
    }

    @Test("What grew by its content is cut back as long as no header refers to it")
    func bulk() {
        let plan = Self.plan(hasSpilled: true)
        #expect(plan.remedy(afterFailureOf: .writing, .full).cutsBack)
        #expect(plan.remedy(afterFailureOf: .flushingContent, .io).cutsBack)
        #expect(!plan.remedy(afterFailureOf: .writingHeader, .io).cutsBack)
        #expect(!plan.remedy(afterFailureOf: .flushingHeader, .io).cutsBack)
    }
}
