import ActorRealm
import Foundation
import Synchronization
import Testing

@Suite("A run loop of the program's own is an isolation like an actor or a queue", .timeLimit(.minutes(60)))
struct SchedulerTests {
    let file = TestFile()

    /// What lives on the loop.
    private final class Held: @unchecked Sendable {
        var realm: Realm!
        var token: NotificationToken?
        var log: [String] = []
    }

    @Test("A realm is opened on its loop only, once for all handles that are the same")
    func opening() async throws {
        let configuration = file.fast
        let loop = EventLoop()
        defer { loop.stop() }
        let other = EventLoop()
        defer { other.stop() }
        let isSame = await loop.run {
            let one = try! Realm(configuration: configuration, scheduler: loop)
            let two = try! Realm(configuration: configuration, scheduler: EventLoop(sharing: loop))
            return one === two
        }
        #expect(isSame)
        #expect(throws: Realm.Error(.wrongIsolation, fileURL: configuration.fileURL)) {
            try Realm(configuration: configuration, scheduler: loop)
        }
        let code = await other.run { () -> Realm.Error.Code? in
            do {
                _ = try Realm(configuration: configuration, scheduler: loop)
                return nil
            } catch {
                return (error as? Realm.Error)?.code
            }
        }
        #expect(code == .wrongIsolation)
    }

    @Test("Asynchronous writes run their blocks and completions on the loop, in order")
    func writing() async throws {
        let configuration = file.fast
        let loop = EventLoop()
        defer { loop.stop() }
        let held = Held()
        let names: [String] = await withCheckedContinuation { continuation in
            loop.invoke {
                held.realm = try! Realm(configuration: configuration, scheduler: loop)
                for index in 0..<5 {
                    held.realm.writeAsync {
                        held.log.append("block \(index) \(loop.isOnThread)")
                        held.realm.create(Tally.self, value: ["name": "\(index)"])
                    } onComplete: { error in
                        held.log.append("done \(index) \(loop.isOnThread) \(error == nil)")
                        if index == 4 {
                            continuation.resume(returning: Array(held.realm.objects(Tally.self).map(\.name)))
                        }
                    }
                }
            }
        }
        #expect(names == ["0", "1", "2", "3", "4"])
        #expect(held.log.filter { $0.hasPrefix("block") } == (0..<5).map { "block \($0) true" })
        #expect(held.log.filter { $0.hasPrefix("done") } == (0..<5).map { "done \($0) true true" })
        await loop.run { held.realm = nil }
    }

    @Test("The realm follows other writers between two rounds of the loop, and its observers hear of it there")
    func following() async throws {
        let configuration = file.fast
        let loop = EventLoop()
        defer { loop.stop() }
        let held = Held()
        let counts = AsyncStream<(Int, Bool)>.makeStream()
        await loop.run {
            held.realm = try! Realm(configuration: configuration, scheduler: loop)
            held.token = held.realm.objects(Tally.self)
                .observe { change in
                    counts.continuation.yield((change.collection?.count ?? -1, loop.isOnThread))
                }
        }
        var seen: [Int] = []
        for await (count, isOnLoop) in counts.stream {
            #expect(isOnLoop)
            seen.append(count)
            if count == 3 { break }
            try withNewRealm(configuration) { realm in
                try realm.write { _ = realm.create(Tally.self, value: ["name": "\(count)"]) }
            }
        }
        #expect(seen == [0, 1, 2, 3])
        #expect(await loop.run { held.realm.objects(Tally.self).count } == 3)
        await loop.run {
            held.token?.invalidate()
            held.realm = nil
        }
    }

    @Test("A reference made on an actor is resolved on the loop")
    @MainActor
    func handover() async throws {
        let configuration = file.fast
        let realm = try await Realm(configuration: configuration)
        let tally = try await realm.asyncWrite { realm.create(Tally.self, value: ["name": "a"]) }
        let reference = ThreadSafeReference(to: tally)
        let loop = EventLoop()
        defer { loop.stop() }
        let name = await loop.run { () -> String? in
            let realm = try! Realm(configuration: configuration, scheduler: loop)
            return try! realm.write {
                let tally = realm.resolve(reference)
                tally?.count = 4
                return tally?.name
            }
        }
        #expect(name == "a")
        await realm.asyncRefresh()
        #expect(tally.count == 4)
    }

    @Test("Where a loop accepts no work, nothing can be scheduled, and the message says so")
    func refusing() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let loop = EventLoop()
            let url = FileManager.default.temporaryDirectory.appendingPathComponent("loop-\(UUID().uuidString).realm")
            loop.refuse()
            await loop.run {
                let configuration = Realm.Configuration(fileURL: url, objectTypes: [Tally.self])
                let realm = try! Realm(configuration: configuration, scheduler: loop)
                realm.writeAsync {}
            }
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains("Cannot schedule async transaction"), "\(text.prefix(2_000))")
    }

    @Test("A realm of a loop that is used elsewhere traps with the loop's name and the remedies")
    func elsewhere() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let loop = EventLoop()
            let url = FileManager.default.temporaryDirectory.appendingPathComponent("loop-\(UUID().uuidString).realm")
            nonisolated(unsafe) var held: Realm?
            await loop.run {
                held = try! Realm(
                    configuration: Realm.Configuration(fileURL: url, objectTypes: [Tally.self]),
                    scheduler: loop
                )
            }
            _ = held?.objects(Tally.self).count
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        for part in ["the scheduler EventLoop", "ThreadSafeReference", "object.frozen"] {
            #expect(text.contains(part), "\(text.prefix(2_000))")
        }
    }
}
