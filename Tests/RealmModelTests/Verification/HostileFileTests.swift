import Foundation
import RealmModel
import RealmStorage
import RealmTestSupport
import Testing

/// Files from a stranger: edited anywhere, with every checksum right.
///
/// They are refused, or an error is thrown where the damage is
/// met; nothing traps, hangs or takes memory without bound, whether the file is verified, read, written to or salvaged.
///
/// `REALM_HOSTILE_FILES` says how many, `REALM_HOSTILE_SEED` with which the first is made.
@Suite struct HostileFileTests {
    private static func number(_ name: String) -> UInt64? {
        ProcessInfo.processInfo.environment[name].flatMap { UInt64($0) }
    }

    /// A small closed file with every kind of property and of page.
    private func makeFile(_ seed: UInt64) throws -> (TemporaryDirectory, HostileFile) {
        let directory: TemporaryDirectory
        do {
            let database = try TestDatabase(RandomOperationsTests.classes)
            directory = database.directory
            var runner = OperationRunner(
                database: database,
                reference: ReferenceDatabase(RandomOperationsTests.classes),
                random: SplitMix64(seed: seed)
            )
            for _ in 0..<12 {
                try database.write { _ in for _ in 0..<40 { try runner.runOne() } }
            }
        }
        return (directory, try HostileFile(path: directory.path("test.realm")))
    }

    @Test func `a file whose checksums were made right again is intact`() throws {
        let (directory, file) = try makeFile(3)
        let path = directory.path("same.realm")
        try Data(file.original).write(to: URL(fileURLWithPath: path))
        let outcome = HostileUse.everything(path, salvagingTo: directory.path("salvaged.realm"))
        #expect(outcome == .everything)
    }

    @Test func `edited files with right checksums are refused, or throw where they are damaged`() throws {
        let count = Self.number("REALM_HOSTILE_FILES") ?? 300
        let first = Self.number("REALM_HOSTILE_SEED") ?? UInt64.random(in: 0..<1 << 40)
        let log = ProcessInfo.processInfo.environment["REALM_HOSTILE_LOG"]
        var base = try makeFile(first / 5_000)
        var outcomes: [HostileUse.Outcome: Int] = [:]
        for seed in first..<first + count {
            if seed % 5_000 == 0 { base = try makeFile(seed / 5_000) }
            let (directory, file) = base
            var random = SplitMix64(seed: seed)
            let script = (0..<HostileFile.editByteCount * Int.random(in: 1...3, using: &random))
                .map { _ in UInt8.random(in: 0...255, using: &random) }
            let (bytes, edits) = file.edited(by: script)
            // Read by whoever finds that the process has ended.
            if let log { try Data("seed \(seed): \(edits)\n".utf8).write(to: URL(fileURLWithPath: log)) }
            let path = directory.path("edited.realm")
            try Data(bytes).write(to: URL(fileURLWithPath: path))
            let outcome = HostileUse.everything(path, salvagingTo: directory.path("salvaged.realm"))
            outcomes[outcome, default: 0] += 1
            #expect(outcome.isConsistent, "seed \(seed): \(edits)")
            for name in ["edited.realm", "edited.realm.lock", "salvaged.realm", "salvaged.realm.lock"] {
                try? FileManager.default.removeItem(atPath: directory.path(name))
            }
        }
        let unverified = outcomes.filter { $0.key.contains(.opened) && !$0.key.contains(.verified) }.values.reduce(0, +)
        let refused = outcomes.filter { !$0.key.contains(.opened) }.values.reduce(0, +)
        print(
            "hostile files: \(count), seed \(first), refused when opened \(refused), found by verification \(unverified)"
        )
        #expect(refused + unverified > Int(count) / 4)
    }
}
