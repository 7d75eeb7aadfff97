/// Collects what blocks on other actors report, for a test to await.
struct EventLog: Sendable {
    private let stream: AsyncStream<String>
    private let continuation: AsyncStream<String>.Continuation

    init() {
        (stream, continuation) = AsyncStream.makeStream()
    }

    func note(_ event: String) {
        continuation.yield(event)
    }

    /// Waits until an event arrives, whatever comes before it; false when the task is cancelled first.
    func contains(_ event: String) async -> Bool {
        for await noted in stream where noted == event { return true }
        return false
    }
}
