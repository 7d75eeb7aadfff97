import ActorRealm
import Dispatch
import Foundation
import Testing

/// Knows nothing of actors, as a helper in any library does.
private func add(_ name: String, to configuration: Realm.Configuration) throws {
    let realm = try Realm(configuration: configuration)
    try realm.write { realm.add(Tally(name: name)) }
}

private func openHere(_ configuration: Realm.Configuration) throws -> Realm { try Realm(configuration: configuration) }

@Suite("There is one realm of a file in each place", .timeLimit(.minutes(60)))
struct OneRealmPerPlaceTests {
    let file = TestFile()

    actor Store {
        var realm: Realm!

        init(_ configuration: Realm.Configuration) async throws {
            realm = try await Realm(configuration: configuration, actor: self)
        }

        func helperOpensTheSame() throws -> Bool { try openHere(realm.configuration) === realm }

        func helperWrites(_ name: String) throws { try add(name, to: realm.configuration) }

        func helperWritesInside() throws -> (isSame: Bool, code: Realm.Error.Code?) {
            try realm.write {
                realm.add(Tally(name: "outer"))
                let inner = try openHere(realm.configuration)
                let isSame = inner === realm && inner.isInWriteTransaction
                return (isSame, code { try add("inner", to: realm.configuration) })
            }
        }

        func helperWritesInsideAsynchronously() async throws -> Realm.Error.Code? {
            try await realm.asyncWrite {
                realm.add(Tally(name: "asynchronous"))
                return code { try add("inner", to: realm.configuration) }
            }
        }

        func names() -> [String] { realm.objects(Tally.self).map(\.name) }
    }

    @Test("A helper without isolation gets the realm of the actor that calls it, and its write in a write is an error")
    func helpers() async throws {
        let store = try await Store(file.fast)
        #expect(try await store.helperOpensTheSame())
        try await store.helperWrites("before")
        let inside = try await store.helperWritesInside()
        #expect(inside.isSame)
        #expect(inside.code == .alreadyInWriteTransaction)
        #expect(try await store.helperWritesInsideAsynchronously() == .alreadyInWriteTransaction)
        #expect(await store.names() == ["before", "outer", "asynchronous"])
    }

    actor Bare {
        func open(_ configuration: Realm.Configuration) async throws -> (isSame: Bool, isLive: Bool) {
            let first = try openHere(configuration)
            let second = try await Realm(configuration: configuration, actor: self)
            try await second.asyncWrite { second.add(Tally(name: "a")) }
            return (first === second, first.objects(Tally.self).count == 1)
        }
    }

    @Test("The realm that a helper opened first is the actor's own")
    func helperFirst() async throws {
        let result = try await Bare().open(file.fast)
        #expect(result.isSame)
        #expect(result.isLive)
    }

    @Test("A helper on an executor of the program's own opens a realm there, which follows the file")
    func helperOnExecutor() async throws {
        let configuration = file.fast
        let guest = Guest(SharedExecutor())
        #expect(try await guest.openedByHelper(configuration))
        try withNewRealm(configuration) { realm in try realm.write { realm.add(Tally(name: "elsewhere")) } }
        while await guest.names().isEmpty { await Task.yield() }
        #expect(await guest.names() == ["elsewhere"])
    }

    @Test(
        "On a queue that a realm is open on, a helper gets that realm; in a task or on a thread the one that is open there"
    )
    func otherPlaces() async throws {
        let configuration = file.fast
        let queue = DispatchQueue(label: "place")
        let isQueueSame = try queue.sync {
            let realm = try Realm(configuration: configuration, queue: queue)
            let inside = try realm.write { code { try add("inner", to: configuration) } }
            return try openHere(configuration) === realm && inside == .alreadyInWriteTransaction
        }
        #expect(isQueueSame)
        let isThreadSame = await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                let realm = try! openHere(configuration)
                continuation.resume(returning: try! openHere(configuration) === realm)
            }
        }
        #expect(isThreadSame)
        let isTaskSame =
            try await Task.detached {
                let realm = try openHere(configuration)
                return try openHere(configuration) === realm
            }
            .value
        #expect(isTaskSame)
        let isWorkerSame = try DispatchQueue.global()
            .sync {
                let realm = try openHere(configuration)
                return try openHere(configuration) === realm
            }
        #expect(isWorkerSame)
    }

    @Test("The realm of a task is not found by the next task on the same thread")
    func nextTask() async throws {
        let configuration = file.fast
        for _ in 0..<50 {
            nonisolated(unsafe) let realm = try await Task.detached { Leaked(try openHere(configuration)) }.value.realm
            let isFound = try await Task.detached { try openHere(configuration) === realm }.value
            #expect(!isFound)
        }
    }

    // MARK: Executors

    final class SharedExecutor: SerialExecutor {
        private let queue = DispatchQueue(label: "shared executor")

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
        }
    }

    actor Guest {
        private let executor: SharedExecutor
        private var realm: Realm?

        init(_ executor: SharedExecutor) { self.executor = executor }

        nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

        func open(_ configuration: Realm.Configuration) async throws -> ObjectIdentifier {
            let realm = try await Realm(configuration: configuration, actor: self)
            self.realm = realm
            return ObjectIdentifier(realm)
        }

        func openedByHelper(_ configuration: Realm.Configuration) throws -> Bool {
            realm = try openHere(configuration)
            return realm?.objects(Tally.self).isEmpty ?? false
        }

        func names() -> [String] { realm?.objects(Tally.self).map(\.name) ?? [] }

        func begin() async throws -> Box<Realm.AsyncTransaction> {
            let transaction = try await realm!.beginAsyncWrite()
            realm!.add(Tally(name: "first"))
            return Box(transaction)
        }

        func commit(_ transaction: Box<Realm.AsyncTransaction>) async throws { try await transaction.value.commit() }

        func write(_ name: String) -> Realm.Error.Code? {
            code { try realm!.write { realm!.add(Tally(name: name)) } }
        }

        func asyncWrite(_ name: String) async throws {
            let realm = realm!
            try await realm.asyncWrite { realm.add(Tally(name: name)) }
        }
    }

    struct Box<Value>: @unchecked Sendable {
        let value: Value
        init(_ value: Value) { self.value = value }
    }

    @Test(
        "Two actors on one executor share a realm; a blocking write of one during the other's transaction is an error"
    )
    func sharedExecutor() async throws {
        let executor = SharedExecutor()
        let one = Guest(executor)
        let two = Guest(executor)
        #expect(try await one.open(file.fast) == two.open(file.fast))
        // One task has the transaction open, and another one writes.
        let transaction = try await one.begin()
        let code = await Task.detached { await two.write("blocked") }.value
        #expect(code == .alreadyInWriteTransaction)
        #expect(await Task.detached { await two.names() }.value.isEmpty)
        let queued = Task.detached { try await two.asyncWrite("queued") }
        try await one.commit(transaction)
        try await queued.value
        #expect(await two.write("after") == nil)
        #expect(await one.names() == ["first", "queued", "after"])
    }

    @Test("A realm that two actors share goes on when the one that opened it is gone")
    func survivor() async throws {
        let executor = SharedExecutor()
        let two = Guest(executor)
        do {
            let one = Guest(executor)
            _ = try await one.open(file.fast)
            _ = try await two.open(file.fast)
        }
        let configuration = file.fast
        try withNewRealm(configuration) { realm in try realm.write { realm.add(Tally(name: "elsewhere")) } }
        while await two.names().isEmpty { await Task.yield() }
        try await two.asyncWrite("more")
        #expect(await two.names() == ["elsewhere", "more"])
    }

    actor Owner {
        private var realm: Realm?

        func open(_ configuration: Realm.Configuration) async throws -> ObjectIdentifier {
            let realm = try await Realm(configuration: configuration, actor: self)
            self.realm = realm
            return ObjectIdentifier(realm)
        }

        func names() -> [String] { realm?.objects(Tally.self).map(\.name) ?? [] }

        func writeLater(_ name: String, _ done: @escaping @Sendable () -> Void) {
            guard let realm else { return }
            realm.writeAsync({ realm.add(Tally(name: name)) }, onComplete: { _ in done() })
        }
    }

    /// Runs on the executor of another actor.
    actor Rider {
        private let owner: Owner
        private var realm: Realm?

        init(_ owner: Owner) { self.owner = owner }

        nonisolated var unownedExecutor: UnownedSerialExecutor { owner.unownedExecutor }

        func open(_ configuration: Realm.Configuration) async throws -> ObjectIdentifier {
            let realm = try await Realm(configuration: configuration, actor: self)
            self.realm = realm
            return ObjectIdentifier(realm)
        }
    }

    /// Waits until something is so, with an end for where it never will be.
    private func soon(_ condition: () async -> Bool) async {
        for _ in 0..<2_000 {
            if await condition() { return }
            try? await Task.sleep(for: .milliseconds(5))
        }
    }

    @Test("The realm of an actor goes on when another one is gone that ran on its executor and opened it first")
    func survivingOwner() async throws {
        let configuration = file.fast
        let owner = Owner()
        weak var former: Rider?
        do {
            let rider = Rider(owner)
            former = rider
            let first = try await rider.open(configuration)
            let second = try await owner.open(configuration)
            #expect(first == second)
        }
        while former != nil { await Task.yield() }
        try withNewRealm(configuration) { realm in try realm.write { realm.add(Tally(name: "elsewhere")) } }
        await soon { await !owner.names().isEmpty }
        #expect(await owner.names() == ["elsewhere"])
        let done = Counter()
        await owner.writeLater("later") { done.increment() }
        await soon { done.value > 0 }
        #expect(done.value == 1)
        #expect(await owner.names() == ["elsewhere", "later"])
    }

    // MARK: Queues

    @available(*, deprecated)
    @Test("A concurrent queue is refused with the remedy; a serial one that targets it is not")
    func concurrentQueues() async throws {
        let configuration = file.fast
        let concurrent = DispatchQueue(label: "crowd", attributes: .concurrent)
        for queue in [concurrent, DispatchQueue.global(), .global(qos: .background)] {
            #expect(throws: Realm.Error(.wrongIsolation, fileURL: configuration.fileURL)) {
                try queue.sync { try Realm(configuration: configuration, queue: queue) }
            }
            let error: String = await withCheckedContinuation { continuation in
                Realm.asyncOpen(configuration: configuration, callbackQueue: queue) { result in
                    switch result {
                    case .success: continuation.resume(returning: "")
                    case .failure(let error): continuation.resume(returning: "\(error)")
                    }
                }
            }
            #expect(error.contains("serial queue"), "\(error)")
        }
        for queue in [
            DispatchQueue(label: "one"), DispatchQueue(label: "two", qos: .background),
            DispatchQueue(label: "three", target: concurrent), DispatchQueue(label: "com.apple.main-thread"),
        ] {
            try queue.sync {
                let realm = try Realm(configuration: configuration, queue: queue)
                #expect(realm.objects(Tally.self).isEmpty)
            }
        }
    }
}

/// A realm that is taken elsewhere, as only unchecked code can.
private struct Leaked: @unchecked Sendable {
    let realm: Realm
    init(_ realm: Realm) { self.realm = realm }
}

/// The code of the error that is thrown; nil when none is.
private func code(_ body: () throws -> Void) -> Realm.Error.Code? {
    do {
        try body()
        return nil
    } catch {
        return (error as? Realm.Error)?.code ?? .fail
    }
}
