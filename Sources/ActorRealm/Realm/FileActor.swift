/// Runs what blocks in the device on a thread of its own, so that the concurrent pool never waits for a disk.
actor FileActor {
    nonisolated let thread = DedicatedThread(name: "realm-io")

    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    /// Runs blocking work on the thread.
    func run<Result: Sendable>(_ work: @Sendable () throws -> Result) rethrows -> Result {
        try work()
    }
}
