import Foundation
import RealmModel
import RealmTestSupport
import Synchronization
import Testing

@testable import ActorRealm
@testable import RealmStorage

private class IndexedNote: Object {
    @Persisted(indexed: true) var text: String
}

/// Pages that are read only to see whether they are whole.
@Suite("Verification when a file is opened, and behind", .timeLimit(.minutes(60)))
struct VerificationTests {
    let file = TestFile()

    /// Receives the report.
    private final class Receiver: Sendable {
        private let gate = ThreadGate<Realm.VerificationReport>()

        func receive(_ report: Realm.VerificationReport) { gate.open(with: report) }

        func report() async -> Realm.VerificationReport {
            await withCheckedContinuation { continuation in
                Thread.detachNewThread { continuation.resume(returning: self.gate.wait()) }
            }
        }
    }

    private func configuration(
        _ verification: Realm.Configuration.Verification,
        _ receiver: Receiver = Receiver()
    ) -> Realm.Configuration {
        var configuration = file.fast
        configuration.verification = verification
        configuration.verificationReport = { receiver.receive($0) }
        configuration.verificationRate = 1 << 30
        return configuration
    }

    /// Makes a file that is too large to be verified by itself, and damages one of its pages behind the reader's back.
    private func fill(damaging: Bool) throws -> PageNumber {
        try withNewRealm(file.fast) { realm in
            try realm.write {
                for number in 0..<20 {
                    let text = String(repeating: "\(number) ", count: 350_000)
                    realm.create(Todo.self, value: ["_id": ObjectId.generate(), "name": text])
                }
            }
        }
        let path = file.fast.fileURL!.path
        // Of a text: no more is read of it when the objects are counted.
        var text = PageReference.none
        do {
            let snapshot = try StorageFile.open(path: path, options: StorageOptions()).beginRead()
            try ModelVerifier.forEachReachablePage(in: snapshot) { (run) throws(StorageError) in
                if run.pageCount >= text.pageCount { text = run }
            }
        }
        guard damaging else { return text.page }
        let handle = try #require(FileHandle(forUpdatingAtPath: path))
        try handle.seek(toOffset: UInt64(text.page) * 4096 + 2_000)
        try handle.write(contentsOf: Data("damage".utf8))
        try handle.close()
        return text.page
    }

    @Test("A large file with a damaged page opens, and does not where it is verified")
    func onOpen() async throws {
        let page = try fill(damaging: true)
        try withNewRealm(file.fast) { #expect($0.objects(Todo.self).count == 20) }
        let path = try #require(file.fast.fileURL?.path)
        while RealmRegistry.shared.existing(at: path) != nil { await Task.yield() }
        let error = #expect(throws: Realm.Error.self) { try withNewRealm(configuration(.onOpen)) { _ in } }
        #expect(error?.code == .invalidDatabase)
        #expect(error?.message.contains("\(page)") == true, "\(error?.message ?? "")")
    }

    @Test("A file that calls a page free which is in use is refused, and can be read by who only reads")
    func freeInUse() async throws {
        try withNewRealm(file.fast) { realm in
            try realm.write {
                for _ in 0..<200 { realm.create(Todo.self, value: ["_id": ObjectId.generate(), "name": "text"]) }
            }
        }
        let path = try #require(file.fast.fileURL?.path)
        while RealmRegistry.shared.existing(at: path) != nil { await Task.yield() }
        var forgery = Forgery(try HostileFile(path: path))
        let page = PageNumber(try #require(forgery.run(.clusterNode)).page)
        forgery.callFree(page)
        try Data(forgery.sealed()).write(to: URL(fileURLWithPath: path))
        for verification in [[], .onOpen] as [Realm.Configuration.Verification] {
            let error = #expect(throws: Realm.Error.self) { try withNewRealm(configuration(verification)) { _ in } }
            #expect(error?.code == .invalidDatabase)
            #expect(error?.message.contains("\(page)") == true, "\(error?.message ?? "")")
        }
        var reading = configuration(.onOpen)
        reading.readOnly = true
        try withNewRealm(reading) { #expect($0.objects(Todo.self).count == 200) }
    }

    @Test("A small file that is open still is looked at again by an opening only where it has changed since")
    func openStill() async throws {
        let path = try #require(file.fast.fileURL?.path)
        /// Opens the realm, runs the block, and waits until nobody has it open.
        func use(_ body: (Realm) throws -> Void) async throws {
            try withNewRealm(file.fast, body)
            while RealmRegistry.shared.existing(at: path) != nil { await Task.yield() }
        }
        func add(_ realm: Realm) throws {
            try realm.write { realm.create(Todo.self, value: ["_id": ObjectId.generate()]) }
        }
        try await use(add)
        // Keeps the file open between the realms.
        let open = try StorageFile.open(path: path, options: StorageOptions())
        try await use { _ in }
        let version = try open.beginRead().version
        #expect(open.examinedVersion == version)
        try await use { realm in
            try add(realm)
            #expect(open.examinedVersion == version)
        }
        try await use { _ in }
        #expect(try open.beginRead().version > version)
        #expect(try open.examinedVersion == open.beginRead().version)
    }

    @Test("An opening that looks at a whole file lets go of the leaves of indexes")
    func memory() throws {
        var plain = file.fast
        plain.objectTypes = [IndexedNote.self]
        var thorough = plain
        thorough.verification = .onOpen
        try withNewRealm(plain) { realm in
            try realm.write {
                for number in 0..<20_000 {
                    realm.create(IndexedNote.self, value: ["text": "\(number) " + String(repeating: "-", count: 90)])
                }
            }
        }
        let path = try #require(plain.fileURL?.path)
        for configuration in [plain, thorough] {
            while RealmRegistry.shared.existing(at: path) != nil { usleep(1_000) }
            try withNewRealm(configuration) { realm in
                #expect(realm.objects(IndexedNote.self).count == 20_000)
                let byteCount = try #require(RealmRegistry.shared.existing(at: path)).file.byteCount
                #expect(byteCount > 3 << 20 && byteCount < 16 << 20)
                #expect(try residentByteCount(ofFileAt: path) < byteCount * 3 / 4)
            }
        }
    }

    /// How many bytes of a file this process has mapped pages of in memory.
    private func residentByteCount(ofFileAt path: String) throws -> Int {
        var isOfFile = false
        var byteCount = 0
        for line in try String(contentsOfFile: "/proc/self/smaps", encoding: .utf8).split(separator: "\n") {
            if line.contains("-"), line.contains(" r") { isOfFile = line.hasSuffix(path) }
            guard isOfFile, line.hasPrefix("Rss:") else { continue }
            byteCount += 1024 * (Int(line.filter(\.isNumber)) ?? 0)
        }
        return byteCount
    }

    @Test("Verification in the background reports the page, and the realm is read meanwhile")
    func inBackground() async throws {
        let page = try fill(damaging: true)
        let receiver = Receiver()
        let program = try await Program(configuration(.inBackground, receiver))
        #expect(await program.perform { $0.objects(Todo.self).count } == 20)
        let report = await receiver.report()
        #expect(report.error?.code == .invalidDatabase)
        #expect(report.error?.message.contains("\(page)") == true, "\(report)")
        #expect(report.checkedPageCount > 0)
    }

    @Test("Of a whole file it reports that every page was read, once for any number of openings")
    func whole() async throws {
        _ = try fill(damaging: false)
        let receiver = Receiver()
        let configuration = configuration([.onOpen, .inBackground], receiver)
        let first = try await Program(configuration)
        let second = try await Program(configuration)
        let report = await receiver.report()
        #expect(report.error == nil)
        #expect(report.path == configuration.fileURL?.path)
        #expect(await first.perform { $0.version } == report.version)
        let pageCount = RealmRegistry.shared.existing(at: report.path)?.file.byteCount ?? 0
        #expect(report.checkedPageCount * 4096 > pageCount / 2)
        #expect(await second.perform { $0.objects(Todo.self).count } == 20)
    }

    @Test("A file that is closed is not read on, and gives no report")
    func closed() async throws {
        _ = try fill(damaging: false)
        let told = Counter()
        var configuration = configuration(.inBackground)
        // It would take hours.
        configuration.verificationRate = 1_000
        configuration.verificationReport = { _ in told.increment() }
        let path = try #require(configuration.fileURL?.path)
        try withNewRealm(configuration) { #expect($0.objects(Todo.self).count == 20) }
        while RealmRegistry.shared.existing(at: path) != nil { await Task.yield() }
        #expect(told.value == 0)
        // Nobody has it open any more: its lock file is not in use.
        while StorageFile.isOpenAnywhere(path: path) { await Task.yield() }
    }

    @Test("The pace allows no more than its rate, in pauses that are worth it")
    func pace() {
        let pace = VerificationPace(bytesPerSecond: 1_000_000)
        #expect(pace.pause(behind: 4_096, after: .zero) == nil)
        #expect(pace.pause(behind: 1_000_000, after: .milliseconds(400)) == .milliseconds(600))
        #expect(pace.pause(behind: 1_000_000, after: .milliseconds(995)) == nil)
        #expect(pace.pause(behind: 1_000_000, after: .seconds(2)) == nil)
        var elapsed = Duration.zero
        for page in 1...10_000 {
            if let pause = pace.pause(behind: page * 4_096, after: elapsed) { elapsed += pause }
        }
        #expect(elapsed > .seconds(40.9) && elapsed < .seconds(41))
        #expect(VerificationPace(bytesPerSecond: -5).bytesPerSecond == 1)
    }
}
