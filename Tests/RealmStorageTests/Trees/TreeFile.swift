import RealmStorage
import RealmTestSupport
import Testing

/// A realm file whose catalog is the byte tree under test.
final class TreeFile {
    let directory = TemporaryDirectory()
    private var open: StorageFile?
    /// The open file.
    var file: StorageFile {
        get throws { try #require(open) }
    }

    init() throws {
        open = try Self.open(directory)
        try file.lockForWriting()
    }

    private static func open(_ directory: TemporaryDirectory) throws -> StorageFile {
        var options = StorageOptions()
        options.durability = .none
        return try StorageFile.open(path: directory.path("tree.realm"), options: options)
    }

    /// Closes the file and opens it again, as another process would: every page is checked anew on its first touch.
    ///
    /// No snapshot may be alive.
    func reopen() throws -> Snapshot {
        try file.unlockForWriting()
        weak let closing = open
        open = nil
        try #require(closing == nil, "something keeps the file open")
        open = try Self.open(directory)
        try file.lockForWriting()
        return try file.beginRead()
    }

    /// Runs a write transaction, commits it and returns the version that it made.
    @discardableResult
    func write(_ body: (WriteTransaction) throws -> Void) throws -> Snapshot {
        let transaction = try file.beginWrite()
        try body(transaction)
        try file.publish([try transaction.prepareCommit()])
        return try file.beginRead()
    }
}

extension ByteTree {
    @discardableResult
    mutating func set(_ key: [UInt8], _ value: [UInt8], in transaction: WriteTransaction) throws -> Bool {
        try key.withUnsafeBytes { key in
            try value.withUnsafeBytes { value in try insert(key, value: value, in: transaction) }
        }
    }

    @discardableResult
    mutating func remove(_ key: [UInt8], in transaction: WriteTransaction) throws -> Bool {
        try key.withUnsafeBytes { try remove($0, in: transaction) }
    }

    /// Removes keys that ascend.
    mutating func removeAscending(_ keys: [[UInt8]], in transaction: WriteTransaction) throws -> Int {
        let memory = keys.map { key in
            let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: max(key.count, 1), alignment: 1)
            bytes.copyBytes(from: key)
            return UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(bytes)[..<key.count])
        }
        defer { for bytes in memory { bytes.baseAddress.map { UnsafeMutableRawPointer(mutating: $0).deallocate() } } }
        var rest = memory[...]
        return try removeAscending(in: transaction) { rest.popFirst() }
    }

    func get(_ key: [UInt8], in view: PageView) throws -> [UInt8]? {
        try key.withUnsafeBytes { try value(for: $0, in: view).map { [UInt8]($0) } }
    }

    /// Every entry in ascending order, read with a cursor.
    func entries(in view: PageView) throws -> [(key: [UInt8], value: [UInt8])] {
        var result: [(key: [UInt8], value: [UInt8])] = []
        var cursor = cursor(in: view)
        var isValid = try cursor.seekFirst()
        while isValid {
            result.append((key: [UInt8](cursor.key), value: [UInt8](try cursor.value)))
            isValid = try cursor.next()
        }
        return result
    }

    /// Whether the tree of a view holds exactly what a dictionary does, in order.
    func holds(_ model: [[UInt8]: [UInt8]], in view: PageView) throws -> Bool {
        let expected = model.sorted { $0.key.lexicographicallyPrecedes($1.key) }
        return try count(in: view) == expected.count
            && entries(in: view).elementsEqual(expected) { $0.key == $1.key && $0.value == $1.value }
    }
}

extension SplitMix64 {
    mutating func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8.random(in: 0...255, using: &self) }
    }
}

extension UInt64 {
    /// The number as a key that sorts as the number does.
    var key: [UInt8] { (0..<8).map { UInt8(truncatingIfNeeded: self >> (56 - 8 * UInt64($0))) } }
}
