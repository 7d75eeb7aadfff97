import RealmTestSupport
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
        #expect(resting.letGo(newest: 111, limit: 100) == true)
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

    /// An observer, its hub and a writer, of whom one does something at a time.
    private struct World {
        let limit: UInt64
        var flow: ChangeFlow
        var newest: UInt64 = 1
        /// Where the hub stands.
        var hub: UInt64 = 1
        /// Where the pass under way leads, which has looked at the observer.
        var passing: UInt64?
        /// The version that the observer was told of last; nil for none, or none that it may build on.
        var told: UInt64?
        var offered: (from: UInt64?, to: UInt64)?
        var isAsking = false
        /// Which commits concern the observer.
        var concerning: Set<UInt64> = []
        var deliveries = 0
        var beginnings = 0

        init(limit: UInt64, tellsInitial: Bool) {
            self.limit = limit
            flow = tellsInitial ? ChangeFlow() : ChangeFlow(knowing: 1)
            told = tellsInitial ? nil : 1
        }

        func concerns(_ versions: ClosedRange<UInt64>) -> Bool { versions.contains { concerning.contains($0) } }

        mutating func commit(concerns: Bool) {
            newest += 1
            if concerns { concerning.insert(newest) }
        }

        mutating func finish(to target: UInt64) {
            let from = told
            if let from, from < target, !concerns(from + 1...target) {
                flow.pass(target)
                told = target
            } else if let from, from >= target {
                flow.pass(from)
            } else {
                flow.offer(target)
                offered = (from, target)
            }
        }

        mutating func process() {
            beginPass()
            endPass()
        }

        mutating func endPass() {
            hub = passing ?? hub
            passing = nil
        }

        mutating func beginPass() {
            endPass()
            let target = newest
            passing = target
            if flow.isFollowing {
                if hub < target, concerns(hub + 1...target) {
                    told = hub
                    if flow.fallBehind(at: hub) {
                        finish(to: target)
                    } else if flow.letGo(newest: target, limit: limit) {
                        told = nil
                        offered = nil
                    }
                } else {
                    let isKept = flow.keepFollowing(to: target)
                    #expect(isKept)
                    told = target
                }
            } else if flow.follow(target) {
                told = target
            } else if flow.letGo(newest: target, limit: limit) {
                told = nil
                offered = nil
            } else if flow.catchUp(to: target) {
                finish(to: target)
            } else if let told, flow.work == .resting, told < target, !concerns(told + 1...target) {
                let isMoved = flow.slide(from: told, to: target)
                #expect(isMoved)
                self.told = target
            }
        }
    }

    @Test("whatever happens in which order: no gap, no duplicate, nobody forgotten, and nothing old is held")
    func anything() {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SplitMix64(seed: seed)
        var deliveries = 0
        var beginnings = 0
        for round in 0..<2_000 {
            let limit = UInt64.random(in: 3...12, using: &generator)
            var world = World(limit: limit, tellsInitial: round % 2 == 0)
            let comment: Comment = "seed \(seed), round \(round)"
            for _ in 0..<60 {
                switch Int.random(in: 0..<10, using: &generator) {
                case 0, 1: world.commit(concerns: Bool.random(using: &generator))
                case 2, 3: world.beginPass()
                case 9: world.endPass()
                case 4:
                    if case .waiting(_?) = world.flow.work { #expect(world.flow.realmMoved() == true, comment) }
                default:
                    world.isAsking = true
                    if world.hub < world.newest, world.flow.leaveHub(at: world.hub) {
                        #expect(world.told == world.hub, comment)
                        world.told = world.hub
                    }
                    switch world.flow.ask(newest: world.newest) {
                    case .compute: world.finish(to: world.newest)
                    case .wait: break
                    case .end: Issue.record(comment)
                    case .fetch:
                        #expect(world.flow.fetch() == true, comment)
                        guard let offered = world.offered else {
                            Issue.record(comment)
                            break
                        }
                        switch Int.random(in: 0..<6, using: &generator) {
                        case 0: world.flow.refuse()
                        case 1:
                            world.flow.retarget()
                            world.finish(to: world.newest)
                        default:
                            // What is told leads on from what was told.
                            #expect(offered.from == world.told, comment)
                            if offered.from == nil { world.beginnings += 1 }
                            world.flow.accept()
                            world.told = offered.to
                            world.deliveries += 1
                            world.isAsking = false
                        }
                    }
                }
                if case .standing(let version) = world.flow.position {
                    #expect(version == world.told, comment)
                }
            }
            // In the end whoever asks gets what there is, and who does not holds nothing old.
            world.process()
            if world.flow.work == .resting, case .standing(let version) = world.flow.position {
                #expect(world.newest - version <= limit, comment)
            }
            _ = world.flow.realmMoved()
            for _ in 0..<4 {
                switch world.flow.ask(newest: world.newest) {
                case .compute: world.finish(to: world.newest)
                case .fetch:
                    if world.flow.fetch(), let offered = world.offered {
                        #expect(offered.from == world.told, comment)
                        world.flow.accept()
                        world.told = offered.to
                    }
                case .wait: world.process()
                case .end: Issue.record(comment)
                }
            }
            world.process()
            #expect(world.told == world.newest, comment)
            #expect(world.flow.work == .waiting(refused: nil), comment)
            deliveries += world.deliveries
            beginnings += world.beginnings
        }
        #expect(deliveries > 5_000)
        #expect(beginnings > 1_000)
    }
}
