import Foundation
import RealmModel
import RealmStorage
import RealmTestSupport
import Testing

/// Files from a stranger: every field of every kind of page changed, with every checksum right.
///
/// A child with limits of time, memory and file length opens, reads, queries, writes, verifies, copies, compacts and salvages each of
/// them: errors only.
///
/// `REALM_MUTATED_FILES` says how many, `REALM_MUTATED_SEED` with which the first is made; `Tests/differential "mutated files"` records
/// a campaign, and goes on behind what is recorded.
@Suite struct MutatedFileTests {
    private static func number(_ name: String) -> UInt64? {
        ProcessInfo.processInfo.environment[name].flatMap { UInt64($0) }
    }

    static let classes =
        RandomOperationsTests.classes + [
            ClassSchema(name: "Tick", properties: [PropertySchema(name: "number", kind: .int, isIndexed: true)]),
            ClassSchema(
                name: "Note",
                properties: [
                    PropertySchema(name: "text", kind: .string),
                    PropertySchema(name: "photo", kind: .data, isOptional: true),
                    PropertySchema(name: "words", kind: .string, collection: .list),
                    PropertySchema(name: "places", kind: .int, collection: .map),
                    PropertySchema(name: "sizes", kind: .int, collection: .set),
                    PropertySchema(name: "anything", kind: .any, isOptional: true),
                    PropertySchema(name: "cost", kind: .decimal128),
                    PropertySchema(name: "mark", kind: .uuid, isUnique: true),
                ],
                compoundIndexes: []
            ),
        ]

    /// A small closed file with every kind of property and of page, most of which is free.
    static func makeFile(at directory: TemporaryDirectory, seed: UInt64) throws {
        let database = try TestDatabase(classes, in: directory)
        var runner = OperationRunner(
            database: database,
            reference: ReferenceDatabase(RandomOperationsTests.classes),
            random: SplitMix64(seed: seed)
        )
        var random = SplitMix64(seed: seed)
        try database.write { model in
            let ticks = try database.table("Tick")
            for number in 0..<1_100 as Range<Int64> { try ticks.set("number", ticks.insert(), .int(number)) }
            let notes = try database.table("Note")
            for number in 0..<60 as Range<Int64> {
                let key = try notes.insert()
                try notes.set("text", key, .string(String(repeating: "text \(number) ", count: 12)))
                try notes.set("mark", key, .uuid(UUIDBytes(high: random.next(), low: random.next())))
                try notes.set("anything", key, number % 2 == 0 ? .int(number) : .string("any"))
                if number == 30 { try notes.set("photo", key, .data([UInt8](repeating: 8, count: 5_000))) }
                if number % 20 == 1 { try notes.set("photo", key, .data([UInt8](repeating: 7, count: 100_000))) }
                if number % 20 == 2 {
                    for word in 0..<400 {
                        try notes.listAppend(notes.ordinal("words"), key: key, .string("a word \(word)"))
                    }
                }
            }
        }
        for _ in 0..<30 {
            try database.write { _ in for _ in 0..<12 { try runner.runOne() } }
        }
        try database.write { _ in
            let notes = try database.table("Note")
            for key in [1, 21, 41] as [Int64] { try notes.set("photo", key, .null) }
        }
        // Only some commits leave a record in pages of its own.
        for _ in 0..<200 where try !HostileFile.hasRecord(directory.path("test.realm")) {
            try database.write { _ in try runner.runOne() }
        }
    }

    @Test func `files with any field changed are refused, or throw where they are damaged`() async throws {
        let count = Self.number("REALM_MUTATED_FILES") ?? 60
        let first = Self.number("REALM_MUTATED_SEED") ?? UInt64.random(in: 0..<1 << 40)
        let batch: UInt64 = 200
        var refused = 0
        var next = first
        while next < first + count {
            let directory = TemporaryDirectory()
            let last = min(next + batch, first + count)
            try Self.makeFile(at: directory, seed: next / 1_000)
            let path = directory.path("test.realm")
            let result = await #expect(processExitsWith: .success) {
                [path = path as String, next = next as UInt64, last = last as UInt64] in
                try Self.tryFiles(path, seeds: next..<last)
            }
            let log = (try? String(contentsOfFile: path + ".log", encoding: .utf8)) ?? ""
            let begun = next
            var violations = 0
            if result?.exitStatus != .exitCode(0) {
                violations = 1
                let text = (try? String(contentsOfFile: path + ".stderr", encoding: .utf8)) ?? ""
                print(
                    "a mutated file ended its process: \(log.split(separator: "\n").last ?? "")\n\(text.suffix(2_000))"
                )
                // The seeds after that one.
                let seed = log.split(separator: "\n").last?.split(separator: ":").first.flatMap { UInt64($0) }
                next = (seed ?? last) + 1
            } else {
                next = last
            }
            refused += log.split(separator: "\n").count { $0.hasSuffix("refused") }
            CampaignRecord.add(
                "mutated files",
                seeds: begun..<next,
                cases: Int(next - begun),
                violations: violations
            )
        }
        print("mutated files: \(count), seed \(first), with errors \(refused)")
        #expect(refused > Int(count) / 4)
    }

    private static func tryFiles(_ base: String, seeds: Range<UInt64>) throws {
        let (mutator, log) = try FileMutator.beginInChild(with: base)
        let path = base + ".edited"
        let target = base + ".target"
        for seed in seeds {
            let (bytes, changes) = mutator.mutated(seed: seed)
            // Read by whoever finds that the process has ended.
            log.write(Data("\(seed): \(changes)".utf8))
            try Data(bytes).write(to: URL(fileURLWithPath: path))
            Limits.allow(processorSeconds: 300)
            var errors: [String] = []
            // A file without numbers for further commits is whole, and takes none.
            var isFull = false
            let outcome = HostileUse.everything(path, salvagingTo: target) { step, error in
                errors.append("\(step.rawValue): \(error)")
                if let error = error as? StorageError, error.code == .limit { isFull = true }
            }
            let length = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0
            guard outcome.isConsistent || isFull, length < 2 * bytes.count + 4 << 20 else {
                fatalError("\(outcome), \(length) bytes of \(bytes.count): \(errors)")
            }
            log.write(Data((outcome == .everything ? " harmless\n" : " refused\n").utf8))
            for name in [path, path + ".lock", target, target + ".lock"] { unlink(name) }
        }
    }
}
