import ActorRealm
import CRealmShims
import Foundation
import Synchronization
import Testing

@testable import ActorRealm

/// Functions that are kept and handed on can be wrapped once more each time: such a chain grows until the stack is full.
@Suite("Blocks are called no deeper after many writes than at first", .timeLimit(.minutes(60)))
struct CallDepthTests {
    let file = TestFile()

    /// How deep in their threads' stacks blocks were called, in bytes, by kind.
    private final class Depths: Sendable {
        private struct State {
            var values: [String: [UInt]] = [:]
        }

        private let state = Mutex(State())

        func note(_ kind: String) {
            var local: UInt8 = 0
            // A thread's own data lie above its stack; those of the main thread anywhere.
            let depth = withUnsafePointer(to: &local) { crealm_thread_word() &- UInt(bitPattern: $0) }
            if depth < 1 << 24 { state.withLock { $0.values[kind, default: []].append(depth) } }
        }

        func count(_ kind: String) -> Int { state.withLock { $0.values[kind]?.count ?? 0 } }

        /// Checks the least depth in the first and in the last calls.
        func check(_ kind: String) throws {
            let values = state.withLock { $0.values[kind] ?? [] }
            let some = (values.count + 3) / 4
            let first = try #require(values.prefix(some).min(), "\(kind)")
            let last = try #require(values.suffix(some).min(), "\(kind)")
            #expect(last <= first + 2_048, "\(kind), \(values.count) calls")
        }
    }

    private actor Writer {
        private let depths: Depths

        init(_ depths: Depths) { self.depths = depths }

        func write(_ configuration: Realm.Configuration, times: Int) async throws {
            let realm = try await Realm(configuration: configuration, actor: self)
            let tally = try await realm.asyncWrite { realm.create(Tally.self, value: ["name": "actor"]) }
            let token = tally.observe { [depths] (_: ObjectChange<ObjectBase>) in depths.note("object observer") }
            var written = 0
            while written < times || depths.count("object observer") < 8 {
                written += 1
                try await realm.asyncWrite {
                    tally.count += 1
                    depths.note("asyncWrite")
                }
            }
            token.invalidate()
        }
    }

    @Test("after passes over observers")
    func passes() async throws {
        let depths = Depths()
        let hub = try withNewRealm(file.fast) { $0.core.coordinator.observations }
        hub.attach { depths.note("pass") }
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                for _ in 0..<4_000 { hub.process() }
                continuation.resume()
            }
        }
        try depths.check("pass")
    }

    @Test("after listings of the versions in use")
    func listings() async throws {
        let depths = Depths()
        try withNewRealm(file.fast) { realm in
            realm.core.coordinator.file.pinHolders.attach {
                depths.note("listing")
                return []
            }
            for _ in 0..<4_000 { _ = realm.activeVersions }
        }
        try depths.check("listing")
    }

    @Test("in write blocks, completions and observers, on an actor and on a queue")
    func blocks() async throws {
        let depths = Depths()
        let configuration = file.fast
        let queue = DispatchQueue(label: "call depth")
        async let writes: Void = Writer(depths).write(configuration, times: 200)
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            queue.async {
                let realm = try! Realm(configuration: configuration, queue: queue)
                try! realm.write { _ = realm.create(Tally.self, value: ["name": "queue"]) }
                let tokens = [
                    realm.observe { _, _ in depths.note("realm observer") },
                    realm.objects(Tally.self).observe { _ in depths.note("results observer") },
                ]
                let remaining = Mutex(200)
                func next() {
                    realm.writeAsync {
                        realm.objects(Tally.self).first?.count += 1
                        depths.note("writeAsync")
                    } onComplete: { _ in
                        depths.note("completion")
                        let isLast = remaining.withLock { count in
                            count -= 1
                            return count <= 0 && depths.count("results observer") >= 8
                        }
                        if !isLast { return next() }
                        for token in tokens { token.invalidate() }
                        continuation.resume()
                    }
                }
                next()
            }
        }
        try await writes
        let kinds = ["asyncWrite", "object observer", "writeAsync", "completion", "realm observer", "results observer"]
        for kind in kinds { try depths.check(kind) }
    }
}
