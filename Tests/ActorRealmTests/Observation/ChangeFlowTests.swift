import Testing

@testable import ActorRealm

@Suite("The life of an observer, without threads")
struct ChangeFlowTests {
    @Test("the first question computes, what is computed is fetched and accepted, and then it waits")
    func life() {
        var flow = ChangeFlow()
        #expect(flow.ask(newest: 5) == .compute)
        #expect(flow.ask(newest: 5) == .wait, "somebody computes already")
        flow.offer(5)
        #expect(flow.ask(newest: 6) == .fetch)
        #expect(flow.fetch() == true)
        #expect(flow.fetch() == false, "it is fetched once")
        flow.accept()
        #expect(flow.position == .standing(5))
        #expect(flow.ask(newest: 5) == .wait)
        #expect(flow.ask(newest: 7) == .compute)
        flow.pass(7)
        #expect(flow.position == .standing(7))
        #expect(flow.work == .waiting(refused: nil), "somebody still waits")
    }

    @Test("an observer that stands where the hub does is left to it, and taken out by a commit that concerns it")
    func following() {
        var flow = ChangeFlow(knowing: 3)
        #expect(flow.follow(4) == false)
        #expect(flow.follow(3) == true)
        #expect(flow.ask(newest: 9) == .wait, "the hub sees to it")
        #expect(flow.fallBehind(at: 9) == true, "somebody waits for the change")
        #expect(flow.work == .computing)
        #expect(flow.position == .standing(9))
        flow.offer(10)
        #expect(flow.follow(10) == false, "not before it was delivered")
        #expect(flow.fetch() == true)
        flow.accept()
        #expect(flow.follow(10) == true)
        #expect(flow.fallBehind(at: 10) == false, "nobody waits yet")
        #expect(flow.ask(newest: 11) == .compute)
    }

    @Test("an observer goes on alone from where the hub stands, but not from before where it was left to the hub")
    func leaving() {
        var flow = ChangeFlow(knowing: 4)
        #expect(flow.leaveHub(at: 4) == false, "nobody looks after it")
        // The hub comes from 3, and does not stand at 4 before its pass ends.
        #expect(flow.follow(4) == true)
        #expect(flow.leaveHub(at: 3) == false)
        #expect(flow.ask(newest: 5) == .wait)
        #expect(flow.keepFollowing(to: 5) == true)
        #expect(flow.leaveHub(at: 4) == false)
        #expect(flow.leaveHub(at: 5) == true)
        #expect(flow.position == .standing(5))
        #expect(flow.keepFollowing(to: 6) == false)
    }

    @Test("what a realm would not be moved to is tried again when it moves, or for a newer version")
    func refusing() {
        var flow = ChangeFlow(knowing: 1)
        #expect(flow.ask(newest: 2) == .compute)
        flow.offer(2)
        #expect(flow.fetch() == true)
        flow.refuse()
        #expect(flow.ask(newest: 2) == .wait)
        #expect(flow.catchUp(to: 2) == false)
        #expect(flow.realmMoved() == true)
        #expect(flow.realmMoved() == false)
        #expect(flow.ask(newest: 2) == .compute)
        flow.offer(2)
        #expect(flow.fetch() == true)
        flow.refuse()
        #expect(flow.catchUp(to: 3) == true)
        #expect(flow.position == .standing(1), "it was told nothing")
        // What it begins with is refused in the same way.
        var fresh = ChangeFlow()
        #expect(fresh.ask(newest: 4) == .compute)
        fresh.offer(4)
        #expect(fresh.fetch() == true)
        fresh.refuse()
        #expect(fresh.ask(newest: 4) == .wait)
        #expect(fresh.ask(newest: 5) == .compute)
    }

    @Test("a change that has to lead elsewhere is computed again")
    func retargeting() {
        var flow = ChangeFlow(knowing: 1)
        #expect(flow.ask(newest: 2) == .compute)
        flow.offer(2)
        #expect(flow.fetch() == true)
        flow.retarget()
        #expect(flow.work == .computing)
        flow.offer(3)
        #expect(flow.fetch() == true)
        flow.accept()
        #expect(flow.position == .standing(3))
    }

    @Test("only who does not ask, or whose realm does not move, is let go of, and only beyond the limit")
    func lettingGo() {
        var resting = ChangeFlow(knowing: 10)
        #expect(resting.letGo(newest: 110, limit: 100) == false)
        #expect(resting.letGo(newest: 150, limit: 100, since: 50) == false, "nobody knew of something until then")
        #expect(resting.letGo(newest: 151, limit: 100, since: 51) == false)
        #expect(resting.letGo(newest: 111, limit: 100, since: 5) == true)
        #expect(resting.position == .overdue)
        #expect(resting.letGo(newest: 500, limit: 100) == false, "it holds nothing any more")
        #expect(resting.ask(newest: 111) == .compute)

        var waiting = ChangeFlow(knowing: 10)
        #expect(waiting.ask(newest: 10) == .wait)
        #expect(waiting.letGo(newest: 1_000, limit: 100) == false, "it asked in time")

        var offering = ChangeFlow(knowing: 10)
        #expect(offering.ask(newest: 11) == .compute)
        #expect(offering.letGo(newest: 1_000, limit: 100) == false, "somebody computes for it")
        offering.offer(11)
        #expect(offering.letGo(newest: 1_000, limit: 100) == true)
        #expect(offering.fetch() == false, "what was offered went with it")
        #expect(offering.ask(newest: 1_000) == .compute)

        var delivering = ChangeFlow(knowing: 10)
        #expect(delivering.ask(newest: 11) == .compute)
        delivering.offer(11)
        #expect(delivering.fetch() == true)
        #expect(delivering.letGo(newest: 1_000, limit: 100) == false, "it is on its way")
        delivering.refuse()
        #expect(delivering.letGo(newest: 1_000, limit: 100) == true, "its realm does not move")
        #expect(delivering.ask(newest: 11) == .wait)
        #expect(delivering.realmMoved() == true)
        #expect(delivering.ask(newest: 11) == .compute)

        var following = ChangeFlow(knowing: 10)
        #expect(following.follow(10) == true)
        #expect(following.letGo(newest: 1_000, limit: 100) == false, "it holds nothing")
    }

    @Test("an observer that nothing concerns slides along, unless somebody computes for it")
    func sliding() {
        var flow = ChangeFlow(knowing: 1)
        #expect(flow.slide(from: 1, to: 4) == true)
        #expect(flow.slide(from: 1, to: 5) == false)
        #expect(flow.ask(newest: 4) == .wait)
        #expect(flow.slide(from: 4, to: 5) == true)
        #expect(flow.ask(newest: 6) == .compute)
        #expect(flow.slide(from: 5, to: 6) == false)
        flow.offer(6)
        #expect(flow.slide(from: 5, to: 7) == false)
    }

    @Test("who is told at once knows everything, and what was under way for it is void")
    func tellingAtOnce() {
        var following = ChangeFlow(knowing: 3)
        #expect(following.ask(newest: 3) == .wait)
        #expect(following.follow(3) == true)
        #expect(following.tell(upTo: 3) == false, "it knows that")
        #expect(following.tell(upTo: 4) == true)
        #expect(following.position == .standing(4))
        #expect(following.work == .waiting(refused: nil), "who waits waits on")
        #expect(following.fallBehind(at: 3) == false, "the hub does not look after it any more")

        var computing = ChangeFlow(knowing: 3)
        #expect(computing.ask(newest: 4) == .compute)
        let first = computing.computation
        #expect(computing.isComputing(first))
        #expect(computing.tell(upTo: 4) == true)
        #expect(!computing.isComputing(first))
        computing.offer(4)
        #expect(computing.fetch() == false)
        #expect(computing.ask(newest: 4) == .wait)
        #expect(computing.catchUp(to: 5) == true)
        #expect(!computing.isComputing(first), "another computation")
        #expect(computing.isComputing(computing.computation))

        var offering = ChangeFlow(knowing: 3)
        #expect(offering.ask(newest: 4) == .compute)
        offering.offer(4)
        #expect(offering.tell(upTo: 5) == true)
        #expect(offering.fetch() == false, "it is told already")
        #expect(offering.ask(newest: 5) == .wait)

        var delivering = ChangeFlow(knowing: 3)
        #expect(delivering.ask(newest: 4) == .compute)
        delivering.offer(4)
        #expect(delivering.fetch() == true)
        #expect(delivering.tell(upTo: 5) == true)
        delivering.accept()
        #expect(delivering.position == .standing(5), "what was fetched is void")
        #expect(delivering.retarget() == false)
        delivering.refuse()
        #expect(delivering.work == .waiting(refused: nil))

        var refused = ChangeFlow(knowing: 3)
        #expect(refused.ask(newest: 4) == .compute)
        refused.offer(4)
        #expect(refused.fetch() == true)
        refused.refuse()
        #expect(refused.tell(upTo: 4) == true)
        #expect(refused.realmMoved() == false, "nothing is refused any more")
        #expect(refused.end() == true)
        #expect(refused.tell(upTo: 9) == false)
    }

    @Test("nothing follows the end")
    func ending() {
        var flow = ChangeFlow()
        #expect(flow.ask(newest: 1) == .compute)
        #expect(flow.end() == true)
        #expect(flow.end() == false)
        flow.offer(1)
        #expect(flow.ask(newest: 2) == .end)
        #expect(flow.fetch() == false)
        #expect(flow.follow(1) == false)
        #expect(flow.letGo(newest: 1_000, limit: 1) == false)
    }
}
