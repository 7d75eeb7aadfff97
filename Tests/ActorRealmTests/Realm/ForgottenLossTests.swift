import Foundation
import RealmStorage
import RealmTestSupport
import Synchronization
import Testing

@testable import ActorRealm

/// Blocks of writes that go on, or throw, behind a transaction that ended because of what it saw.
@Suite("A loss that the block of a write has met is not forgotten", .timeLimit(.minutes(60)))
struct ForgottenLossTests {
    /// A disk that is busy until it is told to go on, and is full then for what waits for it.
    fileprivate final class Disk: Sendable {
        private let gate = ThreadGate<Void>()
        private let isFull: FullDevice.Switch
        private let writes: WriteScheduler

        private init(_ writes: WriteScheduler, _ isFull: FullDevice.Switch) {
            self.writes = writes
            self.isFull = isFull
        }

        /// Two realms of a file, and its disk, which is busy.
        static func make(_ file: TestFile) async throws -> (one: Writer, other: Writer, disk: Disk) {
            let isFull = FullDevice.Switch()
            var configuration = file.configuration
            configuration.makeDevice = { FullDevice($0, isFull) }
            let one = try await Writer(configuration)
            let other = try await Writer(configuration)
            try await one.write("before")
            let disk = Disk(await one.writes, isFull)
            let gate = disk.gate
            disk.writes.ioThread.perform { gate.wait() }
            isFull.isOn = true
            return (one, other, disk)
        }

        /// Returns when a commit waits for the disk.
        func waitForCommit() async { while writes.preparedCount == 0 { await Task.yield() } }

        func goOn() { gate.open(with: ()) }

        /// Returns when what waited is lost, and there is space again.
        func recover() {
            while writes.state.withLock({ !$0.prepared.isEmpty || $0.queue.isFlushing }) { usleep(1_000) }
            isFull.isOn = false
        }
    }

    enum Form: String, CaseIterable { case write, asyncWrite, writeAsync }

    /// What the block does when it has cancelled.
    enum Then: String, CaseIterable {
        case throwing, cancellingAnother, committingAnother, leavingAnother, committingAnotherInBackground
    }

    struct Exists: Error {}

    fileprivate actor Writer {
        var realm: Realm!
        private(set) var steps: [String] = []

        init(_ configuration: Realm.Configuration) async throws {
            realm = try await Realm(configuration: configuration, actor: self)
        }

        var writes: WriteScheduler { realm.core.coordinator.writes }
        var names: [String] { realm.objects(Tally.self).map(\.name).sorted() }

        private func make(_ name: String) { realm.create(Tally.self, value: ["name": name, "count": 1]) }

        func write(_ name: String) async throws { try await realm.asyncWrite { make(name) } }

        private func body(_ form: Form, _ then: Then, _ disk: Disk) throws {
            if realm.object(ofType: Tally.self, forPrimaryKey: "lost") != nil { steps.append("saw") }
            // `write` waits in here, the others when the block is over.
            if form == .write { disk.goOn() }
            realm.cancelWrite()
            if form != .write { disk.goOn() }
            disk.recover()
            if then == .throwing { throw Exists() }
            do { try realm.beginWriteTransaction() } catch { return steps.append("\(error)") }
            steps.append("began")
            switch then {
            case .throwing, .leavingAnother: make("another")
            case .cancellingAnother: realm.cancelWrite()
            case .committingAnother:
                make("another")
                try realm.commitWrite()
            case .committingAnotherInBackground:
                make("another")
                realm.commitAsyncWrite()
            }
        }

        func giveUp(_ form: Form, _ then: Then, _ disk: Disk) async throws {
            switch form {
            case .write: try realm.write { try body(form, then, disk) }
            case .asyncWrite: try await realm.asyncWrite { try body(form, then, disk) }
            case .writeAsync:
                let error = await withCheckedContinuation { continuation in
                    realm.writeAsync({ try? self.body(form, then, disk) }) { continuation.resume(returning: $0) }
                }
                if let error { throw error }
            }
        }

        /// Goes on in its block with a transaction that is lost as well.
        func goOn(_ form: Form) async throws {
            func begin() throws {
                if realm.object(ofType: Tally.self, forPrimaryKey: "lost") != nil { steps.append("saw") }
                if form == .writeAsync { realm.commitAsyncWrite() } else { realm.cancelWrite() }
                try realm.beginWriteTransaction()
                if form == .writeAsync { realm.cancelWrite() } else { make("another") }
                steps.append("began")
            }
            if form == .asyncWrite { return try await realm.asyncWrite(begin) }
            let error = await withCheckedContinuation { continuation in
                realm.writeAsync({ try? begin() }) { continuation.resume(returning: $0) }
            }
            if let error { throw error }
        }

        /// Commits in the background, which is lost, and goes on.
        func commitAndGoOn(_ form: Form, _ then: Then, _ disk: Disk) async throws {
            func body() throws {
                make("lost")
                realm.commitAsyncWrite()
                disk.goOn()
                disk.recover()
                try realm.beginWriteTransaction()
                make("another")
                steps.append("began")
                if then == .committingAnotherInBackground { realm.commitAsyncWrite() }
            }
            switch form {
            case .write: try realm.write(body)
            default: try await realm.asyncWrite(body)
            }
        }

        /// Copies what a transaction sees whose base is lost already.
        func copyLost(to url: URL, _ disk: Disk) throws {
            try realm.write {
                if realm.object(ofType: Tally.self, forPrimaryKey: "lost") != nil { steps.append("saw") }
                disk.goOn()
                disk.recover()
                try realm.writeCopy(toFile: url)
                steps.append("copied")
            }
        }
    }

    @Test("whatever the block does behind it", arguments: Form.allCases, Then.allCases)
    func lost(form: Form, then: Then) async throws {
        // A block that cannot throw, and one whose own commit is what is asked for.
        if form == .writeAsync, then != .cancellingAnother { return }
        let file = TestFile()
        let (one, other, disk) = try await Disk.make(file)
        let first = Task { try await one.write("lost") }
        await disk.waitForCommit()
        await #expect(throws: Realm.Error.self) { try await other.giveUp(form, then, disk) }
        await #expect(throws: Realm.Error.self) { try await first.value }
        #expect(await other.steps == (then == .throwing ? ["saw"] : ["saw", "began"]))
    }

    @Test("a later write of the realm is not told of it", arguments: [Form.asyncWrite, .writeAsync])
    func later(form: Form) async throws {
        let file = TestFile()
        let (one, other, disk) = try await Disk.make(file)
        let first = Task { try await one.write("lost") }
        await disk.waitForCommit()
        let second = Task { try await other.goOn(form) }
        while await other.steps.count < 2 { await Task.yield() }
        disk.goOn()
        await #expect(throws: Realm.Error.self) { try await first.value }
        await #expect(throws: Realm.Error.self) { try await second.value }
        disk.recover()
        await #expect(throws: Never.self) { try await other.write("later") }
        #expect(await other.names == ["before", "later"])
    }

    @Test(
        "what a block commits in the background is one of them, whatever it does behind it",
        arguments: [Form.write, .asyncWrite],
        [Then.leavingAnother, .committingAnotherInBackground]
    )
    func inBackground(form: Form, then: Then) async throws {
        let file = TestFile()
        let (_, other, disk) = try await Disk.make(file)
        await #expect(throws: Realm.Error.self) { try await other.commitAndGoOn(form, then, disk) }
        #expect(await other.steps == ["began"])
        // What the block has left open is rolled back, and what it has committed itself stays.
        try await other.write("later")
        #expect(await other.names == (then == .leavingAnother ? ["before", "later"] : ["another", "before", "later"]))
    }

    @Test("a transaction whose base is lost is not copied")
    func copied() async throws {
        let file = TestFile()
        let (one, other, disk) = try await Disk.make(file)
        let first = Task { try await one.write("lost") }
        await disk.waitForCommit()
        let url = URL(filePath: TemporaryDirectory().path("copy.realm"))
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        await #expect(throws: Realm.Error.self) { try await other.copyLost(to: url, disk) }
        await #expect(throws: Realm.Error.self) { try await first.value }
        #expect(await other.steps == ["saw"])
        #expect(!FileManager.default.fileExists(atPath: url.path))
    }
}
