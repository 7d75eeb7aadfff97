import Foundation
import RealmTestSupport
import Testing

@testable import ActorRealm

/// What a block may do to its realm beside writing.
@Suite("A block that ends its realm's transaction is told of it", .timeLimit(.minutes(60)))
struct WriteBlockActionTests {
    let file = TestFile()

    enum Form: String, CaseIterable { case write, asyncWrite, writeAsync, twoSteps }
    enum Action: String, CaseIterable { case invalidate, close }

    actor Store {
        var realm: Realm!
        private let configuration: Realm.Configuration

        init(_ configuration: Realm.Configuration) async throws {
            self.configuration = configuration
            realm = try await Realm(configuration: configuration, actor: self)
        }

        func names() throws -> [String] {
            try Realm(configuration: configuration).objects(Tally.self).map(\.name).sorted()
        }
        func write(_ name: String) async throws { try await realm.asyncWrite { make(name) } }
        func make(_ name: String) { realm.create(Tally.self, value: ["name": name, "count": 1]) }

        func heldNames() throws -> [String] { realm.objects(Tally.self).map(\.name).sorted() }

        /// Writes with a block that begins to commit itself; what the realm has then.
        func writeCommitting(_ name: String, suspends: Bool) async throws -> [String] {
            func body() {
                make(name)
                realm.commitAsyncWrite()
            }
            if suspends { try await realm.asyncWrite(body) } else { try realm.write(body) }
            return try heldNames()
        }

        private func end(_ action: Action) {
            switch action {
            case .invalidate: realm.invalidate()
            case .close: realm.close()
            }
        }

        /// Writes, and ends the realm in the block.
        func write(_ form: Form, endingWith action: Action) async -> (any Error)? {
            func body() {
                make("never")
                end(action)
            }
            do {
                switch form {
                case .write: try realm.write(body)
                case .asyncWrite: try await realm.asyncWrite(body)
                case .twoSteps:
                    let transaction = try await realm.beginAsyncWrite()
                    body()
                    try await transaction.commit()
                case .writeAsync:
                    return await withCheckedContinuation { continuation in
                        realm.writeAsync({
                            self.make("never")
                            self.end(action)
                        }) { continuation.resume(returning: $0) }
                    }
                }
                return nil
            } catch {
                return error
            }
        }

        var isWriting: Bool { realm.isInWriteTransaction }

        func write(_ name: String, within timeout: Duration) async throws {
            try await realm.asyncWrite(timeout: timeout) { make(name) }
        }

        /// Writes with a block that invalidates the realm, and begins anew.
        func writeBeginningAnew(_ form: Form, throws isThrowing: Bool) async -> (any Error)? {
            struct Refused: Error {}
            func body() throws {
                make("never")
                realm.invalidate()
                try realm.beginWriteTransaction()
                make("never either")
                if isThrowing { throw Refused() }
            }
            do {
                switch form {
                case .write: try realm.write(body)
                case .asyncWrite: try await realm.asyncWrite(body)
                case .twoSteps: break
                case .writeAsync:
                    return await withCheckedContinuation { continuation in
                        realm.writeAsync({
                            self.make("never")
                            self.realm.invalidate()
                            self.realm.beginWrite()
                            self.make("never either")
                        }) { continuation.resume(returning: $0) }
                    }
                }
                return nil
            } catch {
                return error
            }
        }

        /// Whether a transaction that was lost is kept until the program ends it.
        var keepsLostTransaction: Bool { realm.core.hasLostTransaction }

        /// Ends the transaction of a block, begins another one, and ends the realm in that.
        private func loseAnotherOne(isKeeping: Bool, isInvalidatingTwice: Bool) throws {
            make(isKeeping ? "kept" : "never")
            if isKeeping { try realm.commitWrite() } else { realm.cancelWrite() }
            if isInvalidatingTwice { realm.invalidate() }
            try realm.beginWriteTransaction()
            make("lost")
            realm.invalidate()
        }

        /// Writes with a block that loses a transaction which it has begun itself.
        func writeLosingAnotherOne(_ form: Form, isKeeping: Bool, isInvalidatingTwice: Bool) async -> (any Error)? {
            do {
                switch form {
                case .write:
                    try realm.write {
                        try loseAnotherOne(isKeeping: isKeeping, isInvalidatingTwice: isInvalidatingTwice)
                    }
                case .asyncWrite:
                    try await realm.asyncWrite {
                        try loseAnotherOne(isKeeping: isKeeping, isInvalidatingTwice: isInvalidatingTwice)
                    }
                case .twoSteps: break
                case .writeAsync:
                    return await withCheckedContinuation { continuation in
                        realm.writeAsync({
                            do {
                                try self.loseAnotherOne(isKeeping: isKeeping, isInvalidatingTwice: isInvalidatingTwice)
                            } catch {
                                Issue.record(error)
                            }
                        }) { continuation.resume(returning: $0) }
                    }
                }
                return nil
            } catch {
                return error
            }
        }

        func copy(to url: URL) async -> Realm.Error.Code? {
            do {
                try await realm.asyncWrite {
                    make("copied \(url.lastPathComponent)")
                    try realm.writeCopy(toFile: url)
                }
                return nil
            } catch {
                return (error as? Realm.Error)?.code
            }
        }

        /// Writes in a block that catches the error of a copy, and gives its code.
        func writeCatchingCopy(to url: URL) async throws -> Realm.Error.Code? {
            try await realm.asyncWrite {
                make("before")
                do {
                    try realm.writeCopy(toFile: url)
                    return nil
                } catch {
                    make("behind")
                    return (error as? Realm.Error)?.code
                }
            }
        }

        func copyBlocking(to url: URL) throws { try realm.write { try realm.writeCopy(toFile: url) } }
    }

    @Test(
        "a write whose block rolled it back by ending the realm throws, unless closing waits for it",
        arguments: Form.allCases,
        Action.allCases
    )
    func ended(form: Form, action: Action) async throws {
        let store = try await Store(file.configuration)
        let error = await store.write(form, endingWith: action) as? Realm.Error
        // A realm that is closed in an asynchronous write closes behind it.
        if action == .close, form == .asyncWrite || form == .writeAsync {
            #expect(error == nil)
            #expect(try await store.names() == ["never"])
            return
        }
        #expect(error != nil)
        #expect(try await store.names() == [])
    }

    @Test(
        "What a block begins anew behind the realm that it has invalidated ends with the write, which throws",
        arguments: [Form.write, .asyncWrite, .writeAsync],
        [true, false]
    )
    func begunAnew(form: Form, throws isThrowing: Bool) async throws {
        let store = try await Store(file.configuration)
        let error = await store.writeBeginningAnew(form, throws: isThrowing)
        #expect(error != nil)
        #expect(await !store.isWriting)
        #expect(try await store.names() == [])
        // The turn is anybody's.
        let other = try await Store(file.configuration)
        try await other.write("other", within: .seconds(30))
        try await store.write("own", within: .seconds(30))
        #expect(try await store.names() == ["other", "own"])
    }

    @Test(
        "A write throws where its block loses a transaction that it has begun itself, and keeps nothing of that",
        arguments: [Form.write, .asyncWrite, .writeAsync],
        [true, false]
    )
    func lostAnotherOne(form: Form, isInvalidatingTwice: Bool) async throws {
        let store = try await Store(file.configuration)
        for isKeeping in [false, true] {
            let error = await store.writeLosingAnotherOne(
                form,
                isKeeping: isKeeping,
                isInvalidatingTwice: isInvalidatingTwice
            )
            #expect((error as? Realm.Error)?.code == .closed, "\(isKeeping)")
            #expect(await !store.keepsLostTransaction)
            #expect(try await store.names() == (isKeeping ? ["kept"] : []))
        }
        try await store.write("later", within: .seconds(30))
        #expect(try await store.names() == ["kept", "later"])
    }

    @Test(
        "What a block writes on where it has lost a transaction that it has begun itself goes nowhere, and it may cancel that"
    )
    func writingOn() async {
        await #expect(processExitsWith: .success) {
            let file = TestFile()
            try withNewRealm(file.fast) { realm in
                let error = #expect(throws: Realm.Error.self) {
                    try realm.write {
                        realm.add(Tally(name: "kept"))
                        try realm.commitWrite()
                        try realm.beginWriteTransaction()
                        realm.invalidate()
                        realm.add(Tally(name: "lost"))
                        realm.cancelWrite()
                    }
                }
                #expect(error?.code == .closed)
                let names = Array(realm.objects(Tally.self).map(\.name))
                #expect(names == ["kept"])
                #expect(!realm.core.hasLostTransaction)
            }
            withExtendedLifetime(file) {}
        }
    }

    @Test("writeCopy in the block of asyncWrite says where it works, whoever else writes", arguments: [200, 0])
    func copying(otherWrites: Int) async throws {
        let directory = TemporaryDirectory()
        let store = try await Store(file.configuration)
        let other = try await Store(file.configuration)
        let writers = Task {
            for index in 0..<otherWrites where !Task.isCancelled { try await other.write("other \(index)") }
        }
        var codes: [Realm.Error.Code?] = []
        for index in 0..<20 {
            codes.append(await store.copy(to: URL(fileURLWithPath: directory.path("copy\(index).realm"))))
        }
        writers.cancel()
        try await writers.value
        // Whether it works must not depend on who else writes.
        #expect(Set(codes) == [.alreadyInWriteTransaction])
        try await store.copyBlocking(to: URL(fileURLWithPath: directory.path("blocking.realm")))
    }

    @Test("A block of asyncWrite that catches the error of writeCopy is committed, and no copy is there")
    func caughtCopy() async throws {
        let directory = TemporaryDirectory()
        let url = URL(fileURLWithPath: directory.path("copy.realm"))
        let store = try await Store(file.configuration)
        #expect(try await store.writeCatchingCopy(to: url) == .alreadyInWriteTransaction)
        let other = try await Store(file.configuration)
        #expect(try await store.heldNames() == ["before", "behind"])
        #expect(try await other.heldNames() == ["before", "behind"])
        #expect(!FileManager.default.fileExists(atPath: url.path))
        try await store.write("later")
        try await store.copyBlocking(to: url)
    }

    @Test("A write whose block commits in the background returns when that is durable", arguments: [true, false])
    func committing(suspends: Bool) async throws {
        let store = try await Store(file.configuration)
        for index in 0..<20 {
            let names = try await store.writeCommitting("\(index)", suspends: suspends)
            #expect(names.count == index + 1)
        }
    }

    @Test("A write whose block commits in the background throws where that commit is lost", arguments: [true, false])
    func losing(suspends: Bool) async throws {
        let failing = FailingDevice.Switch()
        var configuration = file.configuration
        configuration.makeDevice = { FailingDevice($0, failing) }
        let store = try await Store(configuration)
        try await store.write("before")
        failing.isOn.withLock { $0 = true }
        await #expect(throws: Realm.Error.self) { try await store.writeCommitting("never", suspends: suspends) }
        #expect(try await store.heldNames() == ["before"])
    }
}
