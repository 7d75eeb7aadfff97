import Figures
import Foundation
import People

/// Look-ups, queries, openings and links.
extension EngineContestant {
    /// Rows that only read the file with all persons.
    func read(_ row: RowIdentifier) throws -> Double? {
        let engine = try standard()
        let count = workload.objectCount
        switch row {
        case .lookup:
            let ids = randomIDs(100_000)
            return try fastest(3, row) { try engine.lookUp(ids) } / .nanoseconds(ids.count)
        case .sumObjects:
            return try fastest(3, row) { try engine.sumOfRows() } / .nanoseconds(count)
        case .sumEngine:
            guard try engine.sumByEngine() != nil else { return nil }
            return try fastest(5, row) { try engine.sumByEngine() ?? 0 } / .milliseconds(1)
        case .findByIndex:
            let emails = randomIDs(20_000).map { PersonData($0).email }
            return try fastest(3, row) { try engine.find(emails: emails) } / .nanoseconds(emails.count)
        case .sort, .sortLimited:
            let isLimited = row == .sortLimited
            guard try engine.sumOfSorted(first: 1, isLimited: isLimited) != nil else { return nil }
            return try fastest(1, row) {
                try engine.sumOfSorted(first: 1_000, isLimited: isLimited) ?? 0
            } / .milliseconds(1)
        default:
            guard let condition = condition(of: row) else { return nil }
            return try fastest(2, row) { try engine.count(condition) } / .milliseconds(1)
        }
    }

    /// The fastest of a number of runs, whose answer must be that of the other engines.
    func fastest(_ count: Int, _ row: RowIdentifier, _ body: () throws -> Int) throws -> Duration {
        var answer = 0
        let time = try repeated(count) { answer = try body() }
        try workload.answers.compare(answer, of: name, in: row)
        return time
    }

    private func randomIDs(_ count: Int) -> [Int] {
        (0..<count).map { PersonData.randomKey($0, below: workload.objectCount) }
    }

    private func condition(of row: RowIdentifier) -> Condition? {
        let name = PersonData(workload.objectCount / 2).name
        return switch row {
        case .countAnd: .agedThirtiesAndScored
        case .countEqual: .aged33
        case .countName: .named(name)
        case .countPrefix: .namePrefix(String(name.prefix(3)))
        case .countContains: .nameContains(String(name.dropFirst(5).prefix(3)))
        default: nil
        }
    }

    /// Opens the file and reads one object.
    func open(afterEviction isCold: Bool) throws -> Double {
        let path = try standardPath()
        var best = Duration.seconds(1_000)
        for _ in 0..<(isCold ? 3 : 20) {
            // A thread may have the file of the opening before for a moment more: it would not be opened then.
            usleep(20_000)
            if isCold { E.evict(at: path) }
            let start = ContinuousClock.now
            let engine = try open(path, isBrief: true)
            consume(try engine.lookUp([workload.objectCount / 2]))
            let duration = ContinuousClock.now - start
            // Closing is not measured: some builds do that on another thread.
            withExtendedLifetime(engine) {}
            best = min(best, duration)
        }
        return best / .microseconds(1)
    }

    /// Counts once in a file just opened, whose pages the system has: the median of a few openings.
    func firstCount() throws -> Double {
        let path = try standardPath()
        consume(try Data(contentsOf: URL(fileURLWithPath: path)))
        let times = try (0..<5)
            .map { _ in
                let engine = try open(path)
                return try fastest(1, .countFirst) { try engine.count(.aged33) } / .milliseconds(1)
            }
        return times.percentile(0.5)
    }

    /// Commits without a flush, and reads a property of a random person from each new version: the median of the reads.
    func newVersions() throws -> Double {
        try withFile(copied: true) { path in
            let engine = try open(path, isDurable: false)
            var (ages, expected) = (0, 0)
            let times = try randomIDs(min(1_000, workload.objectCount))
                .enumerated()
                .map { number, id in
                    try engine.update([number], age: number % 100)
                    let time = try repeated(1) { ages += try engine.readNewestVersion(id) } / .microseconds(1)
                    // What was changed just now is there only in the newest version.
                    ages += try engine.readNewestVersion(number)
                    expected += (id <= number ? id % 100 : PersonData(id).age) + number % 100
                    return time
                }
            try Answers.require(ages, is: expected, of: name, in: .freeze)
            return times.percentile(0.5)
        }
    }

    /// Point reads beside a writer in another thread that never pauses, as a share of those alone.
    func readBesideWriter() throws -> Double {
        try withFile(copied: true) { path in
            let engine = try open(path, isDurable: false)
            let ids = randomIDs(100)
            let half = workload.commitDuration / 2
            let alone = try CommitLoop(first: 0).run(for: half) { _ in consume(try engine.lookUp(ids)) }
            let writer = WriterThread<E>(path: path, first: workload.objectCount)
            let beside = try CommitLoop(first: 0).run(for: half) { _ in consume(try engine.lookUp(ids)) }
            let written = try writer.stop()
            note(written.rate, for: .writeBesideReader)
            try check(.writeBesideReader, engine, 0..<workload.objectCount + written.count)
            return beside / alone * 100
        }
    }

    func links(_ row: RowIdentifier) throws -> Double? {
        let path = workload.path("kennel", of: E.self)
        let isNew = !FileManager.default.fileExists(atPath: path)
        guard let kennel = try E.makeKennel(at: path, isolation: MainActor.shared) else { return nil }
        let dogs = min(300_000, workload.objectCount)
        if isNew { try kennel.insert(owners: dogs / 3, dogs: dogs) }
        return try fastest(2, row) {
            try row == .forward ? kennel.sumOfOwnerAges() : kennel.sumOfDogAges()
        } / .nanoseconds(dogs)
    }
}
