/// What lies behind the end that the file had, while transactions write there before their commits.
///
/// A large transaction writes its pages as they become ready, and leaves the places of those that are not ready yet free:
/// holes. Before a commit counts on the file's length each of them has been written to, with pages or with zeros.
struct FileGrowth {
    /// Stretches of bytes below the file's end that nobody has written to, ascending.
    private(set) var holes: [Range<Int>] = []
    /// The first version of the group that was the last to write to the file before its commit.
    var spilledVersion: UInt64 = 0
    /// The end of the file that the commit needs which was written last, in bytes.
    var committedByteCount = 0
    /// So long the file has to stay while pages are owed, for these.
    var securedByteCount = 0
    /// So long it was when there was no space to make it longer ahead of need; 0 where there always was.
    var refusedByteCount = 0
    /// For so many groups more that owe pages the device is taken to have the space that it had when it was asked.
    var ampleGroupCount = 0
    /// Whether the file is to be cut off behind the published version when the open transaction ends, which reads commits that were
    /// lost.
    var owesCut = false

    /// Notes a stretch behind all others that was skipped.
    mutating func skip(_ bytes: Range<Int>) {
        if !bytes.isEmpty { holes.append(bytes) }
    }

    /// Notes that a stretch has been written to.
    mutating func fill(_ bytes: Range<Int>) {
        // Most are written behind the last hole.
        guard let last = holes.last, bytes.lowerBound < last.upperBound, holes.contains(where: { $0.overlaps(bytes) })
        else { return }
        holes = holes.flatMap { hole -> [Range<Int>] in
            if !hole.overlaps(bytes) { return [hole] }
            return [
                hole.lowerBound..<max(hole.lowerBound, bytes.lowerBound),
                min(hole.upperBound, bytes.upperBound)..<hole.upperBound,
            ]
            .filter { !$0.isEmpty }
        }
    }

    /// Forgets what lies behind a new end of the file.
    mutating func cut(at byteCount: Int) {
        if holes.isEmpty { return }
        holes = holes.compactMap { hole in
            if hole.lowerBound >= byteCount { return nil }
            return hole.lowerBound..<min(hole.upperBound, byteCount)
        }
    }
}
