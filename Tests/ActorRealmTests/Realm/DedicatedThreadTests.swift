import Dispatch
import RealmTestSupport
import Synchronization
import Testing

@testable import ActorRealm
@testable import RealmStorage

@Suite("A thread for work that blocks")
struct DedicatedThreadTests {
    /// A system that starts no thread so many times.
    private final class System: Sendable {
        private let refusals: Mutex<Int>

        init(refusals: Int) { self.refusals = Mutex(refusals) }

        func start(_ body: @escaping @Sendable () -> Void) throws {
            let isRefused = refusals.withLock { left in
                defer { left = max(0, left - 1) }
                return left > 0
            }
            if isRefused { throw StorageError(.limit, "No thread.") }
            try DedicatedThread.detach(name: "test-thread", body)
        }
    }

    /// What is waited for comes at once, unless it never comes.
    private func comes(_ semaphore: DispatchSemaphore) -> Bool { semaphore.wait(timeout: .now() + 60) == .success }

    @Test("Where it could not be started it is not there, and a later call starts it")
    func laterStart() {
        let system = System(refusals: 2)
        let thread = DedicatedThread(name: "test", start: { try system.start($0) })
        #expect(!thread.isThere())
        // At once, on this thread.
        let isDone = Mutex(false)
        thread.performOrRun { isDone.withLock { $0 = true } }
        #expect(isDone.withLock { $0 })
        #expect(thread.isThere())
        let isRun = DispatchSemaphore(value: 0)
        let isHere = Mutex(false)
        thread.perform {
            isHere.withLock { $0 = thread.isHere }
            isRun.signal()
        }
        #expect(comes(isRun))
        #expect(isHere.withLock { $0 })
    }

    @Test("What is given to it while it fails to begin is run")
    func givenMeanwhile() {
        let given = Mutex<DedicatedThread?>(nil)
        let isRun = DispatchSemaphore(value: 0)
        let system = System(refusals: 1)
        let thread = DedicatedThread(
            name: "test",
            start: { body in
                // Another thread gives something to it just now.
                given.withLock { $0 }?.perform { isRun.signal() }
                try system.start(body)
            }
        )
        given.withLock { $0 = thread }
        defer { given.withLock { $0 = nil } }
        _ = thread.isThere()
        #expect(comes(isRun))
        thread.perform { isRun.signal() }
        #expect(comes(isRun))
    }

    @Test("No writer may owe pages while the thread that would make them cannot be started", arguments: [true, false])
    func owing(isSynchronous: Bool) async throws {
        let directory = TemporaryDirectory()
        let file = try StorageFile.open(path: directory.path("test.realm"), options: StorageOptions())
        let system = System(refusals: 2)
        let scheduler = WriteScheduler(
            file: file,
            ioThread: DedicatedThread(name: "test-io", start: { try system.start($0) }),
            clock: HandClock().clock
        ) { _ in }
        // The second one comes right behind the first.
        let first = try scheduler.acquireBlocking(for: .none)
        scheduler.transactionBegins()
        let commit = try file.beginWrite().prepareCommit()
        _ = try scheduler.commitBlocking(commit, ending: first).get()
        let turn: WriteScheduler.Ticket
        if isSynchronous {
            turn = try scheduler.acquireBlocking(for: .none)
        } else {
            turn = try await scheduler.acquire(for: .none)
        }
        func mayOwe() -> Bool { isSynchronous ? scheduler.mayOwePages(turn) : scheduler.mayLeaveRecord(turn) }
        #expect(!mayOwe())
        #expect(!mayOwe())
        #expect(mayOwe())
        scheduler.finish(turn)
        withExtendedLifetime(directory) {}
    }
}
