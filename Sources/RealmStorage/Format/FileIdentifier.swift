/// The random identifier of a realm file: another one in every copy, the same where a file was compacted in its place.
package struct FileIdentifier: Sendable, Hashable {
    /// What the lock file knows the file by.
    package var low: UInt64
    /// 0 in a file of the format before, which has the low half only.
    package var high: UInt64

    package init(low: UInt64, high: UInt64) {
        self.low = low
        self.high = high
    }

    /// A new one; no half is 0.
    static func random() -> FileIdentifier {
        FileIdentifier(low: .random(in: 1 ... .max), high: .random(in: 1 ... .max))
    }

    /// The identifier of a file in this format, where it has only the half that the format before knew.
    var completed: FileIdentifier { high == 0 ? FileIdentifier(low: low, high: .random(in: 1 ... .max)) : self }
}
