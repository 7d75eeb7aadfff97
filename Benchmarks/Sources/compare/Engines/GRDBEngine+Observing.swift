import Figures
import Foundation
import GRDB
import People
import Synchronization

/// The rows that are about observers.
extension GRDBEngine {
    @MainActor
    static func measureAlone(
        _ row: RowIdentifier,
        in workload: Workload,
        note: (Double, RowIdentifier) -> Void
    ) async throws -> Double? {
        let many = 10_000_000
        switch row {
        case .notify: return try await waits(in: workload, changes: 1_000, .notifyTail, note)
        case .notifyLarge: return try await waits(in: workload, rows: many, changes: 1_000, .notifyLargeTail, note)
        case .notifyOneOf100: return try await waits(in: workload, observers: 100, changes: 300, nil, note)
        // Each takes a tenth of a second: too few for a percentile.
        case .notifyValues: return try await waits(in: workload, changes: 30, areValues: true, nil, note)
        default: return nil
        }
    }

    /// Moves one random person after the other over the limit of age, and takes the time from the return of the commit to
    /// the delivery to the one observer that it concerns.
    @MainActor
    private static func waits(
        in workload: Workload,
        rows: Int = Workload.observedCount,
        observers: Int = 1,
        changes: Int,
        areValues: Bool = false,
        _ tail: RowIdentifier?,
        _ note: (Double, RowIdentifier) -> Void
    ) async throws -> Double {
        let path = workload.path("observed", of: GRDBEngine.self)
        removeFiles(at: path)
        defer { removeFiles(at: path) }
        try makeStandard(at: path, count: rows, isolation: MainActor.shared)
        let pool = try open(path, isDurable: true, schema: SQL.schema)
        let length = rows / observers
        let deliveries = (0..<observers).map { _ in Deliveries() }
        let tasks = deliveries.enumerated()
            .map { number, deliveries in
                let range = number * length..<(number + 1) * length
                return areValues
                    ? observeValues(of: range, in: pool, deliveries) : observeChanges(of: range, in: pool, deliveries)
            }
        for delivery in deliveries { _ = await delivery.wait(for: 1) }
        var expected = [Int](repeating: 1, count: observers)
        var waits: [Double] = []
        for number in 0..<changes {
            let key = PersonData.randomKey(number, below: rows)
            let returned = try change(key, in: pool)
            expected[key / length] += 1
            let last = await deliveries[key / length].wait(for: expected[key / length])
            waits.append(max(.zero, last - returned) / .microseconds(1))
        }
        for task in tasks { task.cancel() }
        for task in tasks { _ = await task.result }
        if let tail { note(waits.percentile(0.99), tail) }
        return waits.percentile(0.5)
    }

    /// Moves a person over the limit of age; returns when the write returned, without a change of executor.
    private static func change(_ key: Int, in pool: DatabasePool) throws -> ContinuousClock.Instant {
        let age = try pool.read { try Int.fetchOne($0, sql: SQL.age, arguments: [key]) } ?? 0
        try pool.write { try $0.execute(sql: SQL.update, arguments: [age < 50 ? 75 : 25, key]) }
        return .now
    }

    /// Keeps the set of the young in a stretch of persons: of each commit only the rows that it changed are read.
    private static func observeChanges(
        of range: Range<Int>,
        in pool: DatabasePool,
        _ deliveries: Deliveries
    ) -> Task<Void, any Error> {
        let (stream, continuation) = AsyncStream<[Int]>.makeStream()
        let observer = RowObserver(range) { continuation.yield($0) }
        pool.add(transactionObserver: observer, extent: .databaseLifetime)
        // The writer does not wait for this: the rows are read beside it.
        func isYoung(_ ids: [Int]) throws -> [Bool] {
            try pool.read { database in
                let statement = try database.cachedStatement(sql: SQL.age)
                return try ids.map { try Int.fetchOne(statement, arguments: [$0]).map { $0 < 50 } ?? false }
            }
        }
        func young() throws -> Set<Int> {
            try pool.read { database in
                try Set(
                    Int.fetchAll(
                        database,
                        sql: SQL.young("id"),
                        arguments: [range.lowerBound, range.upperBound]
                    )
                )
            }
        }
        return Task.detached {
            var known = try young()
            deliveries.note()
            for await ids in stream {
                for (id, isYoung) in zip(ids, try isYoung(ids)) {
                    if isYoung { known.insert(id) } else { known.remove(id) }
                }
                deliveries.note()
                consume(known.count)
            }
        }
    }

    /// Fetches the young of a stretch of persons anew, with all their columns, for each commit that changes the table.
    private static func observeValues(
        of range: Range<Int>,
        in pool: DatabasePool,
        _ deliveries: Deliveries
    ) -> Task<Void, any Error> {
        // A constant region lets GRDB fetch beside the writer; else the write returns after the fetch.
        let observation = ValueObservation.trackingConstantRegion { database in
            try Record.fetchAll(
                database,
                sql: SQL.young("*"),
                arguments: [range.lowerBound, range.upperBound]
            )
        }
        return Task.detached {
            var size = -1
            for try await records in observation.values(in: pool) {
                // The same result may come twice, at first.
                if size != records.count { deliveries.note() }
                size = records.count
                consume(records)
            }
        }
    }
}

/// Tells which persons of a stretch each commit changed; GRDB calls it on the writer's queue.
private final class RowObserver: TransactionObserver {
    private let range: Range<Int>
    private let commit: @Sendable ([Int]) -> Void
    private var changed: [Int] = []

    init(_ range: Range<Int>, commit: @escaping @Sendable ([Int]) -> Void) {
        self.range = range
        self.commit = commit
    }

    func observes(eventsOfKind kind: DatabaseEventKind) -> Bool { kind.tableName == "person" }

    func databaseDidChange(with event: DatabaseEvent) {
        let id = Int(event.rowID)
        if range.contains(id) { changed.append(id) }
    }

    func databaseDidCommit(_ database: Database) {
        if !changed.isEmpty { commit(changed) }
        changed = []
    }

    func databaseDidRollback(_ database: Database) {
        changed = []
    }
}
