import Dispatch
import Foundation
import RealmStorage
import RealmTestSupport
import Testing

@testable import ActorRealm

@Suite("A write transaction in two steps is its task's own", .timeLimit(.minutes(60)))
struct AsyncTransactionTests {
    let file = TestFile()

    actor Store {
        var realm: Realm!

        init(_ configuration: Realm.Configuration) async throws {
            realm = try await Realm(configuration: configuration, actor: self)
        }

        struct View: Equatable {
            var names: [String]
            var counts: [Int]
            var isWriting: Bool
        }

        /// What a job sees: its names in order, the counts, whether it is in a transaction.
        func look() -> View {
            let tallies = realm.objects(Tally.self)
            return View(
                names: tallies.map(\.name),
                counts: tallies.map(\.count),
                isWriting: realm.isInWriteTransaction
            )
        }

        func lookFromElsewhere() async -> View { await Task.detached { await self.look() }.value }

        func add(_ name: String, _ count: Int = 0) { realm.create(Tally.self, value: ["name": name, "count": count]) }

        func write(_ name: String) async throws { try await realm.asyncWrite { add(name) } }
        func writeBlocking(_ name: String) throws { try realm.write { add(name) } }
        func writeNested() async throws { try await realm.asyncWrite {} }

        /// Adds in two steps, and returns what others see before, in between and afterwards.
        func twoSteps(commits: Bool) async throws -> [View] {
            try await write("before")
            let transaction = try await realm.beginAsyncWrite()
            add("inside", 1)
            let kept = realm.objects(Tally.self).where { $0.name == "inside" }.first!
            var views = [look(), await lookFromElsewhere(), look()]
            kept.count += 1
            add("later")
            views.append(await lookFromElsewhere())
            realm.object(ofType: Tally.self, forPrimaryKey: "before")!.count = 7
            views.append(look())
            if commits { try await transaction.commit() } else { transaction.cancel() }
            views.append(look())
            views.append(await lookFromElsewhere())
            if commits { precondition(kept.count == 2) } else { precondition(kept.isInvalidated) }
            return views
        }

        private func insert(_ name: String) -> Realm.Error.Code? {
            do {
                try realm.insert(Tally(name: name))
                return nil
            } catch {
                return (error as? Realm.Error)?.code
            }
        }

        /// Inserts in two steps, and has another job try it in between.
        func othersInsert() async throws -> (code: Realm.Error.Code?, names: [String]) {
            let transaction = try await realm.beginAsyncWrite()
            let own = insert("mine")
            precondition(own == nil)
            let code = await Task.detached { await self.insert("other's") }.value
            try await transaction.commit()
            return (code, look().names)
        }

        func othersWrite() async throws -> (nested: Realm.Error.Code?, blocking: Realm.Error.Code?, names: [String]) {
            let transaction = try await realm.beginAsyncWrite()
            add("mine")
            var nested: Realm.Error.Code?
            do { try await writeNested() } catch { nested = (error as? Realm.Error)?.code }
            let blocking =
                await Task.detached { () -> Realm.Error.Code? in
                    do {
                        try await self.writeBlocking("blocking")
                        return nil
                    } catch {
                        return (error as? Realm.Error)?.code
                    }
                }
                .value
            let queued = Task.detached { try await self.write("queued") }
            while realm.core.coordinator.writes.waitingCount == 0 { await Task.yield() }
            precondition(realm.isInWriteTransaction)
            try await transaction.commit()
            try await queued.value
            return (nested, blocking, look().names)
        }

        func closeInBetween() async throws -> Bool {
            let transaction = try await realm.beginAsyncWrite()
            add("lost")
            await Task.detached { await self.invalidate() }.value
            do {
                try await transaction.commit()
                return false
            } catch Realm.Error.invalidInput {
                return true
            }
        }

        func invalidate() { realm.invalidate() }

        private var kept: Realm.AsyncTransaction?

        /// Begins a transaction that outlives the task which begins it.
        func beginToKeep(_ name: String) async throws {
            kept = try await realm.beginAsyncWrite()
            add(name)
        }

        func cancelKept() {
            kept?.cancel()
            kept = nil
        }

        func tryWriting(_ name: String) -> Realm.Error.Code? {
            do {
                try writeBlocking(name)
                return nil
            } catch {
                return (error as? Realm.Error)?.code
            }
        }

        /// Changes rows at random in one transaction that others keep interrupting; returns what must be there.
        func interrupted(steps: Int, seed: UInt64) async throws -> [String: Int] {
            var random = SplitMix64(seed: seed)
            var expected = Dictionary(uniqueKeysWithValues: look().names.map { ($0, 0) })
            for name in expected.keys { expected[name] = realm.object(ofType: Tally.self, forPrimaryKey: name)!.count }
            let transaction = try await realm.beginAsyncWrite()
            for step in 0..<steps {
                switch Int.random(in: 0..<4, using: &random) {
                case 0:
                    add("n\(seed)-\(step)", step)
                    expected["n\(seed)-\(step)"] = step
                case 1:
                    guard let name = expected.keys.sorted().randomElement(using: &random) else { continue }
                    realm.object(ofType: Tally.self, forPrimaryKey: name)!.count += 1
                    expected[name]! += 1
                case 2:
                    guard let name = expected.keys.sorted().randomElement(using: &random) else { continue }
                    realm.delete(realm.object(ofType: Tally.self, forPrimaryKey: name)!)
                    expected[name] = nil
                default:
                    _ = await lookFromElsewhere()
                }
            }
            try await transaction.commit()
            return expected
        }

        func contents() -> [String: Int] {
            Dictionary(uniqueKeysWithValues: realm.objects(Tally.self).map { ($0.name, $0.count) })
        }
    }

    @Test(
        "Other jobs of the actor read the last committed version, before the commit and after it",
        arguments: [true, false]
    )
    func visibility(commits: Bool) async throws {
        let store = try await Store(file.fast)
        let views = try await store.twoSteps(commits: commits)
        let before = Store.View(names: ["before"], counts: [0], isWriting: false)
        let committed = Store.View(names: ["before", "inside", "later"], counts: [7, 2, 0], isWriting: false)
        #expect(views[0] == Store.View(names: ["before", "inside"], counts: [0, 1], isWriting: true))
        #expect(views[1] == before)
        #expect(views[2] == views[0])
        #expect(views[3] == before)
        #expect(views[4] == Store.View(names: ["before", "inside", "later"], counts: [7, 2, 0], isWriting: true))
        #expect(views[5] == (commits ? committed : before))
        #expect(views[6] == views[5])
        let names = try withNewRealm(file.fast) { Array($0.objects(Tally.self).map(\.name)) }
        #expect(names == (commits ? ["before", "inside", "later"] : ["before"]))
        try await store.write("afterwards")
        #expect(await store.look().names.last == "afterwards")
    }

    @Test(
        "A write inside the transaction's task is an error, a blocking one of another job too; asynchronous ones queue"
    )
    func others() async throws {
        let store = try await Store(file.fast)
        let result = try await store.othersWrite()
        #expect(result.nested == .alreadyInWriteTransaction)
        #expect(result.blocking == .alreadyInWriteTransaction)
        #expect(result.names == ["mine", "queued"])
    }

    @Test("What another job inserts in between is refused, and is no part of the transaction")
    func inserting() async throws {
        let found = try await Store(file.fast).othersInsert()
        #expect(found.code == .invalidInput)
        #expect(found.names == ["mine"])
    }

    @Test("No later task is in the transaction of one that has ended without ending it")
    func endedTask() async throws {
        let store = try await Store(file.fast)
        try await store.write("before")
        try await Task.detached { try await store.beginToKeep("inside") }.value
        let before = Store.View(names: ["before"], counts: [0], isWriting: false)
        // Each task may have the address of the one that has ended.
        for _ in 0..<100 {
            let (view, code) = await Task.detached { (await store.look(), await store.tryWriting("blocked")) }.value
            guard view == before, code == .alreadyInWriteTransaction else {
                return #expect(Bool(false), "\(view), \(String(describing: code))")
            }
        }
        let together = (0..<100).map { _ in Task.detached { (await store.look(), await store.tryWriting("blocked")) } }
        for task in together {
            let (view, code) = await task.value
            #expect(view == before)
            #expect(code == .alreadyInWriteTransaction)
        }
        await Task.detached { await store.cancelKept() }.value
        #expect(await store.look() == before)
        try await store.write("later")
        #expect(await store.look().names == ["before", "later"])
    }

    @Test("Another job that invalidates the realm rolls the transaction back; its commit is an error")
    func invalidated() async throws {
        let store = try await Store(file.fast)
        #expect(try await store.closeInBetween())
        #expect(await store.look().names.isEmpty)
        try await store.write("afterwards")
        #expect(await store.look().names == ["afterwards"])
    }

    /// A realm whose flushes wait at a gate.
    @MainActor
    private func gatedRealm() async throws -> (Realm, GatedDevice.Control) {
        let gate = GatedDevice.Control()
        var configuration = file.configuration
        configuration.makeDevice = { GatedDevice($0, gate) }
        return (try await Realm(configuration: configuration), gate)
    }

    @Test(
        "A write that was acknowledged is there for its writer while another task's transaction is open",
        arguments: [true, false]
    )
    @MainActor
    func acknowledgedMeanwhile(autorefresh: Bool) async throws {
        let (realm, gate) = try await gatedRealm()
        realm.autorefresh = autorefresh
        gate.close()
        let own = Task { @MainActor in
            let tally = try await realm.asyncWrite { realm.create(Tally.self, value: ["name": "own"]) }
            return !tally.isInvalidated && realm.object(ofType: Tally.self, forPrimaryKey: "own") != nil
        }
        while !gate.isHolding { await Task.yield() }
        let (begun, ended) = (Journal<Int>(), Journal<Int>())
        let held = Task { @MainActor in
            let transaction = try await realm.beginAsyncWrite()
            realm.create(Tally.self, value: ["name": "held"])
            begun.add(1)
            _ = await ended.wait(for: 1)
            let isWriting = realm.isInWriteTransaction
            try await transaction.commit()
            return isWriting
        }
        _ = await begun.wait(for: 1)
        gate.open()
        let isThere = try await own.value
        #expect(isThere)
        ended.add(1)
        let isWriting = try await held.value
        #expect(isWriting)
        #expect(realm.objects(Tally.self).map(\.name).sorted() == ["held", "own"])
    }

    @Test("A write that was acknowledged is there behind a transaction of all jobs that was cancelled")
    @MainActor
    func acknowledgedBehindCancelled() async throws {
        let (realm, gate) = try await gatedRealm()
        realm.autorefresh = false
        gate.close()
        let own = Task { @MainActor in
            try await realm.asyncWrite { _ = realm.create(Tally.self, value: ["name": "own"]) }
        }
        while !gate.isHolding { await Task.yield() }
        try realm.beginWriteTransaction()
        realm.create(Tally.self, value: ["name": "cancelled"])
        gate.open()
        try await own.value
        realm.cancelWrite()
        #expect(realm.objects(Tally.self).map(\.name) == ["own"])
    }

    @Test("However often others interrupt it, the transaction commits exactly what it did", arguments: 0..<8)
    func interruptions(round: Int) async throws {
        let seed = UInt64.random(in: 0..<(1 << 32))
        let store = try await Store(file.fast)
        for part in 0..<3 {
            let expected = try await store.interrupted(steps: 60, seed: seed &+ UInt64(part))
            #expect(await store.contents() == expected, "seed \(seed), part \(part)")
        }
        try withNewRealm(file.fast) { try $0.verify() }
    }

    @Test("An observer hears of a transaction in two steps when it is committed, and of nothing before")
    @MainActor
    func observers() async throws {
        let realm = try await Realm(configuration: file.fast)
        var updates: [[String]] = []
        let token = realm.objects(Tally.self)
            .observe { change in
                #expect(!realm.isInWriteTransaction)
                if let collection = change.collection { updates.append(collection.map(\.name)) }
            }
        await realm.asyncRefresh()
        let transaction = try await realm.beginAsyncWrite()
        realm.create(Tally.self, value: ["name": "a"])
        await realm.passTurns()
        #expect(updates == [[]])
        try await transaction.commit()
        await realm.asyncRefresh()
        #expect(updates == [[], ["a"]])
        token.invalidate()
    }

    final class Shelf: Object {
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
        @Persisted(indexed: true) var name = "shelf"
    }

    /// An actor with an open transaction that is costly to set aside, on a file whose steps can fail.
    actor Librarian {
        private let failures = StepFailures()
        private let file = TestFile()
        private var realm: Realm!
        private var shelf: Shelf!

        func open() async throws {
            var configuration = file.fast
            configuration.objectTypes = [Shelf.self]
            configuration.failures = failures
            realm = try await Realm(configuration: configuration, actor: self)
            shelf = try await realm.asyncWrite {
                for index in 0..<2_000 { realm.create(Shelf.self, value: ["name": "shelf \(index)"]) }
                return realm.create(Shelf.self)
            }
        }

        /// Has a step fail in a read of another job, which another task's transaction is set aside for; whether one failed.
        func readFails(at step: Int) async throws -> Bool {
            let transaction = try await realm.beginAsyncWrite()
            for other in realm.objects(Shelf.self) { other.name += " changed" }
            failures.arm(after: step)
            let code = await Task { self.read() }.value
            let failed = failures.outcome.failed
            failures.arm(after: nil)
            transaction.cancel()
            precondition((failed != nil) == (code != nil), "step \(step): \(failed as Any), \(code as Any)")
            let name = try shelf.value(of: \.name)
            precondition(name == "shelf")
            return failed != nil
        }

        private func read() -> Realm.Error.Code? {
            do {
                let name = try shelf.value(of: \.name)
                precondition(name == "shelf")
                return nil
            } catch {
                return (error as? Realm.Error)?.code
            }
        }
    }

    @Test("Where a transaction cannot be set aside, another job's value(of:) throws")
    func settingAsideFails() async throws {
        let librarian = Librarian()
        try await librarian.open()
        var count = 0
        while try await librarian.readFails(at: count) { count += 1 }
        #expect(count > 0, "no step failed")
    }

    /// An actor with an open transaction, of which other jobs ask what they hold.
    actor Warden {
        private var realm: Realm!
        private var tags: List<String>!
        private var links: LinkingObjects<Chore>!

        init(_ configuration: Realm.Configuration) async throws {
            realm = try await Realm(configuration: configuration, actor: self)
        }

        private func tagsAreGone() -> Bool { tags.isInvalidated }
        private func linksAreGone() -> Bool { links.isInvalidated }
        private func isThawed(_ frozen: Frozen<Chore>) -> Bool { frozen.value.thaw() != nil }
        private func isFound(_ wrapper: ThreadSafe<Chore>) -> Bool { wrapper.wrappedValue != nil }

        /// What other jobs find of what the transaction has deleted, and of what it has created.
        func found() async throws -> [Bool] {
            let chore = try await realm.asyncWrite {
                let owner = realm.create(ChoreOwner.self, value: ["name": "Ann"])
                return realm.create(Chore.self, value: ["id": 1, "name": "old", "tags": ["a"], "owner": owner])
            }
            let owner = chore.owner!
            tags = chore.tags
            links = owner.owned
            let old = ThreadSafe(wrappedValue: chore)
            let frozen = chore.frozen
            let transaction = try await realm.beginAsyncWrite()
            let new = ThreadSafe(wrappedValue: realm.create(Chore.self, value: ["id": 2, "name": "new"]))
            realm.delete(chore)
            realm.delete(owner)
            // Each asks first of all in its job, with the transaction taken up again: what was read before would have set that aside.
            precondition(realm.isInWriteTransaction)
            let tagsAreGone = await Task.detached { await self.tagsAreGone() }.value
            precondition(realm.isInWriteTransaction)
            let linksAreGone = await Task.detached { await self.linksAreGone() }.value
            precondition(realm.isInWriteTransaction)
            let isThawed = await Task.detached { await self.isThawed(frozen) }.value
            precondition(realm.isInWriteTransaction)
            let isOldFound = await Task.detached { await self.isFound(old) }.value
            precondition(realm.isInWriteTransaction)
            let isNewFound = await Task.detached { await self.isFound(new) }.value
            precondition(realm.isInWriteTransaction)
            transaction.cancel()
            return [tagsAreGone, linksAreGone, isThawed, isOldFound, isNewFound]
        }
    }

    @Test("Other jobs' collections, frozen objects and thread-safe variables know nothing of it")
    func heldByOthers() async throws {
        let file = ObservedFile()
        let found = try await Warden(file.configuration).found()
        withExtendedLifetime(file) {}
        #expect(found == [false, false, true, true, false])
    }
}
