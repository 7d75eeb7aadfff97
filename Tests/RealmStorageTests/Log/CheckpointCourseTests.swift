import Testing

@testable import RealmStorage

@Suite("The course of a checkpoint")
struct CheckpointCourseTests {
    private static let identifier = FileHeader(newFile: FileBeginning()).identifier

    /// Whether a checkpoint of a version can be begun, which it is then.
    private static func begin(_ version: UInt64, in course: inout CheckpointCourse) -> Bool {
        course.choose(candidate(version))
    }

    private static func candidate(_ version: UInt64) -> CheckpointCourse.Candidate {
        var beginning = FileBeginning()
        beginning.identifier = identifier
        var header = FileHeader(newFile: beginning)
        header.version = version
        header.mark = LogMark(
            log: LogIdentifier(low: 1, high: 2),
            point: LogPoint(offset: version * 4096, chain: version),
            isOpen: true
        )
        return CheckpointCourse.Candidate(header: header, slot: 1)
    }

    @Test("Rule 14: pages, their flush, the header, its flush; nothing before a version was chosen")
    func order() {
        var course = CheckpointCourse()
        #expect(course.isResting)
        #expect(course.next == nil)
        #expect(Self.begin(7, in: &course))
        for step in [CheckpointCourse.Step.flushPages, .writeHeader, .flushHeader] {
            #expect(!course.isResting)
            #expect(!Self.begin(8, in: &course), "one is made at a time")
            #expect(course.next?.step == step)
            #expect(course.next?.candidate == Self.candidate(7))
            course.advance()
        }
        #expect(course.isResting)
        #expect(course.next == nil)
    }

    @Test("Rule 16: what the log has before a checkpoint is given back behind its last step, once")
    func release() {
        var course = CheckpointCourse()
        #expect(Self.begin(7, in: &course))
        for _ in 0..<2 {
            course.advance()
            #expect(course.takeUnneeded() == nil)
        }
        course.advance()
        #expect(course.takeUnneeded() == LogPoint(offset: 7 * 4096, chain: 7))
        #expect(course.takeUnneeded() == nil)
        // Of two that were finished since, the later one counts.
        for version in UInt64(8)...9 {
            #expect(Self.begin(version, in: &course))
            for _ in 0..<3 { course.advance() }
        }
        #expect(course.takeUnneeded()?.chain == 9)
    }

    @Test("Rule 8: behind a step that failed there is none, and nothing of the log is given back", arguments: 0..<3)
    func failure(after count: Int) {
        var course = CheckpointCourse()
        #expect(Self.begin(7, in: &course))
        for _ in 0..<count { course.advance() }
        course.fail()
        #expect(!Self.begin(8, in: &course))
        #expect(course.next == nil)
        #expect(!course.isResting)
        course.advance()
        #expect(!course.isResting)
        #expect(course.takeUnneeded() == nil)
    }
}
