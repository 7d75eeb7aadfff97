/// The random identifier of a log: new in every life of a file, so that no record of an older one fits.
package struct LogIdentifier: Sendable, Hashable {
    package var low: UInt64
    package var high: UInt64

    package init(low: UInt64, high: UInt64) {
        self.low = low
        self.high = high
    }
}
