import Synchronization
import Testing

/// Lets one test at a time have a second process that needs the first one to go on.
///
/// The testing library waits for a process on a thread of Swift's pool, which has as many as there are processors: two such tests at
/// once on two processors would leave none for what their processes wait for.
struct SecondProcessTrait: TestTrait, TestScoping {
    private static let turn = Turn()

    func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        await Self.turn.take()
        defer { Self.turn.giveBack() }
        try await function()
    }

    /// Whose turn it is, first come, first served.
    private final class Turn: Sendable {
        private struct State {
            var isTaken = false
            var waiting: [CheckedContinuation<Void, Never>] = []
        }

        private let state = Mutex(State())

        func take() async {
            await withCheckedContinuation { continuation in
                let isFree = state.withLock { state in
                    if state.isTaken {
                        state.waiting.append(continuation)
                        return false
                    }
                    state.isTaken = true
                    return true
                }
                if isFree { continuation.resume() }
            }
        }

        func giveBack() {
            let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
                if state.waiting.isEmpty {
                    state.isTaken = false
                    return nil
                }
                return state.waiting.removeFirst()
            }
            next?.resume()
        }
    }
}

extension Trait where Self == SecondProcessTrait {
    /// The test has a second process that needs the first one to go on.
    static var secondProcess: Self { Self() }
}
