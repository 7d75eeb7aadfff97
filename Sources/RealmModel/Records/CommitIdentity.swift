import Synchronization

/// Tells a commit from every other one, of whatever file, process and machine: two records are of one commit only if it is the same.
package struct CommitIdentity: Sendable, Hashable {
    package var high: UInt64
    package var low: UInt64

    /// That of nothing.
    package static let none = CommitIdentity(high: 0, low: 0)

    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Gives out identities, none of them twice.
    ///
    /// They begin at random in each process and each life of a file, and are counted on, so that a commit asks for no random bits. Nothing
    /// of it is stored to be used again.
    package final class Source: Sendable {
        private let high = UInt64.random(in: 1 ... .max)
        private let low = Atomic(UInt64.random(in: 0 ... .max))

        package init() {}

        package func next() -> CommitIdentity {
            CommitIdentity(high: high, low: low.wrappingAdd(1, ordering: .relaxed).newValue)
        }
    }
}
