extension KeyedPage {
    /// What making room for an entry led to.
    struct Room {
        /// Where the caller puts the entry's payload.
        var payload: UnsafeMutableRawPointer
        /// The page that the upper part of the entries moved to, when the page had to be divided.
        var right: MutablePage?
        /// The length of the separator of the two, which is in the scratch space.
        var separatorByteCount = 0
    }

    /// Makes room for an entry in a page of the open transaction, dividing the page when it is full.
    ///
    /// `isLast` says that no page of the level is to the right, so that further keys are likely to come at the end.
    /// `separator` is scratch space of `ByteTree.maximumKeyByteCount` bytes, in which the key may lie.
    static func makeRoom(
        in page: MutableKeyedPage,
        at index: Int,
        for key: KeyBytes,
        payloadByteCount: Int,
        isLast: Bool,
        separator: UnsafeMutableRawPointer,
        transaction: WriteTransaction
    ) throws(StorageError) -> Room {
        // A leaf's place was looked for. A child may have had keys of its neighbours, whatever its parent says.
        guard page.page.isLeaf || page.page.takes(key, at: index) else {
            throw .corrupt("A page of a byte tree has keys of its neighbours", page: page.page.number)
        }
        let prefix = page.page.prefix
        if key.starts(with: prefix),
            let payload = page.reserve(
                at: index,
                suffix: key.dropFirst(prefix.count),
                payloadByteCount: payloadByteCount
            )
        {
            return Room(payload: payload)
        }
        let original = page.page
        let level = original.level
        let continuesRun = page.continuesRun(at: index)
        let run = page.ascendingRun
        var list = KeyedEntryList(isLeaf: level == 0)
        list.append(original)
        list.insert(key, payloadByteCount: payloadByteCount, at: index)
        let count = list.count
        // Compacting pays when it leaves some room; otherwise the next insertion would do it again.
        if list.byteCount(of: 0..<count) <= pageByteCount - pageByteCount / 16 || count == 1,
            let payload = list.write(0..<count, to: page)
        {
            return Room(payload: payload)
        }
        // Ascending keys leave full pages behind: the left page keeps everything before the new entry.
        var preferred: Int?
        if index == count - 1, isLast || continuesRun && run >= 2 {
            preferred = count - 1
        } else if continuesRun, run >= 4 {
            preferred = index
        }
        guard let division = list.division(preferring: preferred) else {
            throw .corrupt("The entries of a byte tree page do not fit two pages", page: original.number)
        }
        let right = try transaction.allocate(
            pageCount: 1,
            kind: level == 0 ? .byteTreeLeaf : .byteTreeInner,
            level: level
        )
        let rightPayload = list.write(division..<count, to: MutableKeyedPage(right.bytes), prefixHint: prefix)
        // The list holds copies of everything but the new key, which may lie in the scratch space for the separator:
        // the separator comes last.
        let leftPayload = list.write(0..<division, to: page)
        guard let payload = leftPayload ?? rightPayload else {
            throw .corrupt("A byte tree page lost an entry while it was divided", page: original.number)
        }
        let separatorByteCount = list.copySeparator(at: division, to: separator)
        return Room(payload: payload, right: right, separatorByteCount: separatorByteCount)
    }
}
