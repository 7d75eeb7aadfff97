import Foundation
import RealmModel
import RealmStorage
import RealmTestSupport
import Testing

/// A snapshot that is held pins its own pages and nothing else, however many commits pass.
///
/// `REALM_HELD_COMMITS` sets the number of commits (default 3,000).
@Suite struct HeldSnapshotTests {
    private func length(_ file: StorageFile) throws -> Int {
        try #require(try FileManager.default.attributesOfItem(atPath: file.path)[.size] as? Int)
    }

    @Test(arguments: [1, 1_000])
    func `the file does not grow with the commits that a snapshot outlives`(rowsPerCommit: Int) throws {
        let wanted = Int(ProcessInfo.processInfo.environment["REALM_HELD_COMMITS"] ?? "") ?? 3_000
        // Enough for the size to settle before half of them.
        let commits = rowsPerCommit == 1 ? wanted : wanted / 30
        let database = try TestDatabase([
            ClassSchema(
                name: "Row",
                properties: [
                    PropertySchema(name: "id", kind: .int, isPrimaryKey: true),
                    PropertySchema(name: "value", kind: .int),
                    PropertySchema(name: "text", kind: .string, isIndexed: true),
                ]
            )
        ])
        try database.write { _ in
            let table = try database.table("Row")
            for id in Int64(0)..<1_000 {
                let key = try table.insert(primaryKey: .int(id))
                try table.set("text", key, .string("text \(id)"))
            }
        }
        let before = try length(database.file)
        var held: ModelView? = try database.model.duplicate()
        var most = 0
        var half = 0
        for commit in 0..<commits {
            try database.write { _ in
                let table = try database.table("Row")
                for row in 0..<rowsPerCommit {
                    let key = Int64((commit &* 7 &+ row) % 1_000)
                    try table.set("value", key, .int(Int64(commit)))
                    try table.set("text", key, .string("text \(commit) \(key)"))
                }
            }
            if commit % 256 == 0 || commit == commits / 2 { most = max(most, try length(database.file)) }
            if commit == commits / 2 { half = try length(database.file) }
        }
        let during = try length(database.file)
        most = max(most, during)
        let table = try #require(try held?.table(named: "Row"))
        for key in stride(from: Int64(0), to: 1_000, by: 37) {
            #expect(try table.value(table.ordinal("text"), key: key) == .string("text \(key)"))
        }
        held = nil
        try database.write { _ in try database.table("Row").set("value", 0, .int(-1)) }
        let maintenance = SpaceMaintenance()
        try database.file.lockForWriting()
        defer { database.file.unlockForWriting() }
        steps: for _ in 0..<10_000 {
            switch try maintenance.step(database.file) {
            case .commit(let commit): try database.file.publish([commit])
            case .more: break
            case .done: break steps
            }
        }
        let after = try length(database.file)
        print(
            "a snapshot held over \(commits) commits of \(rowsPerCommit) rows: \(before) bytes before, \(half) after half, "
                + "\(during) at the end (at most \(most)), \(after) after it was let go"
        )
        try FileVerifier.verify(database.file.beginRead())
        #expect(during <= half + (64 << 10), "the file grows with the commits")
        #expect(most <= before * 3 + (1 << 20))
        #expect(after <= most)
    }
}
