import Figures

/// Something that is measured: an engine, or what the hardware gives without any.
@MainActor
protocol Contestant: AnyObject {
    /// The name in the table and the key in the JSON.
    var name: String { get }

    /// Measures a row once; nil when there is no such thing.
    func measure(_ row: RowIdentifier) async throws -> Double?
}

/// What all contestants are given.
struct Workload: Sendable {
    /// The objects of the row about observers.
    static let observedCount = 100_000

    var objectCount: Int
    /// What the engines answered about these objects.
    var answers: Answers
    /// A folder on the device that is measured.
    var folder: String
    /// The objects that are there when commits are measured.
    var commitBase = 1_000
    /// How long a row that counts commits runs.
    var commitDuration = Duration.seconds(1)
    /// How long a row runs that is about the slowest commits.
    var tailDuration = Duration.seconds(60)

    /// The path of an engine's file.
    func path(_ name: String, of engine: (some Engine).Type) -> String {
        "\(folder)/\(name).\(engine.name)"
    }
}

/// Keeps the optimizer from dropping a result.
@inline(never)
func consume<Value>(_ value: Value) {
    withExtendedLifetime(value) {}
}

/// The fastest of a number of runs.
func repeated(_ count: Int, _ body: () throws -> Void) rethrows -> Duration {
    var best = Duration.seconds(1_000_000)
    for _ in 0..<count {
        let start = ContinuousClock.now
        try body()
        best = min(best, ContinuousClock.now - start)
    }
    return best
}
