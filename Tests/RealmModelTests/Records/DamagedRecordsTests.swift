import RealmModel
import RealmStorage
import RealmTestSupport
import Testing

/// What `record-fuzz` does for hours, for a moment.
@Suite("Commit records whose bytes were changed")
struct DamagedRecordsTests {
    @Test("What is accepted leaves a realm that verifies", arguments: RandomRecordsTests.seeds)
    func accepted(seed: UInt64) throws {
        let recorded = try RecordedDatabase(WideOperations.classes)
        var random = SplitMix64(seed: seed &* 77)
        var operations = WideOperations(random: SplitMix64(seed: seed))
        func run(_ count: Int) -> (ModelView) throws -> Void {
            { model in for _ in 0..<count { try operations.runOne(in: model) } }
        }
        var counts = (accepted: 0, refused: 0)
        for _ in 0..<6 {
            try recorded.write(run(25))
            let contents = try (0..<3).map { _ in try content(of: run(1 + random.below(12)), in: recorded.database) }
            for content in contents {
                let isApplied = try applies(content, to: recorded)
                #expect(isApplied)
                for _ in 0..<40 {
                    let damaged = damage(content, &random)
                    if try applies(damaged, to: recorded) { counts.accepted += 1 } else { counts.refused += 1 }
                }
            }
        }
        #expect(counts.accepted > 20 && counts.refused > 20, "\(counts)")
    }

    /// The record of a transaction that is taken back.
    private func content(of body: (ModelView) throws -> Void, in database: TestDatabase) throws -> [UInt8] {
        try database.file.lockForWriting()
        defer { database.file.unlockForWriting() }
        let transaction = try database.file.beginWrite()
        transaction.recording = .record
        try database.model.begin(transaction)
        defer { database.model.rollback() }
        try body(database.model)
        return try #require(try database.model.record(RecordHeading())).content
    }

    private func damage(_ content: [UInt8], _ random: inout SplitMix64) -> [UInt8] {
        var bytes = content
        for _ in 0..<1 + random.below(2) where bytes.count > 16 {
            // Not in the heading and the stamp.
            let place = 4 + random.below(bytes.count - 4)
            let other = 4 + random.below(bytes.count - 4)
            switch random.below(5) {
            case 0: bytes[place] ^= 1 << UInt8(random.below(8))
            case 1: bytes[place] = UInt8(truncatingIfNeeded: random.next())
            case 2: bytes[place] = bytes[place] &+ (random.chance(50) ? 1 : 255)
            case 3: bytes.swapAt(place, other)
            default:
                let length = min(1 + random.below(24), bytes.count - max(place, other))
                let (one, two) = (Array(bytes[place..<place + length]), Array(bytes[other..<other + length]))
                bytes.replaceSubrange(place..<place + length, with: two)
                if random.chance(70) { bytes.replaceSubrange(other..<other + length, with: one) }
            }
        }
        return bytes
    }

    /// Applies a record to the replica and takes it back; false when it is refused.
    private func applies(_ content: [UInt8], to recorded: RecordedDatabase) throws -> Bool {
        let file = recorded.replica
        try file.lockForWriting()
        defer { file.unlockForWriting() }
        let transaction = try file.beginWrite()
        transaction.recording = .replay
        let model = try recorded.replicated()
        try model.begin(transaction)
        defer { model.rollback() }
        do {
            try content.withUnsafeBytes { _ = try model.replayChanges($0) }
            try model.checkUniqueness()
        } catch let error as StorageError {
            #expect([.corrupt, .limit].contains(error.code), "\(error)")
            return false
        } catch is ModelError {
            return false
        }
        do { try ModelVerifier.verify(model) } catch { Issue.record("\(error), of \(content)") }
        return true
    }
}
