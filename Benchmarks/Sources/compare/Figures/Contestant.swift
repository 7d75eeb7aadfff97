/// Something that is measured: ours, a peer, or what the hardware gives without any engine.
@MainActor
protocol Contestant: AnyObject {
    /// The name in the table and the key in the JSON.
    static var name: String { get }

    /// Measures a row once; nil when there is no such thing.
    func measure(_ row: RowIdentifier) async throws -> Double?
}

/// What all contestants are given.
struct Workload: Sendable {
    var objectCount: Int
    /// A folder on the device that is measured.
    var folder: String
    /// How long a row that counts commits runs.
    var commitDuration = Duration.seconds(2)
}

/// Keeps the optimizer from dropping a result.
@inline(never)
func consume<Value>(_ value: Value) {
    withExtendedLifetime(value) {}
}
