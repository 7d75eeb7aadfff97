import Foundation

/// Which description counts for each package: lists overlap, such as an archive's and its security updates', and the newest
/// version is meant.
///
/// Built in a first pass over the lists. It keeps a key and a version per package; the descriptions themselves go by.
struct PackageSelection {
    private struct Choice {
        var version: String
        var source: Int
        var ordinal: Int
    }

    private var choices: [String: Choice] = [:]

    init(_ sources: [PackageSource]) throws {
        for (source, list) in sources.enumerated() {
            let reader = try PackageRecordReader(list, detail: .identity)
            var ordinal = 0
            while let record = try reader.next() {
                let choice = Choice(version: record.version, source: source, ordinal: ordinal)
                if let other = choices[record.key],
                    PackageVersion(other.version) >= PackageVersion(record.version)
                {
                    // The first of equals stays.
                } else {
                    choices[record.key] = choice
                }
                ordinal += 1
            }
        }
    }

    var count: Int { choices.count }

    /// Whether this description, the one at a position of a source, is the one that counts.
    func chooses(_ record: PackageRecord, ordinal: Int, source: Int) -> Bool {
        guard let choice = choices[record.key] else { return false }
        return choice.source == source && choice.ordinal == ordinal
    }

    func contains(_ key: String) -> Bool { choices[key] != nil }
}
