import ActorRealm
import Foundation

/// Answers one request of the line protocol after the other.
///
/// `realm-torture` speaks on standard input and output, so that programs of any kind can drive the database through kills,
/// failing system calls and damaged files: one request a line, one reply a request, flushed. The requests are
/// `open close put del get list verify txn begin commit abort snap unsnap query`.
final class Driver {
    /// What a request may answer besides `ok`.
    struct Failure: Error {
        var code: String
        var text: String

        static func usage(_ text: String) -> Failure { Failure(code: "usage", text: text) }
    }

    private var realm: Realm?
    private var snapshot: Realm?

    /// The reply to a request, without the line feed at its end.
    ///
    /// Words are split by bytes: a space that a combining mark follows is still a space.
    func reply(to line: [UInt8]) -> String {
        let words = line.split(separator: 0x20).map { String(decoding: $0, as: UTF8.self) }
        guard let command = words.first else { return "err usage an empty request" }
        do {
            return try answer(command, Array(words.dropFirst()), line: String(decoding: line, as: UTF8.self))
        } catch let failure as Failure {
            return "err \(failure.code) \(oneLine(failure.text))"
        } catch let error as Realm.Error {
            return "err \(code(of: error)) \(oneLine(error.localizedDescription))"
        } catch {
            return "err io \(oneLine(String(describing: error)))"
        }
    }

    private func answer(_ command: String, _ arguments: [String], line: String) throws -> String {
        func expect(_ count: Int) throws {
            guard arguments.count == count else {
                throw Failure.usage("\(command) takes \(count) words, not \(arguments.count)")
            }
        }
        switch command {
        case "open":
            try expect(1)
            return try open(arguments[0])
        case "close":
            try expect(0)
            guard realm != nil else { throw Failure.usage("no file is open") }
            close()
            return "ok"
        case "put":
            try expect(2)
            return try change { realm in try put(arguments[0], arguments[1], in: realm) }
        case "del":
            try expect(1)
            return try change { realm in delete(arguments[0], in: realm) }
        case "get":
            try expect(1)
            return find(arguments[0], in: try readable()).map { "ok \($0.value)" } ?? "none"
        case "list":
            try expect(0)
            return try list()
        case "verify":
            try expect(0)
            return try verify()
        case "txn":
            return try transact(try arguments.map(Operation.init))
        case "begin":
            try expect(0)
            let realm = try open()
            guard !realm.isInWriteTransaction else { throw Failure.usage("a transaction is open already") }
            try realm.beginWriteTransaction()
            return "ok"
        case "commit":
            try expect(0)
            let realm = try inTransaction()
            // Afterwards it may already be a later version, of another process.
            let version = realm.version
            try realm.commitWrite()
            return "ok \(version)"
        case "abort":
            try expect(0)
            try inTransaction().cancelWrite()
            return "ok"
        case "snap":
            try expect(0)
            guard snapshot == nil else { throw Failure.usage("a snapshot is held already") }
            let realm = try open()
            // Inside a transaction it is the version that the transaction began with.
            if !realm.isInWriteTransaction { _ = realm.refresh() }
            snapshot = realm.freeze()
            return "ok \(snapshot!.version)"
        case "unsnap":
            try expect(0)
            guard snapshot != nil else { throw Failure.usage("no snapshot is held") }
            snapshot = nil
            return "ok"
        case "query":
            let text = line.trimmingCharacters(in: .whitespaces).dropFirst(command.count)
                .trimmingCharacters(in: .whitespaces)
            return try query(text)
        default:
            throw Failure(code: "unknown", text: command)
        }
    }

    // MARK: Opening

    private func open(_ path: String) throws -> String {
        guard realm == nil else { throw Failure.usage("a file is open already") }
        var configuration = Realm.Configuration(fileURL: URL(fileURLWithPath: path), objectTypes: [Pair.self])
        // Where there is one (`ACTOR_REALM_LOG`), a campaign meets its checkpoints.
        configuration.shortenLog(pageCommitCount: 1, ringByteCount: 64 * 4096)
        let opened = try Realm(configuration: configuration)
        // The library verifies small files when it opens them. Here damage is always to be an error at once, and not a trap
        // in a property later.
        if let size = try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int, size > 16 << 20 {
            do {
                try opened.verify()
            } catch {
                opened.close()
                throw error
            }
        }
        realm = opened
        return "ok \(opened.version)"
    }

    /// Ends everything; also what the end of the input means.
    func close() {
        if let realm, realm.isInWriteTransaction { realm.cancelWrite() }
        snapshot = nil
        realm?.close()
        realm = nil
    }

    private func open() throws -> Realm {
        guard let realm else { throw Failure.usage("no file is open") }
        return realm
    }

    private func inTransaction() throws -> Realm {
        let realm = try open()
        guard realm.isInWriteTransaction else { throw Failure.usage("no transaction is open") }
        return realm
    }

    /// What `get` and `list` read: the held snapshot, the open transaction, or the newest version.
    private func readable() throws -> Realm {
        if let snapshot { return snapshot }
        return try current()
    }

    /// The open transaction, or the newest version.
    private func current() throws -> Realm {
        let realm = try open()
        if !realm.isInWriteTransaction { _ = realm.refresh() }
        return realm
    }

    // MARK: Pairs

    private func find(_ key: String, in realm: Realm) -> Pair? {
        realm.object(ofType: Pair.self, forPrimaryKey: key)
    }

    private func put(_ key: String, _ value: String, in realm: Realm) throws {
        if let pair = find(key, in: realm) {
            pair.value = value
        } else {
            try realm.insert(Pair(key: key, value: value))
        }
    }

    private func delete(_ key: String, in realm: Realm) {
        if let pair = find(key, in: realm) { realm.delete(pair) }
    }

    private func change(_ body: (Realm) throws -> Void) throws -> String {
        let realm = try open()
        if realm.isInWriteTransaction {
            try body(realm)
            return "ok -"
        }
        let version = try realm.write {
            try body(realm)
            return realm.version
        }
        return "ok \(version)"
    }

    private func list() throws -> String {
        let realm = try readable()
        let pairs = realm.objects(Pair.self)
        var lines: [String] = []
        for pair in pairs { lines.append("= \(pair.key) \(pair.value)") }
        lines.append("ok \(realm.version) \(lines.count)")
        return lines.joined(separator: "\n")
    }

    private func verify() throws -> String {
        do {
            try open().verify()
            return "ok"
        } catch let error as Realm.Error where error.code == .invalidDatabase {
            return "err corrupt \(oneLine(error.localizedDescription))"
        }
    }

    private func query(_ text: String) throws -> String {
        let predicate: RealmPredicate
        let count: Int
        do {
            predicate = try RealmPredicate(parsing: text)
            count = try current().objects(Pair.self).filter(predicate).count
        } catch let error as Realm.Error where error.code == .invalidInput {
            throw Failure(code: "query", text: error.localizedDescription)
        }
        return "ok \(count)"
    }

    // MARK: Transactions

    private func transact(_ operations: [Operation]) throws -> String {
        if operations.allSatisfy(\.isRead) {
            let realm = try current()
            let results = try operations.map { try perform($0, in: realm) }
            return (["ok", "\(realm.version)"] + results).joined(separator: " ")
        }
        let realm = try open()
        guard !realm.isInWriteTransaction else { throw Failure.usage("a transaction is open already") }
        let (version, results) = try realm.write { (realm.version, try operations.map { try perform($0, in: realm) }) }
        return (["ok", "\(version)"] + results).joined(separator: " ")
    }

    private func perform(_ operation: Operation, in realm: Realm) throws -> String {
        switch operation {
        case .read(let key):
            return find(key, in: realm)?.value ?? "~"
        case .write(let key, let value):
            try put(key, value, in: realm)
        case .delete(let key):
            delete(key, in: realm)
        case .append(let key, let value):
            let before = find(key, in: realm)?.value ?? ""
            try put(key, before.isEmpty ? value : before + "," + value, in: realm)
        case .add(let key, let number):
            let before = find(key, in: realm).flatMap { Int64($0.value) } ?? 0
            try put(key, String(before &+ number), in: realm)
        }
        return "."
    }

    // MARK: Errors

    private func code(of error: Realm.Error) -> String {
        switch error.code {
        case .outOfDiskSpace: "full"
        case .invalidDatabase: isForeign(error) ? "badfile" : "corrupt"
        case .unsupportedFileFormatVersion, .schemaMismatch, .fileFormatUpgradeRequired: "badfile"
        case .filePermissionDenied, .readOnly: "perm"
        case .limitExceeded, .addressSpaceExhausted: "limit"
        case .incompatibleLockFile, .incompatibleSession, .alreadyOpen: "locked"
        case .invalidInput: "usage"
        default: "io"
        }
    }

    private func isForeign(_ error: Realm.Error) -> Bool {
        ["not a realm file", "not a regular file"].contains { error.message.contains($0) }
    }

    private func oneLine(_ text: String) -> String {
        text.split(whereSeparator: \.isNewline).joined(separator: " ")
    }
}
