import Foundation
import RealmStorage
import RealmTestSupport
import Synchronization
import Testing

@testable import ActorRealm

/// What happens while records are being flushed, or behind that before their writers go on.
extension OwingAsyncWritesTests {
    @Test("A transaction that stands open while a commit comes back does not hide that from its writer")
    func besideOpenTransaction() async throws {
        let hook = Hook()
        try await withOwing(hooked(hook)) { place, _ in
            _ = await place.names()
            let (task, mayGo) = try await beginInFlush("d", place, hook)
            #expect(try await place.namesBesideOpen(task, mayGo) == ["a", "b", "c", "d"])
            #expect(await place.names() == ["a", "b", "c", "d", "open", "still open"])
        }
    }

    @Test("An asynchronous write does not return before somebody who has come meanwhile finds it")
    func comesMeanwhile() async throws {
        try await withOwing { place, coordinator in
            let hold = Hold(coordinator)
            let task = await place.begin(["d"])[0]
            try await waitForWriters(2, coordinator)
            let member = OwedPagesOfRealmTests.Bystander(origin: nil)
            coordinator.observations.register(member)
            let version = coordinator.file.newestVersion
            hold.end()
            try await task.value
            #expect(coordinator.file.newestVersion > version)
            #expect(!coordinator.writes.owesPages)
            try await place.add("e")
            #expect(!coordinator.writes.owesPages)
            coordinator.observations.unregister(member)
            #expect(await place.names() == ["a", "b", "c", "d", "e"])
        }
    }

    @Test("Whoever asks while records are being flushed waits for no block that may begin meanwhile")
    func askedInFlush() async throws {
        let hook = Hook()
        try await withOwing(hooked(hook)) { place, coordinator in
            let published = coordinator.file.newestVersion
            let (task, mayGo) = try await beginInFlush("d", place, hook)
            let found = Mutex<UInt64>(0)
            let group = DispatchGroup()
            DispatchQueue(label: "asks")
                .async(group: group) {
                    let version = (try? coordinator.file.beginRead())?.version ?? 1
                    found.withLock { $0 = version }
                }
            let deadline = ContinuousClock.now + .seconds(60)
            while found.withLock({ $0 == 0 }), ContinuousClock.now < deadline {
                try await Task.sleep(for: .milliseconds(1))
            }
            // "b" and "c", in memory.
            #expect(found.withLock { $0 } == published + 2)
            mayGo.signal()
            try await task.value
            await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
                group.notify(queue: .global()) { continuation.resume() }
            }
            #expect(await place.names() == ["a", "b", "c", "d"])
        }
    }

    /// Lets a flush go on that somebody waits for who is not to.
    private func release(_ mayGo: DispatchSemaphore) -> Task<Void, any Error> {
        Task {
            try await Task.sleep(for: .seconds(1_800))
            mayGo.signal()
        }
    }

    @Test("What a realm reads of its own beside a flush of records waits for no flush, and is in the file behind that")
    func readsInFlush() async throws {
        let hook = Hook()
        try await withOwing(hooked(hook)) { place, _ in
            let isFlushed = Mutex(false)
            let (task, mayGo) = try await beginInFlush("d", place, hook) { isFlushed.withLock { $0 = true } }
            let limit = release(mayGo)
            defer { limit.cancel() }
            #expect(await place.names() == ["a", "b", "c"])
            let wasFlushed = isFlushed.withLock { $0 }
            #expect(!wasFlushed)
            let isInMemory = await place.perform { $0.core.model.snapshot.isInMemory }
            #expect(isInMemory)
            mayGo.signal()
            try await task.value
            #expect(await place.names() == ["a", "b", "c", "d"])
            let isInFile = await place.perform { !$0.core.model.snapshot.isInMemory }
            #expect(isInFile)
        }
    }

    @Test("A transaction in two steps begins beside a flush of records, and blocks its actor for none")
    func beginsInFlush() async throws {
        let hook = Hook()
        try await withOwing(hooked(hook)) { place, _ in
            let isFlushed = Mutex(false)
            let (task, mayGo) = try await beginInFlush("d", place, hook) { isFlushed.withLock { $0 = true } }
            let limit = release(mayGo)
            defer { limit.cancel() }
            let wasFlushed = try await place.commitBegun(mayGo) { isFlushed.withLock { $0 } }
            #expect(!wasFlushed)
            try await task.value
            #expect(await place.names() == ["a", "b", "c", "d", "two steps"])
        }
    }

    @Test("Nor does it wait for the flush of a later commit that its pages are published with")
    func readsInPublishing() async throws {
        let hook = Hook()
        try await withOwing(hooked(hook)) { place, coordinator in
            let (first, mayGo) = try await beginInFlush("d", place, hook)
            let limit = release(mayGo)
            defer { limit.cancel() }
            let second = await place.begin(["e"])[0]
            try await waitForWriters(2, coordinator)
            // Has the pages made behind the flush, and with them those of "e".
            #expect(await place.names() == ["a", "b", "c"])
            let isFlushed = Mutex(false)
            let mayPublish = DispatchSemaphore(value: 0)
            let (isThere, arrives) = AsyncStream<Void>.makeStream()
            hook.set {
                arrives.finish()
                mayPublish.wait()
                isFlushed.withLock { $0 = true }
            }
            mayGo.signal()
            for await _ in isThere {}
            let publishLimit = release(mayPublish)
            defer { publishLimit.cancel() }
            try await first.value
            #expect(await place.names() == ["a", "b", "c", "d"])
            let wasFlushed = isFlushed.withLock { $0 }
            #expect(!wasFlushed)
            mayPublish.signal()
            try await second.value
            #expect(await place.names() == ["a", "b", "c", "d", "e"])
            let isInFile = await place.perform { !$0.core.model.snapshot.isInMemory }
            #expect(isInFile)
        }
    }

    @Test("No block stands on commits without pages while somebody else follows the file")
    func joinsAlone() async throws {
        try await withOwing { place, coordinator in
            #expect(try await place.joins(coordinator))
            for name in ["d", "e"] { try await place.add(name) }
            try #require(coordinator.writes.owesPages)
            let member = OwedPagesOfRealmTests.Bystander(origin: nil)
            coordinator.observations.register(member)
            #expect(try await !place.joins(coordinator))
            coordinator.observations.unregister(member)
            #expect(await place.names() == ["a", "b", "c", "d", "e"])
        }
    }

    /// A realm file that is written to, and cut off, when a test says so.
    private final class StepDevice: ForwardingDevice {
        final class Control: Sendable {
            let onWrite = Hook()
            let onCut = Hook()
            let isFull = Atomic(false)
        }

        let base: any StorageDevice
        let control: Control

        init(_ base: any StorageDevice, _ control: Control) {
            self.base = base
            self.control = control
        }

        func write(_ pieces: [(UnsafeRawPointer, Int)], at offset: Int) throws(StorageError) {
            control.onWrite.call()
            if control.isFull.load(ordering: .sequentiallyConsistent) {
                throw StorageError(.full, "as a test has it", path: path)
            }
            try base.write(pieces, at: offset)
        }

        func setByteCount(_ byteCount: Int) throws(StorageError) {
            control.onCut.call()
            try base.setByteCount(byteCount)
        }
    }

    @Test("What is recorded before the followers of a commit that failed are told owes its pages like everything else")
    func behindLostGroup() async throws {
        let control = StepDevice.Control()
        var configuration = configuration()
        configuration.makeDevice = { StepDevice($0, control) }
        let place = Place()
        let coordinator = try await place.open(configuration)
        for name in ["a", "b", "c"] { try await place.add(name) }
        try #require(coordinator.writes.owesPages)
        // Then nothing is owed: the large commit fails alone.
        #expect(await place.names() == ["a", "b", "c"])
        let (mayFail, mayGo) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let (isWriting, writes) = AsyncStream<Void>.makeStream()
        let (isCut, cuts) = AsyncStream<Void>.makeStream()
        control.onWrite.set {
            control.isFull.store(true, ordering: .sequentiallyConsistent)
            writes.finish()
            mayFail.wait()
        }
        control.onCut.set {
            control.isFull.store(false, ordering: .sequentiallyConsistent)
            cuts.finish()
            mayGo.wait()
        }
        let large = Task { try await place.addMany(30, of: 200_000) }
        for await _ in isWriting {}
        let second = await place.begin(["d"])[0]
        try await waitForWriters(2, coordinator)
        let known = coordinator.writes.state.withLock { $0.joined.last?.group }
        let lost = try #require(known)
        mayFail.signal()
        for await _ in isCut {}
        let third = await place.begin(["e"])[0]
        let deadline = ContinuousClock.now + .seconds(1_800)
        while coordinator.writes.state.withLock({ $0.joined.last?.group }) ?? 0 <= lost {
            try #require(ContinuousClock.now < deadline)
            try await Task.sleep(for: .milliseconds(1))
        }
        mayGo.signal()
        await #expect(throws: Realm.Error.self) { try await large.value }
        await #expect(throws: Realm.Error.self) { try await second.value }
        try await third.value
        guard coordinator.writes.owesPages else {
            Issue.record("Nobody makes the pages of what was acknowledged")
            // Whoever looks for them, as a close does, would wait for ever.
            _ = Unmanaged.passRetained(place)
            return
        }
        #expect(try namesBehindKill() == ["a", "b", "c", "e"])
        #expect(await place.names() == ["a", "b", "c", "e"])
        #expect(!coordinator.writes.owesPages)
        await place.close()
    }

    @Test("A transaction that was set aside is committed with a callback while the realm owes pages")
    func commitBesideOwing() async throws {
        let hook = Hook()
        let control = StepDevice.Control()
        var configuration = hooked(hook)
        configuration.makeDevice = { StepDevice($0, control) }
        try await withOwing(configuration) { place, _ in
            _ = await place.names()
            let (task, mayFlush) = try await beginInFlush("d", place, hook)
            let mayWrite = DispatchSemaphore(value: 0)
            // The pages are made behind the flush of the record.
            control.onWrite.set { mayWrite.wait() }
            #expect(try await place.namesBehindCommit(task, mayFlush, mayWrite) == ["a", "b", "c", "d", "open"])
        }
    }

    @Test(
        "A job reads one version, where a commit comes back beside another task's open transaction",
        arguments: [false, true]
    )
    func readsOneVersion(throwing isThrowing: Bool) async throws {
        let hook = Hook()
        let control = StepDevice.Control()
        var configuration = hooked(hook)
        configuration.makeDevice = { StepDevice($0, control) }
        try await withOwing(configuration) { place, _ in
            _ = await place.names()
            let (task, mayFlush) = try await beginInFlush("d", place, hook)
            let mayWrite = DispatchSemaphore(value: 0)
            // The pages are made behind the flush of the record.
            control.onWrite.set { mayWrite.wait() }
            let versions = try await place.versionsBesideOpen(mayFlush, mayWrite, throwing: isThrowing)
            #expect(Set(versions).count == 1)
            try await task.value
            #expect(await place.names() == ["a", "b", "c", "d", "open"])
        }
    }

    @Test("A write whose realm was invalidated meanwhile does not return before somebody who has come finds it")
    func invalidatedMeanwhile() async throws {
        let configuration = configuration()
        try await withOwing(configuration) { place, coordinator in
            _ = await place.names()
            let hold = Hold(coordinator)
            let task = await place.begin(["d"])[0]
            try await waitForWriters(2, coordinator)
            await place.perform { $0.invalidate() }
            let other = Place()
            _ = try await other.open(configuration)
            #expect(await other.names() == ["a", "b", "c"])
            hold.end()
            try await task.value
            _ = await other.perform { $0.refresh() }
            #expect(await other.names() == ["a", "b", "c", "d"])
            await other.close()
        }
    }

    @Test("A block that throws on top of a commit that has no record is told behind its flush, and that it is lost")
    func thrownOnTopOfJoined() async throws {
        let hook = Hook()
        let control = StepDevice.Control()
        var configuration = hooked(hook)
        configuration.makeDevice = { StepDevice($0, control) }
        try await withOwing(configuration) { place, coordinator in
            let (first, mayGo) = try await beginInFlush("d", place, hook)
            // Its record is too long to be left, so that it joins what is owed.
            let large = Task { try await place.addMany(8, of: 200_000) }
            try await waitForWriters(2, coordinator)
            await #expect(throws: Realm.Error.self) {
                try await place.throwBehindFlush(
                    coordinator,
                    mayGo,
                    before: { control.isFull.store(true, ordering: .sequentiallyConsistent) }
                )
            }
            // Durable by its record.
            try await first.value
            // What the block has seen.
            await #expect(throws: Realm.Error.self) { try await large.value }
            // The next turn makes the pages of those that are.
            #expect(!coordinator.file.hasStopped)
            #expect(coordinator.file.reasonOfMissingPages != nil)
        }
    }

    @Test("A block freezes what is acknowledged, though a record beside it could not be made durable")
    func freezingBesideFailure() async throws {
        let hook = Hook()
        try await withOwing(hooked(hook)) { place, coordinator in
            let path = path
            let (first, mayGo) = try await beginInFlush("d", place, hook) { unlink(path) }
            #expect(await place.namesFrozenBehindFlush(coordinator, mayGo) == ["a", "b", "c"])
            await #expect(throws: Realm.Error.self) { try await first.value }
            #expect(coordinator.file.hasStopped)
        }
    }

    @Test("A realm that follows a publishing by itself has no pages made of what it has acknowledged since")
    func followsPublished() async throws {
        try await withOwing { place, coordinator in
            // Nothing is to follow on its own: what is posted may come at any time.
            await place.perform { $0.core.autorefresh = false }
            coordinator.writes.makePages()
            try await place.add("d")
            try #require(coordinator.writes.owesPages)
            let isMoved = await place.perform { realm in
                let before = realm.core.version
                realm.core.autorefresh = true
                realm.core.refreshQuietly()
                return realm.core.version > before
            }
            #expect(isMoved)
            #expect(coordinator.writes.owesPages)
            #expect(await place.names() == ["a", "b", "c", "d"])
        }
    }

    /// Gives a group up, by a transaction that has joined it, in which one record waits and nothing is acknowledged; and has that record be
    /// flushed in vain before the transaction's turn ends.
    ///
    /// - Returns: The turn, and the number of the group.
    private func giveUp(
        _ place: Place,
        _ coordinator: RealmCoordinator
    ) async throws -> (turn: WriteScheduler.Ticket, group: UInt64) {
        // The realm does not look at what has pages now, and goes on as one that owes them.
        await place.perform { $0.core.autorefresh = false }
        coordinator.writes.makePages()
        try #require(!coordinator.writes.owesPages)
        let hold = Hold(coordinator)
        let first = await place.begin(["d"])[0]
        try await waitForWriters(2, coordinator)
        let turn = try await coordinator.writes.acquire(for: .none)
        coordinator.writes.transactionBegins(joining: true)
        let member = try coordinator.file.beginWrite(joining: true)
        let group = member.groupNumber
        member.abandonGroup(because: StorageError(.io, "as a test has it"))
        hold.end()
        await #expect(throws: Realm.Error.self) { try await first.value }
        #expect(!coordinator.file.hasStopped)
        return (turn, group)
    }

    @Test("Whoever has seen a group that is given up is told so, also where its records were flushed in vain before")
    func givenUpBehindFlush() async throws {
        try await withOwing { place, coordinator in
            let (turn, group) = try await giveUp(place, coordinator)
            let base = coordinator.writes.finish(turn, group: group)
            let result = await base?.value()
            #expect(throws: StorageError.self) { try result?.get() }
            try await place.addBlocking("e")
            #expect(await place.names() == ["a", "b", "c", "e"])
        }
    }

    @Test("A synchronous write behind a group that was given up owes pages of its own")
    func acknowledgedBehindGivenUp() async throws {
        try await withOwing { place, coordinator in
            let (turn, group) = try await giveUp(place, coordinator)
            // As a realm that is let go of in its transaction does.
            coordinator.writes.finish(turn)
            try await place.addBlocking("e")
            #expect(coordinator.writes.state.withLock { state in state.joined.allSatisfy { $0.group > group } })
            // It is durable, and not lost with the other one.
            await #expect(throws: Never.self) { try await place.perform { try $0.core.catchUp() } }
            #expect(await place.names() == ["a", "b", "c", "e"])
        }
    }
}

extension OwingAsyncWritesTests.Place {
    /// A block that has the flush under way end, and throws behind that.
    func throwBehindFlush(
        _ coordinator: RealmCoordinator,
        _ mayGo: DispatchSemaphore,
        before: @Sendable () -> Void
    ) async throws {
        try await realm.asyncWrite {
            before()
            mayGo.signal()
            while coordinator.writes.state.withLock({ $0.queue.isFlushing }) { usleep(1_000) }
            throw OwingAsyncWritesTests.Failure()
        }
    }

    /// What is frozen in such a block, whatever becomes of its write.
    func namesFrozenBehindFlush(_ coordinator: RealmCoordinator, _ mayGo: DispatchSemaphore) async -> [String] {
        var names: [String] = []
        do {
            try await realm.asyncWrite {
                mayGo.signal()
                while coordinator.writes.state.withLock({ $0.queue.isFlushing }) { usleep(1_000) }
                // Where this throws, `freeze()` of the realm ends the process.
                names = try realm.core.freeze().objects(Tally.self).map(\.name).sorted()
            }
        } catch {}
        return names
    }
}

extension OwingAsyncWritesTests.Place {
    /// The versions that accesses of one job find beside another task's transaction, which is open and was used last: a commit has come back,
    /// its pages are made, and its task has not gone on.
    fileprivate func versionsBesideOpen(
        _ mayFlush: DispatchSemaphore,
        _ mayWrite: DispatchSemaphore,
        throwing isThrowing: Bool
    ) async throws -> [UInt64] {
        let transaction = try await realm.beginAsyncWrite()
        _ = realm.create(Tally.self, value: ["name": "open"])
        mayFlush.signal()
        while realm.core.ahead.owedPages == nil { try await Task.sleep(for: .milliseconds(1)) }
        let reading = Task<[UInt64], any Error> {
            let core = self.realm.core
            mayWrite.signal()
            // No other job of the actor comes in between.
            while let pages = core.ahead.owedPages, pages.result == nil { usleep(1_000) }
            var versions: [UInt64] = []
            for _ in 0..<3 {
                if isThrowing { try core.requireAccess() } else { core.checkAccess() }
                versions.append(core.version)
            }
            return versions
        }
        let versions = try await reading.value
        try await transaction.commit()
        return versions
    }

    /// Commits in two steps, and lets a flush go on in between.
    ///
    /// - Returns: What `isFlushed` said at the beginning.
    fileprivate func commitBegun(_ mayGo: DispatchSemaphore, _ isFlushed: @Sendable () -> Bool) async throws -> Bool {
        let transaction = try await realm.beginAsyncWrite()
        let wasFlushed = isFlushed()
        mayGo.signal()
        _ = realm.create(Tally.self, value: ["name": "two steps"])
        try await transaction.commit()
        return wasFlushed
    }
}
