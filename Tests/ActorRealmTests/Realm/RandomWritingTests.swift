import Foundation
import RealmTestSupport
import Synchronization
import Testing

@testable import ActorRealm

/// Random writes in every form, each by itself and all beside each other: what was acknowledged is there, and nothing else.
@Suite("Whatever the forms of writing and their ends are mixed into", .timeLimit(.minutes(60)))
struct RandomWritingTests {
    /// A form of writing, with a block that may end the transaction itself.
    enum Form: CaseIterable {
        case write, begin, asyncWrite, writeAsync, beginAsync, twoSteps, nested, throwing, cancelled, withdrawn

        /// Whether it blocks its thread until its turn has come.
        var blocks: Bool { self == .write || self == .begin || self == .nested }
    }

    /// How a transaction ends that its block or its task ends itself.
    enum Ending: CaseIterable {
        case open, commit, commitAsync, cancel, cancelAndAgain
    }

    struct Refused: Error {}

    /// What a writer writes with, and which of its rows must be there.
    final class Desk {
        let realm: Realm
        var acknowledged: Set<String> = []
        /// What the blocks of callback forms say of their rows.
        var outcomes: [String: Bool] = [:]
        var random: SplitMix64

        init(_ realm: Realm, seed: UInt64) {
            self.realm = realm
            random = SplitMix64(seed: seed)
        }
    }

    /// An actor of Swift's pool.
    actor PoolWriter: RandomWriter {
        static let hasOwnThread = false
        var desk: Desk!
    }

    /// An actor with a thread of its own.
    actor ThreadWriter: RandomWriter {
        static let hasOwnThread = true
        var desk: Desk!
        private let thread = DedicatedThread(name: "random-writer")

        nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }
    }

    private func check(_ configuration: Realm.Configuration, tasks: Int, steps: Int, _ seed: UInt64) async throws {
        let writers: [any RandomWriter] = [PoolWriter(), ThreadWriter(), PoolWriter(), ThreadWriter()]
        for (index, writer) in writers.enumerated() {
            try await writer.open(configuration, seed: seed &+ UInt64(index))
        }
        await withTaskGroup { group in
            for task in 0..<tasks {
                let writer = writers[task % writers.count]
                group.addTask { await writer.run("\(task)", count: steps, seed: seed &+ UInt64(task) &* 7919) }
            }
        }
        var acknowledged: Set<String> = []
        for writer in writers { acknowledged.formUnion(await writer.settle()) }
        let there = try withNewRealm(configuration) { Set($0.objects(Tally.self).map(\.name)) }
        #expect(acknowledged.subtracting(there).sorted() == [], "lost, seed \(seed)")
        #expect(there.subtracting(acknowledged).sorted() == [], "not acknowledged, seed \(seed)")
        #expect(there.count > tasks * steps / 4, "seed \(seed)")
        try withNewRealm(configuration) { try $0.verify() }
    }

    @Test("one after the other", arguments: 0..<4)
    func alone(round: Int) async throws {
        let file = TestFile()
        let seed = UInt64.random(in: 0..<(1 << 32))
        try await check(round.isMultiple(of: 2) ? file.configuration : file.fast, tasks: 4, steps: 100, seed)
    }

    @Test("all beside each other", arguments: 0..<4)
    func together(round: Int) async throws {
        let file = TestFile()
        let seed = UInt64.random(in: 0..<(1 << 32))
        try await check(round.isMultiple(of: 2) ? file.configuration : file.fast, tasks: 24, steps: 40, seed)
    }
}

/// Writes rows whose names say what became of them.
protocol RandomWriter: Actor {
    var desk: RandomWritingTests.Desk! { get set }
    /// Whether it may block its thread while others need one of the pool.
    static var hasOwnThread: Bool { get }
}

extension RandomWriter {
    typealias Form = RandomWritingTests.Form
    typealias Ending = RandomWritingTests.Ending

    private var realm: Realm { desk.realm }

    func open(_ configuration: Realm.Configuration, seed: UInt64) async throws {
        desk = RandomWritingTests.Desk(try await Realm(configuration: configuration, actor: self), seed: seed)
    }

    private func put(_ name: String) { realm.create(Tally.self, value: ["name": name]) }

    /// Ends the transaction that is open; what it says is whether the row is there, which a commit in the background may
    /// still undo.
    private func end(_ ending: Ending, _ name: String) throws -> Bool? {
        switch ending {
        case .open: return nil
        case .commit:
            try realm.commitWrite()
            return true
        case .commitAsync:
            realm.commitAsyncWrite()
            return true
        case .cancel:
            realm.cancelWrite()
            return false
        case .cancelAndAgain:
            realm.cancelWrite()
            try realm.beginWriteTransaction()
            put(name)
            try realm.commitWrite()
            return true
        }
    }

    /// Calls something that tells its end, and waits for that.
    private func completion(_ body: (_ done: @escaping ((any Error)?) -> Void) -> Void) async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            body { error in
                if let error { continuation.resume(throwing: error) } else { continuation.resume() }
            }
        }
    }

    /// Writes one row in some way; true when it must be there.
    private func write(_ name: String, _ form: Form, _ ending: Ending) async throws -> Bool {
        switch form {
        case .write:
            return try realm.write {
                put(name)
                return try end(ending, name) ?? true
            }
        case .begin:
            try realm.beginWriteTransaction()
            put(name)
            guard let isThere = try end(ending, name) else {
                try await completion { realm.commitAsyncWrite(allowGrouping: true, $0) }
                return true
            }
            return isThere
        case .asyncWrite:
            return try await realm.asyncWrite {
                put(name)
                return try end(ending, name) ?? true
            }
        case .writeAsync:
            try await completion { done in
                realm.writeAsync {
                    self.put(name)
                    do { self.desk.outcomes[name] = try self.end(ending, name) ?? true } catch { Issue.record(error) }
                } onComplete: {
                    done($0)
                }
            }
            return desk.outcomes[name] ?? false
        case .beginAsync:
            try await completion { done in
                realm.beginAsyncWrite {
                    self.put(name)
                    do { self.desk.outcomes[name] = try self.end(ending, name) ?? false } catch { Issue.record(error) }
                    done(nil)
                }
            }
            return desk.outcomes[name] ?? false
        case .twoSteps:
            let transaction = try await realm.beginAsyncWrite()
            put(name)
            // Whoever waits here for a thread of the pool, as Task.yield() does on any actor, may wait for those that block
            // behind this transaction.
            if Self.hasOwnThread {
                await withCheckedContinuation { continuation in
                    Thread.detachNewThread { continuation.resume() }
                }
            }
            switch ending {
            case .open: return false
            case .cancel:
                transaction.cancel()
                return false
            case .commit, .commitAsync, .cancelAndAgain:
                try await transaction.commit()
                return true
            }
        case .nested:
            return try realm.write {
                put(name)
                #expect(throws: Realm.Error(.alreadyInWriteTransaction, fileURL: realm.configuration.fileURL)) {
                    try realm.write {}
                }
                return true
            }
        case .throwing:
            try await realm.asyncWrite {
                put(name)
                throw RandomWritingTests.Refused()
            }
            return true
        case .cancelled:
            let task = Task { try await self.realm.asyncWrite { self.put(name) } }
            for _ in 0..<Int.random(in: 0..<20, using: &desk.random) { await Task.yield() }
            task.cancel()
            try await task.value
            return true
        case .withdrawn:
            let number = realm.beginAsyncWrite { Issue.record("\(name) was withdrawn") }
            try realm.cancelAsyncWrite(number)
            return false
        }
    }

    /// Writes in random ways, one after the other.
    func run(_ label: String, count: Int, seed: UInt64) async {
        var random = SplitMix64(seed: seed)
        for step in 0..<count {
            // Threads of the pool are not blocked here: each time that costs the others some hundredths of a second.
            let form = Form.allCases.filter { Self.hasOwnThread || !$0.blocks }.randomElement(using: &random)!
            let ending = Ending.allCases.filter { Self.hasOwnThread || $0 != .cancelAndAgain }
                .randomElement(using: &random)!
            let name = "\(label).\(step) \(form) \(ending)"
            // What throws is not there.
            if (try? await write(name, form, ending)) == true { desk.acknowledged.insert(name) }
            if Int.random(in: 0..<10, using: &random) == 0 { await realm.asyncRefresh() }
        }
    }

    /// Waits for what was left to the background; whether everything came to its end.
    func settle() async -> Set<String> {
        while realm.isPerformingAsynchronousWriteOperations { await Task.yield() }
        return desk.acknowledged
    }
}
