/// A place between two records of a log: where the next one goes, and what it is chained to.
package struct LogPoint: Sendable, Hashable {
    /// A byte place in the history of the log, which only grows.
    package var offset: UInt64
    /// The checksum of the record before.
    package var chain: UInt64

    package init(offset: UInt64, chain: UInt64) {
        self.offset = offset
        self.chain = chain
    }

    /// Records begin at multiples of this, so that they can be looked for.
    static let recordAlignment: UInt64 = 8

    /// Where a record goes that is appended without a flush in between.
    var aligned: LogPoint { LogPoint(offset: Self.roundUp(offset, to: Self.recordAlignment), chain: chain) }

    /// Where a record goes behind a flush: nothing is appended to a block that a flush has covered.
    var atNewBlock: LogPoint {
        LogPoint(offset: Self.roundUp(offset, to: UInt64(LogHeader.blockByteCount)), chain: chain)
    }

    /// The begin of the block that the place lies in.
    var blockOffset: UInt64 { offset & ~UInt64(LogHeader.blockByteCount - 1) }

    private static func roundUp(_ offset: UInt64, to step: UInt64) -> UInt64 { (offset + step - 1) & ~(step - 1) }
}
