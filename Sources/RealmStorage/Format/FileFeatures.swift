/// What a file holds that not every release knows, in three words of bits: who does not know a bit of one of them must not open
/// the file, must not write it, or need not care.
///
/// A release that finds a bit that it does not know says so by name, as far as the name was given when it was made.
package struct FileFeatures: Sendable, Hashable {
    /// Whoever does not know one of these cannot read the file.
    package var incompatible: UInt64 = 0
    /// Whoever does not know one of these can read the file, and would damage it by writing.
    package var readOnlyCompatible: UInt64 = 0
    /// Whoever does not know one of these can do without.
    package var compatible: UInt64 = 0

    /// The bit of a file whose log may hold newer commits than it; set as long as somebody writes with a log, and not when it was closed.
    static let openLog: UInt64 = 1

    /// The bit of the second word of a file whose classes have indexes of kinds that not every release knows.
    static let furtherIndexes: UInt64 = 1

    /// The bits of the first word whose meaning is fixed.
    static let incompatibleNames = [
        "a log that holds newer commits", "encrypted pages", "bitmaps of deleted rows", "columns in further encodings",
    ]
    /// The bits of the second one.
    static let readOnlyCompatibleNames = ["indexes of further kinds", "a history of its commits"]

    /// The features of the first word that this release reads.
    static let knownIncompatible: UInt64 = openLog
    /// Those of the second one that it writes.
    static let knownReadOnlyCompatible: UInt64 = 0

    /// What keeps this release from reading the file; nil for nothing.
    var unreadable: String? { Self.names(of: incompatible & ~Self.knownIncompatible, Self.incompatibleNames) }

    /// What keeps it from writing the file; nil for nothing.
    var unwritable: String? {
        Self.names(of: readOnlyCompatible & ~Self.knownReadOnlyCompatible, Self.readOnlyCompatibleNames)
    }

    /// Fails when this release cannot write the file.
    func requireWritable(_ path: String) throws(StorageError) {
        guard let unwritable else { return }
        throw StorageError(
            .unsupportedFormat,
            "The realm file has \(unwritable), which this version of the library would damage by writing: open it for reading only, "
                + "or with the version that wrote it",
            path: path
        )
    }

    private static func names(of bits: UInt64, _ names: [String]) -> String? {
        if bits == 0 { return nil }
        return (0..<64).filter { bits >> UInt64($0) & 1 != 0 }
            .map { names.indices.contains($0) ? names[$0] : "feature \($0)" }
            .joined(separator: ", ")
    }
}
