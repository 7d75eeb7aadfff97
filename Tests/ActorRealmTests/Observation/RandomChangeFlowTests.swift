import RealmTestSupport
import Testing

@testable import ActorRealm

@Suite("The life of an observer under random events, without threads")
struct RandomChangeFlowTests {
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
        /// The computations that somebody began and has not ended, with what was told then.
        var underWay: [(number: UInt64, from: UInt64?, target: UInt64)] = []
        var tellings = 0
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

        /// Begins what is to be computed; ends it at once, or later.
        mutating func compute(isEnded: Bool) {
            if isEnded { return finish(to: newest) }
            underWay.append((flow.computation, told, newest))
        }

        mutating func endComputing(_ index: Int, _ comment: Comment) {
            let computed = underWay.remove(at: index)
            guard flow.isComputing(computed.number) else { return }
            #expect(computed.from == told, comment)
            finish(to: computed.target)
        }

        /// Tells of everything up to a version at once.
        mutating func tell(upTo version: UInt64, _ comment: Comment) {
            let isKnown = told.map { $0 >= version } ?? false
            let isTold = flow.tell(upTo: version)
            #expect(isTold == !isKnown, comment)
            guard isTold else { return }
            told = version
            offered = nil
            isAsking = isAsking || flow.work != .resting
            tellings += 1
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
        var tellings = 0
        for round in 0..<3_000 {
            let limit = UInt64.random(in: 3...12, using: &generator)
            var world = World(limit: limit, tellsInitial: round % 2 == 0)
            let comment: Comment = "seed \(seed), round \(round)"
            for _ in 0..<90 {
                switch Int.random(in: 0..<13, using: &generator) {
                case 0, 1: world.commit(concerns: Bool.random(using: &generator))
                case 2, 3: world.beginPass()
                case 9: world.endPass()
                case 10:
                    world.tell(upTo: UInt64.random(in: world.newest / 2...world.newest, using: &generator), comment)
                case 11, 12:
                    guard let index = world.underWay.indices.randomElement(using: &generator) else { break }
                    world.endComputing(index, comment)
                case 4:
                    if case .waiting(_?) = world.flow.work { #expect(world.flow.realmMoved() == true, comment) }
                default:
                    world.isAsking = true
                    if world.hub < world.newest, world.flow.leaveHub(at: world.hub) {
                        #expect(world.told == world.hub, comment)
                        world.told = world.hub
                    }
                    switch world.flow.ask(newest: world.newest) {
                    case .compute: world.compute(isEnded: Bool.random(using: &generator))
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
            for index in world.underWay.indices.reversed() { world.endComputing(index, comment) }
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
            tellings += world.tellings
        }
        #expect(tellings > 5_000)
        #expect(deliveries > 5_000)
        #expect(beginnings > 500)
    }
}
