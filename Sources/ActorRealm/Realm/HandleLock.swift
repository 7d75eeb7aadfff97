import Synchronization

/// Guards the weak handle of a core, which frozen realms may be asked for on several threads at once.
struct HandleLock: ~Copyable {
    private let mutex = Mutex(())

    func withLock<Result>(_ body: () -> Result) -> Result {
        // Written by the closure, which has returned before it is read; the type need not be Sendable for that.
        nonisolated(unsafe) var result: Result?
        mutex.withLock { _ in result = body() }
        guard let result else { misuse("The body has run.") }
        return result
    }
}
