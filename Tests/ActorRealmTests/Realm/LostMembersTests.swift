import Foundation
import RealmStorage
import RealmTestSupport
import Testing

@testable import ActorRealm

/// Who is told what when a group of transactions, or what it was built on, is lost.
@Suite("Writers of commits that are lost", .timeLimit(.minutes(60)))
struct LostMembersTests {
    /// A file, its scheduler, and a disk that does not begin to flush before it is told to.
    private struct Fixture {
        let directory = TemporaryDirectory()
        let file: StorageFile
        let scheduler: WriteScheduler
        let disk = ThreadGate<Void>()
        private let ioThread = DedicatedThread(name: "test-io")
        private let isFull = FullDevice.Switch()

        init() throws {
            var options = StorageOptions()
            options.makeDevice = { [isFull] in FullDevice($0, isFull) }
            file = try StorageFile.open(path: directory.path("lost.realm"), options: options)
            scheduler = WriteScheduler(file: file, ioThread: ioThread, holdLimit: .max) { _ in }
            let disk = disk
            ioThread.perform { disk.wait() }
        }

        func begin(joining: Bool = true) async throws -> (WriteScheduler.Ticket, WriteTransaction) {
            let turn = try await scheduler.acquire(for: .none)
            scheduler.transactionBegins(joining: joining)
            return (turn, try file.beginWrite(joining: joining))
        }

        /// Leaves a commit with an entry to be flushed, which the disk does not do yet.
        func prepare(_ name: String) async throws -> (commit: PreparedCommit, task: Task<Void, any Error>) {
            let (turn, transaction) = try await begin(joining: false)
            try transaction.add(name)
            let commit = try transaction.prepareCommit()
            let scheduler = scheduler
            let count = scheduler.preparedCount
            let task = Task { _ = try await scheduler.commit(commit, ending: turn).get() }
            while scheduler.preparedCount == count { await Task.yield() }
            return (commit, task)
        }

        /// Leaves a member with an entry to be sealed with others.
        func join(_ name: String, session: (any WriterSession)? = nil) async throws -> Task<Void, any Error> {
            let (turn, transaction) = try await begin()
            if let session { transaction.session = session }
            try transaction.add(name)
            #expect(scheduler.mayJoin(turn))
            let group = transaction.groupNumber
            try transaction.join()
            let scheduler = scheduler
            let count = scheduler.preparedCount
            let task = Task { _ = try await scheduler.commitJoined(group, ending: turn).get() }
            while scheduler.preparedCount == count { await Task.yield() }
            return task
        }

        /// Has the first half of a flush fail: the file has lost the commit, and the scheduler does not know yet.
        func lose(_ commit: PreparedCommit) {
            isFull.isOn = true
            #expect(throws: StorageError.self) { try file.publish([commit]) }
            isFull.isOn = false
        }

        /// Whether the newest version has an entry.
        func has(_ name: String) throws -> Bool {
            let snapshot = try file.beginRead()
            return try Array(name.utf8).withUnsafeBytes { try snapshot.catalog.contains($0, in: snapshot.view) }
        }
    }

    @Test("A writer whose member went with a group that was given up is told, and none of those that follow")
    func groupGivenUp() async throws {
        let fixture = try Fixture()
        let (_, first) = try await fixture.prepare("first")
        let member = try await fixture.join("member")
        let (turn, transaction) = try await fixture.begin()
        transaction.abandonGroup(because: StorageError(.full, "for a test"))
        fixture.scheduler.finish(turn)
        let follower = try await fixture.join("follower")
        fixture.disk.open(with: ())
        try await first.value
        try await follower.value
        let error = await #expect(throws: StorageError.self) { try await member.value }
        #expect(error?.code == .full)
        #expect(try fixture.has("first") && fixture.has("follower") && !fixture.has("member"))
        #expect(fixture.scheduler.preparedCount == 0)
    }

    /// Has something done when a group has been sealed, before the scheduler knows.
    private final class Session: WriterSession {
        let body: () -> Void

        init(_ body: @escaping () -> Void) { self.body = body }

        func seal(in transaction: WriteTransaction) throws(StorageError) {}
        func didSeal(catalog: PageReference) { body() }
    }

    @Test("A group that is lost when it has just been sealed holds nobody up")
    func lostWhenSealed() async throws {
        let fixture = try Fixture()
        let (commit, first) = try await fixture.prepare("first")
        let session = Session {
            fixture.lose(commit)
            fixture.disk.open(with: ())
            // The flush ends, and whoever waits for the member is told.
            while fixture.scheduler.state.withLock({ $0.queue.isFlushing }) { usleep(1_000) }
        }
        let member = try await fixture.join("member", session: session)
        let (turn, transaction) = try await fixture.begin(joining: false)
        let isLeft = fixture.scheduler.state.withLock { !$0.prepared.isEmpty }
        // Nobody would flush it, and whoever waits for flushes waits for it.
        #expect(!isLeft)
        if !isLeft { fixture.scheduler.waitForFlushes() }
        transaction.rollback()
        fixture.scheduler.finish(turn)
        await #expect(throws: StorageError.self) { try await first.value }
        await #expect(throws: StorageError.self) { try await member.value }
        #expect(try !fixture.has("first") && !fixture.has("member"))
        #expect(fixture.scheduler.preparedCount == 0)
    }

    @Test("A member that began when a flush had just failed is there if and only if its writer is told so")
    func beginBesideFailure() async throws {
        let fixture = try Fixture()
        let (commit, first) = try await fixture.prepare("first")
        let second = try await fixture.join("second")
        fixture.lose(commit)
        let survivor = try await fixture.join("survivor")
        fixture.disk.open(with: ())
        await #expect(throws: StorageError.self) { try await first.value }
        await #expect(throws: StorageError.self) { try await second.value }
        let result = await survivor.result
        let (turn, transaction) = try await fixture.begin(joining: false)
        try transaction.add("later")
        _ = try await fixture.scheduler.commit(transaction.prepareCommit(), ending: turn).get()
        #expect(try fixture.has("survivor"))
        #expect(throws: Never.self) { try result.get() }
        #expect(try !fixture.has("first") && !fixture.has("second") && fixture.has("later"))
        #expect(fixture.scheduler.preparedCount == 0)
    }

    @Test("A commit that was prepared when a flush had just failed is there if and only if its writer is told so")
    func prepareBesideFailure() async throws {
        let fixture = try Fixture()
        let (commit, first) = try await fixture.prepare("first")
        fixture.lose(commit)
        let (_, survivor) = try await fixture.prepare("survivor")
        fixture.disk.open(with: ())
        await #expect(throws: StorageError.self) { try await first.value }
        let result = await survivor.result
        #expect(throws: Never.self) { try result.get() }
        #expect(try !fixture.has("first") && fixture.has("survivor"))
        #expect(fixture.scheduler.preparedCount == 0)
    }

    @Test(
        "A writer that gives up is told of a failure when what it saw is lost, and of no other one",
        arguments: [true, false],
        [true, false]
    )
    func givingUpBesideFailure(sawLostCommit: Bool, endsLater: Bool) async throws {
        let fixture = try Fixture()
        let (commit, first) = try await fixture.prepare("first")
        if !sawLostCommit { fixture.lose(commit) }
        let (turn, transaction) = try await fixture.begin()
        if sawLostCommit { fixture.lose(commit) }
        if endsLater {
            fixture.disk.open(with: ())
            await #expect(throws: StorageError.self) { try await first.value }
        }
        transaction.rollback()
        let base = fixture.scheduler.finish(turn, group: transaction.groupNumber)
        if !endsLater { fixture.disk.open(with: ()) }
        let result = await base?.value()
        if sawLostCommit {
            #expect(throws: StorageError.self) { try result?.get() }
        } else {
            #expect(throws: Never.self) { try result?.get() }
        }
        await #expect(throws: StorageError.self) { try await first.value }
    }
}

extension WriteTransaction {
    fileprivate func add(_ name: String) throws {
        try Array(name.utf8)
            .withUnsafeBytes { key in
                _ = try catalog.insert(key, value: UnsafeRawBufferPointer(start: nil, count: 0), in: self)
            }
    }
}
