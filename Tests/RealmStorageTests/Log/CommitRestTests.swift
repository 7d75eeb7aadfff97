import RealmTestSupport
import Testing

@testable import RealmStorage

@Suite("The rest behind the last commit")
struct CommitRestTests {
    @Test("The first commit asks for an alarm, and those that follow for none: it finds them, and is put off")
    func putOff() {
        var rest = CommitRest(patience: 100)
        #expect(rest.commit(at: 1_000) == 100)
        #expect(rest.commit(at: 1_040) == nil)
        #expect(rest.commit(at: 1_090) == nil)
        #expect(rest.look(at: 1_100) == .wake(90))
        #expect(rest.commit(at: 1_150) == nil)
        #expect(rest.look(at: 1_190) == .wake(60))
        #expect(rest.look(at: 1_250) == .due)
    }

    @Test("It is due once, and no alarm is asked for until somebody commits again")
    func once() {
        var rest = CommitRest(patience: 100)
        #expect(rest.look(at: 900) == .nothing)
        #expect(rest.commit(at: 1_000) == 100)
        // The system calls later than it was asked to.
        #expect(rest.look(at: 1_700) == .due)
        #expect(rest.look(at: 1_800) == .nothing)
        #expect(rest.commit(at: 2_000) == 100)
        #expect(rest.look(at: 2_100) == .due)
    }

    @Test("Nothing is due where nothing is left to be done, and the next commit is found by the alarm that was set")
    func forgotten() {
        var rest = CommitRest(patience: 100)
        #expect(rest.commit(at: 1_000) == 100)
        rest.forget()
        #expect(rest.commit(at: 1_050) == nil)
        #expect(rest.look(at: 1_100) == .wake(50))
        rest.forget()
        #expect(rest.look(at: 1_150) == .nothing)
        #expect(rest.commit(at: 1_200) == 100)
    }

    @Test("An alarm that never came is asked for again, at once or when it is late, and does nothing when it comes")
    func lost() {
        var rest = CommitRest(patience: 100)
        #expect(rest.commit(at: 1_000) == 100)
        rest.disarm()
        #expect(rest.look(at: 1_100) == .nothing)
        #expect(rest.commit(at: 1_110) == 100)
        // Nobody said that it does not come.
        let late = 1_210 + CommitRest.slack + 1
        #expect(rest.commit(at: late) == 100)
        #expect(rest.look(at: late + 10) == .nothing)
        #expect(rest.look(at: late + 100) == .due)
    }

    @Test("Whatever comes when: one alarm is on its way at most, and what is due is so long behind the last commit")
    func randomTimes() {
        for seed in UInt64(1)...200 {
            var random = SplitMix64(seed: seed &* 4_999)
            var rest = CommitRest(patience: 100)
            var now: UInt64 = 1_000
            var alarm: UInt64?
            var last: UInt64?
            for _ in 0..<300 {
                if Bool.random(using: &random) { now += .random(in: 0..<80, using: &random) }
                if let time = alarm, time <= now {
                    alarm = nil
                    switch rest.look(at: now) {
                    case .nothing: #expect(last == nil, "seed \(seed): a commit is forgotten")
                    case .wake(let pause):
                        #expect(now + pause == last.map { $0 + 100 }, "seed \(seed)")
                        alarm = now + pause
                    case .due:
                        #expect(last.map { $0 + 100 <= now } == true, "seed \(seed)")
                        last = nil
                    }
                }
                switch Int.random(in: 0..<6, using: &random) {
                case 0, 1:
                    last = now
                    let pause = rest.commit(at: now)
                    #expect((pause == nil) == (alarm != nil), "seed \(seed)")
                    if let pause { alarm = now + pause }
                case 2:
                    rest.forget()
                    last = nil
                default: break
                }
                #expect(last == nil || alarm != nil, "seed \(seed): nobody looks any more")
            }
        }
    }
}
