/// What a file header says of the log.
package struct LogMark: Sendable, Hashable {
    /// The log that the header knows last; zeros for none.
    package var log: LogIdentifier
    /// The place behind the last record of the header's version.
    package var point: LogPoint
    /// Whether the log may hold newer commits.
    package var isOpen: Bool

    package static let none = LogMark(
        log: LogIdentifier(low: 0, high: 0),
        point: LogPoint(offset: 0, chain: 0),
        isOpen: false
    )

    package init(log: LogIdentifier, point: LogPoint, isOpen: Bool) {
        self.log = log
        self.point = point
        self.isOpen = isOpen
    }
}
