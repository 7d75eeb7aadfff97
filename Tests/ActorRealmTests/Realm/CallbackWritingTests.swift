import Foundation
import RealmTestSupport
import Testing

@testable import ActorRealm

@Suite("Writes of callback form end as their blocks say, and tell when", .timeLimit(.minutes(60)))
@MainActor
struct CallbackWritingTests {
    let file = TestFile()

    /// How a block ends its own transaction.
    enum Ending: CaseIterable, CustomTestStringConvertible {
        case nothing, commit, cancel, commitAsync, cancelAndAgain, commitAndBegin, commitAsyncAndBegin

        var testDescription: String { "\(self)" }

        @MainActor
        func end(_ realm: Realm) throws {
            switch self {
            case .nothing: break
            case .commit: try realm.commitWrite()
            case .cancel: realm.cancelWrite()
            case .commitAsync: realm.commitAsyncWrite()
            case .cancelAndAgain:
                realm.cancelWrite()
                realm.beginWrite()
                realm.create(Tally.self, value: ["name": "again"])
                try realm.commitWrite()
            case .commitAndBegin, .commitAsyncAndBegin:
                if self == .commitAndBegin { try realm.commitWrite() } else { realm.commitAsyncWrite() }
                realm.beginWrite()
                realm.create(Tally.self, value: ["name": "again"])
            }
        }

        /// What is there afterwards, when a block that returns commits or not.
        func names(whenReturningCommits commits: Bool) -> [String] {
            switch self {
            case .nothing: commits ? ["written"] : []
            case .commit, .commitAsync: ["written"]
            case .cancel: []
            case .cancelAndAgain: ["again"]
            case .commitAndBegin, .commitAsyncAndBegin: commits ? ["written", "again"] : ["written"]
            }
        }
    }

    private func names(_ realm: Realm) -> [String] { realm.objects(Tally.self).map(\.name) }

    private func writeAndWait(_ realm: Realm, _ block: @escaping () -> Void = {}) async -> (any Error)? {
        await withCheckedContinuation { continuation in
            realm.writeAsync(block) { continuation.resume(returning: $0) }
        }
    }

    @Test(
        "A block may end its own transaction in every form; what it left open is committed, or rolled back",
        arguments: Ending.allCases
    )
    func ownEnding(ending: Ending) async throws {
        for commits in [true, false] {
            let file = TestFile()
            let realm = try await Realm(configuration: file.fast)
            var calls = 0
            if commits {
                let error = await writeAndWait(realm) {
                    calls += 1
                    realm.create(Tally.self, value: ["name": "written"])
                    #expect(throws: Never.self) { try ending.end(realm) }
                }
                #expect(error == nil)
            } else {
                realm.beginAsyncWrite {
                    calls += 1
                    realm.create(Tally.self, value: ["name": "written"])
                    #expect(throws: Never.self) { try ending.end(realm) }
                }
            }
            #expect(await writeAndWait(realm) == nil)
            #expect(calls == 1)
            #expect(names(realm) == ending.names(whenReturningCommits: commits))
            #expect(!realm.isInWriteTransaction)
            while realm.isPerformingAsynchronousWriteOperations { await Task.yield() }
        }
    }

    @Test(
        "The blocks of write and asyncWrite may end their transactions in every form, too",
        arguments: Ending.allCases
    )
    func otherForms(ending: Ending) async throws {
        let realm = try await Realm(configuration: file.fast)
        try realm.write {
            realm.create(Tally.self, value: ["name": "written"])
            try ending.end(realm)
        }
        while realm.isPerformingAsynchronousWriteOperations { await Task.yield() }
        #expect(names(realm) == ending.names(whenReturningCommits: true))
        try await realm.asyncWrite { realm.deleteAll() }
        try await realm.asyncWrite {
            realm.create(Tally.self, value: ["name": "written"])
            try ending.end(realm)
        }
        while realm.isPerformingAsynchronousWriteOperations { await Task.yield() }
        #expect(names(realm) == ending.names(whenReturningCommits: true))
    }

    /// A realm whose flushes wait, and the gate that lets them go on.
    private func gatedRealm() async throws -> (Realm, GatedDevice.Control) {
        let control = GatedDevice.Control()
        var configuration = file.configuration
        configuration.makeDevice = { GatedDevice($0, control) }
        return (try await Realm(configuration: configuration), control)
    }

    @Test(
        "The completion of a write whose block began the commit itself waits until that is durable, behind the commit's own"
    )
    func durableCompletion() async throws {
        let (realm, gate) = try await gatedRealm()
        var log: [String] = []
        gate.close()
        let done = AsyncStream<Void>.makeStream()
        realm.writeAsync {
            realm.create(Tally.self, value: ["name": "a"])
            realm.commitAsyncWrite { error in log.append("commit \(error == nil)") }
            log.append("block")
        } onComplete: { error in
            log.append("write \(error == nil)")
            done.continuation.finish()
        }
        while log.isEmpty { await Task.yield() }
        while !gate.isHolding { await Task.yield() }
        // Whatever was posted to the actor has run then; the device is still held up.
        await realm.passTurns()
        #expect(log == ["block"])
        #expect(realm.isPerformingAsynchronousWriteOperations)
        gate.open()
        for await _ in done.stream {}
        #expect(log == ["block", "commit true", "write true"])
        #expect(!realm.isPerformingAsynchronousWriteOperations)
    }

    @Test("The number of a commit cancels its completion block and nothing else")
    func cancelledCompletion() async throws {
        let (realm, gate) = try await gatedRealm()
        var isCalled = false
        gate.close()
        realm.beginWrite()
        realm.create(Tally.self, value: ["name": "kept"])
        let number = realm.commitAsyncWrite(allowGrouping: true) { _ in isCalled = true }
        try realm.cancelAsyncWrite(number)
        gate.open()
        #expect(await writeAndWait(realm) == nil)
        #expect(names(realm) == ["kept"])
        #expect(!isCalled)
    }

    /// A realm that loses what it commits from here on, and the failures in its log that nobody else was told of.
    private func failingRealm(_ file: TestFile? = nil) async throws -> (Realm, log: Journal<String>) {
        let (control, log) = (FailingDevice.Switch(), Journal<String>())
        var configuration = (file ?? self.file).configuration
        configuration.makeDevice = { FailingDevice($0, control) }
        configuration.logger = Logger(level: .error) { _, message in
            if message.contains("An asynchronous write failed, and no block") { log.add(message) }
        }
        let realm = try await Realm(configuration: configuration)
        control.isOn.withLock { $0 = true }
        return (realm, log)
    }

    @Test(
        "The failure of a commit whose completion block was cancelled is a line of the log",
        arguments: [true, false]
    )
    func cancelledFailure(isInBlock: Bool) async throws {
        let (realm, log) = try await failingRealm()
        if isInBlock {
            realm.writeAsync {
                realm.create(Tally.self, value: ["name": "lost"])
                #expect(throws: Never.self) {
                    try realm.cancelAsyncWrite(realm.commitAsyncWrite { _ in Issue.record() })
                }
            }
        } else {
            realm.beginWrite()
            realm.create(Tally.self, value: ["name": "lost"])
            try realm.cancelAsyncWrite(realm.commitAsyncWrite { _ in Issue.record() })
        }
        while realm.isPerformingAsynchronousWriteOperations { await Task.yield() }
        #expect(log.entries.count == 1, "\(log.entries)")
    }

    /// How a write ends that is made inside another one, and has lost what it committed.
    enum Inner: CaseIterable {
        case returns, throwsAnother

        struct Other: Error {}

        /// - Returns: what the write throws.
        @MainActor
        func write(_ realm: Realm) -> (any Error)? {
            realm.cancelWrite()
            do {
                try realm.write {
                    realm.create(Tally.self, value: ["name": "lost"])
                    realm.commitAsyncWrite()
                    if self == .throwsAnother { throw Other() }
                }
                Issue.record("a write that has lost its commit returned")
                return nil
            } catch {
                return error
            }
        }
    }

    @Test(
        "A lost commit of a write inside another one is thrown by one of the two, told to a block, or logged",
        arguments: Inner.allCases
    )
    func failureBehindAnother(inner: Inner) async throws {
        for form in 0..<4 {
            let file = TestFile()
            let (realm, log) = try await failingRealm(file)
            var thrown: (any Error)?
            var told = 0
            switch form {
            case 0: realm.writeAsync { thrown = inner.write(realm) }
            case 1: realm.beginAsyncWrite { thrown = inner.write(realm) }
            case 2:
                _ = await writeAndWait(realm) { thrown = inner.write(realm) }.map { _ in told += 1 }
            default:
                do {
                    try await realm.asyncWrite { thrown = inner.write(realm) }
                } catch {
                    told += 1
                }
            }
            while realm.isPerformingAsynchronousWriteOperations { await Task.yield() }
            let isThrown = thrown is Realm.Error
            let isSaid = isThrown || told == 1
            #expect(log.entries.count == (isSaid ? 0 : 1) && told <= 1, "\(inner) \(form): \(log.entries)")
            #expect(isThrown == (inner != .throwsAnother), "\(inner) \(form): \(String(describing: thrown))")
            #expect(form < 2 || told == 1 || inner != .throwsAnother, "\(inner) \(form)")
        }
    }

    @Test(
        "What a block commits behind the close of its realm is thrown, and not logged as well, or written",
        arguments: [true, false]
    )
    func closedByBlock(isThrown: Bool) async throws {
        let log = Journal<String>()
        var configuration = file.configuration
        configuration.logger = Logger(level: .error) { _, message in log.add(message) }
        let realm = try await Realm(configuration: configuration)
        if isThrown {
            #expect(throws: Realm.Error.self) {
                try realm.write {
                    realm.create(Tally.self, value: ["name": "lost"])
                    realm.close()
                    realm.commitAsyncWrite()
                }
            }
        } else {
            realm.writeAsync {
                realm.create(Tally.self, value: ["name": "lost"])
                realm.close()
                realm.commitAsyncWrite()
            }
        }
        while realm.isPerformingAsynchronousWriteOperations { await Task.yield() }
        // A close waits for writes of callback form: then nothing is lost.
        let written = names(try await Realm(configuration: configuration))
        #expect(written == (isThrown ? [] : ["lost"]) && log.entries.isEmpty, "\(log.entries)")
    }

    @Test("A failure that somebody is told of is no line of the log, in every form", arguments: 0..<4)
    func toldFailure(form: Int) async throws {
        let (realm, log) = try await failingRealm()
        var told = 0
        let tell: ((any Error)?) -> Void = { if $0 != nil { told += 1 } }
        switch form {
        case 0:
            realm.writeAsync {
                realm.create(Tally.self, value: ["name": "lost"])
                realm.commitAsyncWrite()
            } onComplete: {
                tell($0)
            }
        case 1:
            realm.writeAsync {
                realm.create(Tally.self, value: ["name": "lost"])
                realm.commitAsyncWrite(tell)
            }
        case 2:
            realm.writeAsync {
                realm.create(Tally.self, value: ["name": "lost"])
                realm.commitAsyncWrite(tell)
                realm.beginWrite()
                realm.cancelWrite()
            }
        default:
            do {
                try realm.write {
                    realm.create(Tally.self, value: ["name": "lost"])
                    realm.commitAsyncWrite()
                }
            } catch { tell(error) }
        }
        while realm.isPerformingAsynchronousWriteOperations { await Task.yield() }
        #expect(told == 1 && log.entries.isEmpty, "\(log.entries)")
    }

    @Test("The number of a write in its own block, and behind its end, cancels nothing")
    func lateCancellation() async throws {
        let realm = try await Realm(configuration: file.fast)
        var number: AsyncTransactionId = 0
        let error = await withCheckedContinuation { (continuation: CheckedContinuation<(any Error)?, Never>) in
            number = realm.writeAsync {
                #expect(throws: Never.self) { try realm.cancelAsyncWrite(number) }
                realm.create(Tally.self, value: ["name": "kept"])
            } onComplete: {
                continuation.resume(returning: $0)
            }
        }
        #expect(error == nil)
        try realm.cancelAsyncWrite(number)
        #expect(names(realm) == ["kept"])
    }

    @Test("A flush that fails reaches the completion of a write whose block began the commit itself")
    func failingFlush() async throws {
        let control = FailingDevice.Switch()
        var configuration = file.configuration
        configuration.makeDevice = { FailingDevice($0, control) }
        let realm = try await Realm(configuration: configuration)
        control.isOn.withLock { $0 = true }
        let error = await writeAndWait(realm) {
            realm.create(Tally.self, value: ["name": "lost"])
            realm.commitAsyncWrite()
        }
        #expect(error is Realm.Error)
        #expect(names(realm).isEmpty)
    }

    @Test("Each form of write can leave out observers, and the next one is told alone")
    func withoutNotifying() async throws {
        let realm = try await Realm(configuration: file.fast)
        var told: [[String]] = []
        let token = realm.objects(Tally.self)
            .observe { change in
                if case .update(let tallies, _, let insertions, _) = change {
                    told.append(insertions.map { tallies[$0].name })
                }
            }
        await realm.asyncRefresh()
        func create(_ name: String) { realm.create(Tally.self, value: ["name": name]) }
        let forms: [(String, () async throws -> Void)] = [
            ("a", { try realm.write(withoutNotifying: [token]) { create("a") } }),
            ("b", { try realm.write(timeout: .seconds(1_800), withoutNotifying: [token]) { create("b") } }),
            (
                "c",
                {
                    realm.beginWrite()
                    create("c")
                    try realm.commitWrite(withoutNotifying: [token])
                }
            ),
            ("d", { try await realm.asyncWrite(withoutNotifying: [token]) { create("d") } }),
            (
                "e",
                { try await realm.asyncWrite(timeout: .seconds(1_800), withoutNotifying: [token]) { create("e") } }
            ),
            (
                "f",
                {
                    let transaction = try await realm.beginAsyncWrite()
                    create("f")
                    try await transaction.commit(withoutNotifying: [token])
                }
            ),
            (
                "g",
                {
                    await withCheckedContinuation { continuation in
                        realm.writeAsync(withoutNotifying: [token]) {
                            create("g")
                        } onComplete: { _ in
                            continuation.resume()
                        }
                    }
                }
            ),
            (
                "h",
                {
                    await withCheckedContinuation { continuation in
                        realm.beginAsyncWrite {
                            create("h")
                            realm.commitAsyncWrite(withoutNotifying: [token]) { _ in continuation.resume() }
                        }
                    }
                }
            ),
            (
                "i",
                {
                    await withCheckedContinuation { continuation in
                        realm.beginWrite()
                        create("i")
                        realm.commitAsyncWrite(isGroupingAllowed: true, withoutNotifying: [token]) { _ in
                            continuation.resume()
                        }
                    }
                }
            ),
        ]
        for (name, write) in forms {
            try await write()
            try await realm.asyncWrite { create("\(name), told") }
            await realm.asyncRefresh()
            #expect(told.last == ["\(name), told"], "written as \(name)")
        }
        #expect(told.count == forms.count)
        #expect(realm.objects(Tally.self).count == 2 * forms.count)
        token.invalidate()
    }

    @Test("The writer that a time-out names is the line of the program, of callback forms too")
    func holder() async throws {
        let realm = try await Realm(configuration: file.fast)
        let configuration = file.fast
        let lines: [(String, () -> Void)] = [
            ("\(#line)", { realm.writeAsync { Self.holdUp(configuration) } }),
            ("\(#line)", { realm.beginAsyncWrite { Self.holdUp(configuration) } }),
        ]
        for (line, write) in lines {
            Self.message = ""
            write()
            #expect(await writeAndWait(realm) == nil)
            #expect(Self.message.contains("CallbackWritingTests.swift:\(line)"), "\(Self.message)")
        }
    }

    private static var message = ""

    /// Inside a write: has another thread ask for a turn, and notes the error that it gets.
    private static func holdUp(_ configuration: Realm.Configuration) {
        let journal = Journal<String>()
        let thread = Thread {
            do {
                try Realm(configuration: configuration).write(timeout: .milliseconds(10)) {}
                journal.add("no error")
            } catch {
                journal.add("\(error)")
            }
        }
        thread.start()
        while journal.entries.isEmpty { usleep(1_000) }
        message = journal.entries[0]
    }
}
