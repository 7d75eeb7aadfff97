import CLMDB
import People

/// Documents in LMDB: eight bytes of views, then the text.
final class LMDBLibrary: Library {
    private let store: LMDBStore

    init(_ path: String, isDurable: Bool) throws {
        store = try LMDBStore(path, isDurable: isDurable, trees: [0])
    }

    func insert(_ ids: Range<Int>) throws {
        try store.write { transaction in
            for id in ids {
                let data = DocumentData(id)
                var bytes = withUnsafeBytes(of: data.views) { Array($0) }
                bytes += data.text.utf8
                try bytes.withUnsafeBytes { try transaction.put(id, $0, in: 0, MDB_APPEND) }
            }
        }
    }

    func read(_ ids: [Int]) throws -> Int {
        var sum = 0
        try store.read { transaction in
            for id in ids {
                guard let bytes = try transaction.get(id, in: 0) else { continue }
                let text = String(decoding: bytes[8...], as: UTF8.self)
                sum &+= bytes.loadUnaligned(as: Int.self) &+ text.utf8.count
            }
        }
        return sum
    }

    func update(_ ids: [Int], views: Int) throws {
        try store.write { transaction in
            for id in ids {
                guard let bytes = try transaction.get(id, in: 0) else { continue }
                var new = Array(bytes)
                withUnsafeBytes(of: views) { new.replaceSubrange(0..<8, with: $0) }
                try new.withUnsafeBytes { try transaction.put(id, $0, in: 0) }
            }
        }
    }
}
