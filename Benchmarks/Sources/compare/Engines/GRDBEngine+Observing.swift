import Figures
import Foundation
import GRDB
import People
import Synchronization

/// The rows that are about observers: GRDB fetches the observed result again as a whole, there are no fine-grained changes.
extension GRDBEngine {
    @MainActor
    static func measureAlone(
        _ row: RowIdentifier,
        in workload: Workload,
        note: (Double, RowIdentifier) -> Void
    ) async throws -> Double? {
        guard row == .notify || row == .notifyOneOf100 || row == .notifyLarge else { return nil }
        let rows = row == .notifyLarge ? 10_000_000 : Workload.observedCount
        let path = workload.path("observed", of: GRDBEngine.self)
        removeFiles(at: path)
        defer { removeFiles(at: path) }
        try makeStandard(at: path, count: rows, isolation: MainActor.shared)
        let pool = try open(path, isDurable: true, schema: SQL.schema)
        let observers = row == .notifyOneOf100 ? 100 : 1
        // Each takes seconds with millions of rows.
        let changes = row == .notify ? 30 : row == .notifyLarge ? 5 : 10
        let length = rows / observers
        let counts = (0..<observers).map { _ in Deliveries() }
        let sizes = (0..<observers).map { _ in Latest() }
        let tasks = (0..<observers)
            .map { number in
                let range = number * length..<(number + 1) * length
                // A constant region lets GRDB fetch beside the writer; else the write returns after the fetch.
                let observation = ValueObservation.trackingConstantRegion { database in
                    try Record.fetchAll(
                        database,
                        sql: "SELECT * FROM person WHERE id >= ? AND id < ? AND age < 50 ORDER BY id",
                        arguments: [range.lowerBound, range.upperBound]
                    )
                }
                let count = counts[number]
                let size = sizes[number]
                return Task.detached {
                    for try await records in observation.values(in: pool) {
                        // The same result may come twice, at first.
                        if size.change(to: records.count) { count.note() }
                        consume(records)
                    }
                }
            }
        for count in counts { _ = await count.wait(for: 1) }
        var expected = [Int](repeating: 1, count: observers)
        var waits: [Double] = []
        for number in 0..<changes {
            let key = PersonData.randomKey(number, below: rows)
            let age = try await pool.read { try Int.fetchOne($0, sql: SQL.age, arguments: [key]) } ?? 0
            try await pool.write { try $0.execute(sql: SQL.update, arguments: [age < 50 ? 75 : 25, key]) }
            let returned = ContinuousClock.now
            expected[key / length] += 1
            let last = await counts[key / length].wait(for: expected[key / length])
            waits.append(max(.zero, last - returned) / .microseconds(1))
        }
        for task in tasks { task.cancel() }
        for task in tasks { _ = await task.result }
        if row == .notify { note(waits.percentile(0.99), .notifyTail) }
        if row == .notifyLarge { note(waits.percentile(0.99), .notifyLargeTail) }
        return waits.percentile(0.5)
    }
}

/// The size of the result that was delivered last.
private final class Latest: Sendable {
    private let state = Mutex(-1)

    func change(to size: Int) -> Bool {
        state.withLock { state in
            defer { state = size }
            return state != size
        }
    }
}
