import ActorRealm
import Foundation

@testable import RealmModel
@testable import RealmStorage

/// A file to which whatever the input says is applied as a commit record, and taken back.
///
/// The first byte says whether it is a record of rows or of a schema; the rest is its content.
private final class Fuzzer {
    let file: StorageFile
    let model: ModelView

    static let classes = [
        ClassSchema(
            name: "Place",
            properties: [
                PropertySchema(name: "id", kind: .int, isPrimaryKey: true),
                PropertySchema(name: "name", kind: .string, isIndexed: true),
                PropertySchema(name: "size", kind: .double, isOptional: true),
                PropertySchema(name: "near", kind: .object, targetClass: "Place"),
                PropertySchema(name: "others", kind: .object, collection: .list, targetClass: "Place"),
                PropertySchema(name: "counts", kind: .int, collection: .map),
                PropertySchema(name: "anything", kind: .any),
                PropertySchema(name: "mark", kind: .uuid, isOptional: true),
                PropertySchema(name: "tags", kind: .string, collection: .set),
            ]
        )
    ]

    init() throws {
        let path = NSTemporaryDirectory() + "/record-fuzz-\(getpid()).realm"
        var options = StorageOptions()
        options.durability = .none
        file = try StorageFile.open(path: path, options: options)
        try file.lockForWriting()
        let transaction = try file.beginWrite()
        let plan = try SchemaReconciler.plan(stored: nil, declared: DatabaseSchema(classes: Self.classes, version: 1))
        try SchemaReconciler.apply(plan, in: transaction)
        try file.publish([transaction.prepareCommit()])
        model = try ModelView(snapshot: file.beginRead())
        try model.begin(file.beginWrite())
        let places = try model.table(named: "Place")!
        for id in 0..<12 {
            let key = try places.insert(intPrimaryKey: Int64(id))
            try places.set(1, key: key, to: .string("place \(id % 5)"))
            if id > 0 { try places.set(3, key: key, to: .link(Int64(id - 1))) }
            // One that is large.
            for other in 0..<(id == 7 ? 300 : id % 3) {
                try places.listAppend(4, key: key, .link(Int64(other % max(1, id))))
            }
        }
        try file.publish([model.prepareCommit()])
        try model.endTransaction(advancingTo: file.beginRead())
    }

    /// Writes records of what such a file can be told, for the fuzzer to begin with.
    func writeSeeds(to folder: String) throws {
        func write(_ name: String, _ kind: UInt8, _ content: [UInt8]) throws {
            try Data([kind] + content).write(to: URL(fileURLWithPath: folder + "/" + name))
        }
        for number in 0..<6 {
            let transaction = try file.beginWrite()
            transaction.recording = .record
            try model.begin(transaction)
            defer { model.rollback() }
            let places = try model.table(named: "Place")!
            switch number {
            case 0:
                let key = try places.insert(intPrimaryKey: 100)
                try places.set(1, key: key, to: .string("new"))
                try places.mapSet(5, key: key, "one", to: .int(1))
                try places.setInsert(8, key: key, .string("tag"))
            case 1: try places.delete(key: 3)
            case 2: try places.set(2, key: 4, to: .double(4))
            case 3: try places.listInsert(4, key: 7, at: 100, .link(2))
            case 4: try places.set(6, key: 5, to: .list([.string("a"), .anyLink(table: places.id, key: 2)]))
            default: try places.deleteAll()
            }
            if let record = try model.record(RecordHeading(time: 1)) {
                try write("changes-\(number)", 0, record.content)
            }
        }
        let base = try file.beginRead()
        let transaction = try file.beginWrite()
        defer { transaction.rollback() }
        var classes = Self.classes
        classes.append(
            ClassSchema(name: "Other", properties: [PropertySchema(name: "place", kind: .object, targetClass: "Place")])
        )
        let stored = try SchemaReconciler.storedSchema(of: base)
        let plan = try SchemaReconciler.plan(stored: stored, declared: DatabaseSchema(classes: classes, version: 2))
        try SchemaReconciler.apply(plan, in: transaction)
        try write("schema", 1, try SchemaRecord.content(of: transaction, since: base, RecordHeading()))
    }

    /// Applies what the input says, and takes it back.
    ///
    /// - Returns: What is broken in the realm that a record which was accepted leaves.
    func run(_ input: UnsafeRawBufferPointer) throws -> StorageError? {
        guard let first = input.first else { return nil }
        let content = UnsafeRawBufferPointer(rebasing: input.dropFirst())
        let transaction = try file.beginWrite()
        transaction.recording = .replay
        if first & 1 == 0 {
            try model.begin(transaction)
            defer { model.rollback() }
            _ = try model.replayChanges(content)
            try model.checkUniqueness()
            return damage(in: model)
        }
        defer { transaction.rollback() }
        _ = try SchemaRecord.replay(content, in: transaction)
        return damage(in: try ModelView(transaction: transaction))
    }

    /// Whatever a record says, what it makes is consistent; having no room to look is no damage.
    private func damage(in model: ModelView) -> StorageError? {
        do {
            try ModelVerifier.verify(model)
            return nil
        } catch {
            return [.full, .addressSpaceExhausted, .limit].contains(error.code) ? nil : error
        }
    }
}

// libFuzzer calls on one thread.
private nonisolated(unsafe) let fuzzer = {
    do {
        let fuzzer = try Fuzzer()
        if let folder = ProcessInfo.processInfo.environment["RECORD_FUZZ_SEEDS"] { try fuzzer.writeSeeds(to: folder) }
        return fuzzer
    } catch {
        fatalError("No file to apply records to: \(error)")
    }
}()

/// What libFuzzer calls, on one thread, with each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>, _ count: Int) -> Int32 {
    var damage: StorageError?
    do {
        // The bytes are the caller's and live until this returns.
        damage = try fuzzer.run(UnsafeRawBufferPointer(start: start, count: count))
    } catch {
        // What cannot be applied is refused with an error.
    }
    if let damage { fatalError("A record was accepted that leaves a damaged realm: \(damage)") }
    return 0
}
