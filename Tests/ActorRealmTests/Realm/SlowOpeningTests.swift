import Dispatch
import Foundation
import Testing

@testable import ActorRealm

/// While one opening of a file takes long, others of it come on actors.
@Suite("Openings beside one that takes long", .timeLimit(.minutes(60)))
struct SlowOpeningTests {
    let file = TestFile()

    private actor Opener {
        private var realm: Realm?

        func open(_ configuration: Realm.Configuration, _ begun: DispatchSemaphore) async throws {
            begun.signal()
            realm = try await Realm(configuration: configuration, actor: self)
        }
    }

    private typealias Openings = [Task<Void, any Error>]

    /// Whether a task runs while actors open a file whose first opening does not come to its end.
    static func runsTasks(besideOpeningOf path: String) async throws -> Bool {
        var configuration = Realm.Configuration(fileURL: URL(fileURLWithPath: path), objectTypes: [Tally.self])
        configuration.durability = .unflushed
        try withNewRealm(configuration) { realm in
            try realm.write { realm.add(Tally(name: "there")) }
            realm.close()
        }
        let inside = DispatchSemaphore(value: 0)
        let goesOn = DispatchSemaphore(value: 0)
        var slow = configuration
        slow.shouldCompactOnLaunch = { _, _ in
            inside.signal()
            goesOn.wait()
            return false
        }
        // On a thread that is none of the pool's.
        let (runs, openings) = await withCheckedContinuation {
            (continuation: CheckedContinuation<(Bool, Openings), Never>) in
            Thread.detachNewThread { [configuration, slow] in
                Thread.detachNewThread { _ = try? withNewRealm(slow) { _ in } }
                guard inside.wait(timeout: .now() + 1_800) == .success else {
                    return continuation.resume(returning: (false, []))
                }
                let processors = ProcessInfo.processInfo.activeProcessorCount
                let begun = DispatchSemaphore(value: 0)
                let openings: Openings = (0..<2 * processors)
                    .map { _ in
                        let opener = Opener()
                        return Task.detached { try await opener.open(configuration, begun) }
                    }
                // As many as there are threads in the pool.
                for _ in 0..<processors { _ = begun.wait(timeout: .now() + 1_800) }
                let ran = DispatchSemaphore(value: 0)
                Task.detached { ran.signal() }
                let runs = ran.wait(timeout: .now() + 30) == .success
                goesOn.signal()
                continuation.resume(returning: (runs, openings))
            }
        }
        for opening in openings { try await opening.value }
        return runs && !openings.isEmpty
    }

    /// In a process of its own, whose pool nothing else uses.
    @Test("The others block no thread of the pool, so that tasks go on", .secondProcess)
    func pool() async {
        await #expect(processExitsWith: .success) { [path = file.directory.path("slow.realm") as String] in
            let runs = try await SlowOpeningTests.runsTasks(besideOpeningOf: path)
            #expect(runs)
        }
    }
}
