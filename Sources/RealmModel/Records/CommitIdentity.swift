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
    /// They begin at random in each process and each life of a file, and are counted on, so that a commit asks for no random bits, but for
    /// the first one: a file that is only read has none asked for. Nothing of it is stored to be used again.
    package final class Source: Sendable {
        /// The last one that was given out; nil before the first one.
        private let last = Mutex<CommitIdentity?>(nil)

        package init() {}

        package func next() -> CommitIdentity {
            last.withLock { last in
                var next = last ?? CommitIdentity(high: .random(in: 1 ... .max), low: .random(in: 0 ... .max))
                next.low &+= 1
                last = next
                return next
            }
        }
    }
}
