import RealmStorage

/// The index of an int primary key: a tree of `KeyRun`s by their first values.
///
/// Counters give keys that go up with their rows, so a table of millions of rows often has a single run. A look-up finds
/// the last run that begins at or before the value. Runs do not overlap; the writer joins a run to the one before it,
/// and divides it when a row in the middle goes.
struct KeyRuns {
    let tree: ByteTree
    let view: PageView
    /// The number of rows of the table, beyond which no run can reach.
    let rowCount: Int

    private static func damaged() -> StorageError {
        StorageError(.corrupt, "The index of a primary key holds a malformed run.")
    }

    /// The run at a cursor.
    @inline(__always)
    private static func run(at cursor: inout ByteTreeCursor) throws(StorageError) -> KeyRun {
        guard let run = KeyRun(key: cursor.key, entry: try cursor.value) else { throw damaged() }
        return run
    }

    /// Moves to the last run that begins at or before a value; false when there is none.
    @inline(__always)
    private static func seek(_ cursor: inout ByteTreeCursor, to value: Int64?) throws(StorageError) -> Bool {
        try withUnsafeTemporaryAllocation(byteCount: 16, alignment: 8) { (buffer) throws(StorageError) -> Bool in
            guard let bytes = buffer.baseAddress else { return false }
            let length = KeyRun.encode(value, to: bytes)
            // The key just above the value's.
            bytes.storeBytes(of: 0, toByteOffset: length, as: UInt8.self)
            return try cursor.seek(before: UnsafeRawBufferPointer(start: bytes, count: length + 1))
        }
    }

    /// The run that holds a value.
    static func run(
        holding value: Int64?,
        in tree: ByteTree,
        view: PageView
    ) throws(StorageError) -> KeyRun? {
        var cursor = tree.cursor(in: view)
        guard try seek(&cursor, to: value) else { return nil }
        let run = try run(at: &cursor)
        guard let value else { return run.value == nil ? run : nil }
        guard let first = run.value, UInt64(bitPattern: value &- first) < UInt64(bitPattern: run.count) else {
            return nil
        }
        return run
    }

    /// The row of a primary key.
    func row(of value: BorrowedValue) throws(StorageError) -> Int64? {
        if case .int(let value) = value {
            guard let run = try Self.run(holding: value, in: tree, view: view), let first = run.value else {
                return nil
            }
            return run.row + (value - first)
        }
        return try Self.run(holding: nil, in: tree, view: view)?.row
    }

    /// The greatest primary key; nil when there is none but null.
    func maximum() throws(StorageError) -> Int64? {
        var cursor = tree.cursor(in: view)
        guard try cursor.seekLast() else { return nil }
        return try Self.run(at: &cursor).last
    }

    /// Calls a function with the parts of the runs that lie in a range, ascending, until it returns false.
    func forEach(
        in range: KeyRunRange,
        _ body: (KeyRun) throws(StorageError) -> Bool
    ) throws(StorageError) {
        if range.includesNull, let run = try Self.run(holding: nil, in: tree, view: view) {
            guard try body(run) else { return }
        }
        guard let ints = range.ints else { return }
        var cursor = tree.cursor(in: view)
        var isOnRun = try Self.seek(&cursor, to: ints.lowerBound)
        if !isOnRun { isOnRun = try cursor.seekFirst() }
        while isOnRun {
            var run = try Self.run(at: &cursor)
            isOnRun = try cursor.next()
            guard let first = run.value, let last = run.last, last >= ints.lowerBound else { continue }
            guard first <= ints.upperBound else { return }
            if last > ints.upperBound { run.count -= last - ints.upperBound }
            if first < ints.lowerBound { run = run.dropFirst(ints.lowerBound - first) }
            guard try body(run) else { return }
        }
    }

    /// The number of rows in a range.
    func count(in range: KeyRunRange) throws(StorageError) -> Int {
        var count = 0
        try forEach(in: range) { (run) throws(StorageError) -> Bool in
            count += try checkedCount(run, after: count)
            return true
        }
        return count
    }

    /// The rows in a range, ascending by primary key.
    func keys(in range: KeyRunRange, limit: Int) throws(StorageError) -> [Int64] {
        var keys: [Int64] = []
        guard limit > 0 else { return keys }
        try forEach(in: range) { (run) throws(StorageError) -> Bool in
            let count = min(try checkedCount(run, after: keys.count), limit - keys.count)
            keys.append(contentsOf: run.row..<(run.row + Int64(count)))
            return keys.count < limit
        }
        return keys
    }

    /// The length of a run; the runs of a table have no more rows than the table.
    private func checkedCount(_ run: KeyRun, after count: Int) throws(StorageError) -> Int {
        guard run.count <= Int64(rowCount - count) else { throw Self.damaged() }
        return Int(run.count)
    }

    // MARK: - Changing

    /// Puts in a run of values that are absent, joined to the run before it if it goes on there.
    static func insert(
        _ run: KeyRun,
        into tree: inout ByteTree,
        in transaction: WriteTransaction
    ) throws(StorageError) {
        var cursor = tree.cursor(in: transaction.view)
        var run = run
        if run.value != nil, try seek(&cursor, to: run.value) {
            let before = try Self.run(at: &cursor)
            if before.isContinued(by: run) {
                run = KeyRun(value: before.value, row: before.row, count: before.count + run.count)
            }
        }
        try store(run, in: &tree, transaction)
    }

    /// Takes a value out; one that is absent changes nothing.
    static func remove(
        _ value: Int64?,
        from tree: inout ByteTree,
        in transaction: WriteTransaction
    ) throws(StorageError) {
        guard var run = try run(holding: value, in: tree, view: transaction.view) else { return }
        guard let value, let first = run.value else {
            try remove(startingAt: nil, from: &tree, in: transaction)
            return
        }
        let offset = value - first
        let rest = run.dropFirst(offset).count > 1 ? run.dropFirst(offset + 1) : nil
        if offset == 0 {
            try remove(startingAt: first, from: &tree, in: transaction)
        } else {
            run.count = offset
            try store(run, in: &tree, transaction)
        }
        if let rest { try store(rest, in: &tree, transaction) }
    }

    private static func remove(
        startingAt value: Int64?,
        from tree: inout ByteTree,
        in transaction: WriteTransaction
    ) throws(StorageError) {
        try withUnsafeTemporaryAllocation(byteCount: 16, alignment: 8) { (buffer) throws(StorageError) in
            guard let bytes = buffer.baseAddress else { return }
            let length = KeyRun.encode(value, to: bytes)
            try tree.remove(UnsafeRawBufferPointer(start: bytes, count: length), in: transaction)
        }
    }

    /// Stores a run under its first value.
    private static func store(
        _ run: KeyRun,
        in tree: inout ByteTree,
        _ transaction: WriteTransaction
    ) throws(StorageError) {
        try withUnsafeTemporaryAllocation(byteCount: 16 + KeyRun.entryByteCount, alignment: 8) {
            (buffer) throws(StorageError) in
            guard let bytes = buffer.baseAddress else { return }
            let keyLength = KeyRun.encode(run.value, to: bytes)
            let entryLength = run.encodeEntry(to: bytes + 16)
            try tree.insert(
                UnsafeRawBufferPointer(start: bytes, count: keyLength),
                value: UnsafeRawBufferPointer(start: bytes + 16, count: entryLength),
                in: transaction
            )
        }
    }

    /// Puts in runs of values that are absent, ascending.
    static func insert(
        sorted runs: [KeyRun],
        into tree: inout ByteTree,
        in transaction: WriteTransaction
    ) throws(StorageError) {
        guard tree.isEmpty else {
            for run in runs { try insert(run, into: &tree, in: transaction) }
            return
        }
        var builder = ByteTreeBuilder(in: transaction)
        for run in runs { try append(run, to: &builder) }
        tree = try builder.finish()
    }

    /// Builds the tree of all rows of a table.
    ///
    /// - Throws: `StorageError` with code `invalidArgument` when a value occurs twice, which its subject says.
    static func build(
        _ slot: PropertySlot,
        _ cursor: inout LeafCursor,
        into tree: inout ByteTree,
        in transaction: WriteTransaction,
        column: (LeafView) throws(StorageError) -> ColumnView
    ) throws(StorageError) {
        var runs: [KeyRun] = []
        var isAscending = true
        while let leaf = try cursor.next() {
            try KeyRun.append(of: try column(leaf), slot, rows: 0..<leaf.rowCount, leaf, to: &runs, &isAscending)
        }
        if !isAscending { KeyRun.sort(&runs) }
        for index in runs.indices.dropFirst() {
            guard let value = runs[index].value, value > runs[index - 1].last ?? .min || runs[index - 1].value == nil
            else {
                throw StorageError(
                    .invalidArgument,
                    "Two objects have the same primary key.",
                    subject: StorageError.Subject(value: runs[index].value.map { "\($0)" } ?? "nil")
                )
            }
        }
        try insert(sorted: runs, into: &tree, in: transaction)
    }

    /// Takes ascending values out; many of them at once by writing the tree anew.
    static func remove(
        sorted values: [Int64?],
        from tree: inout ByteTree,
        in transaction: WriteTransaction
    ) throws(StorageError) {
        guard values.count > 256, values.count > (try tree.count(in: transaction.view)) / 8 else {
            for value in values { try remove(value, from: &tree, in: transaction) }
            return
        }
        var builder = ByteTreeBuilder(in: transaction)
        let drain = ByteTreeDrain(tree, in: transaction)
        tree = ByteTree()
        var index = 0
        while try drain.next() {
            guard var run = KeyRun(key: drain.key, entry: try drain.value) else { throw damaged() }
            guard let last = run.last else {
                // Null comes first in both.
                if index < values.count, values[index] == nil { index += 1 } else { try append(run, to: &builder) }
                continue
            }
            while index < values.count, (values[index] ?? .min) <= last {
                if let value = values[index], let first = run.value, value >= first, run.count > 0 {
                    try append(KeyRun(value: first, row: run.row, count: value - first), to: &builder)
                    run =
                        value == last
                        ? KeyRun(value: value, row: run.row, count: 0) : run.dropFirst(value - first + 1)
                }
                index += 1
            }
            try append(run, to: &builder)
        }
        tree = try builder.finish()
    }

    private static func append(_ run: KeyRun, to builder: inout ByteTreeBuilder) throws(StorageError) {
        if run.count < 1 { return }
        try withUnsafeTemporaryAllocation(byteCount: 16 + KeyRun.entryByteCount, alignment: 8) {
            (buffer) throws(StorageError) in
            guard let bytes = buffer.baseAddress else { return }
            let keyLength = KeyRun.encode(run.value, to: bytes)
            let entryLength = run.encodeEntry(to: bytes + 16)
            try builder.append(
                UnsafeRawBufferPointer(start: bytes, count: keyLength),
                value: UnsafeRawBufferPointer(start: bytes + 16, count: entryLength)
            )
        }
    }
}
