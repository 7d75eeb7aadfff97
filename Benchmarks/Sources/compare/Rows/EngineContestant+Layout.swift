import Figures
import Foundation
import People

/// The same workloads on data that lies otherwise: keys in no order, large rows, a file after many changes; and memory.
extension EngineContestant {
    private var scatteredKeys: [Int] { (0..<workload.objectCount).map { PersonData.scatteredKey($0) } }

    /// Rows about keys in no order.
    func scattered(_ row: RowIdentifier) throws -> Double {
        let keys = scatteredKeys
        return try withFile { path in
            let engine = try open(path)
            let rate = try perSecond(keys.count) { try engine.insert(keys) }
            try check(row, engine, keys)
            let asked = (0..<100_000).map { keys[PersonData.randomKey($0, below: keys.count)] }
            note(
                try fastest(3, .lookupScattered) { try engine.lookUp(asked) } / .nanoseconds(asked.count),
                for: .lookupScattered
            )
            return rate
        }
    }

    /// Rows about objects of a kilobyte.
    func documents(_ row: RowIdentifier) throws -> Double {
        let count = max(1, workload.objectCount / 10)
        let ids = (0..<min(20_000, count)).map { PersonData.randomKey($0, below: count) }
        return try withFile { path in
            let library = try E.makeLibrary(at: path, isDurable: true, isolation: MainActor.shared)
            let rate = try perSecond(count) { try library.insert(0..<count) }
            note(
                try fastest(3, .lookupDocuments) { try library.read(ids) } / .nanoseconds(ids.count),
                for: .lookupDocuments
            )
            let all = Array(0..<count)
            try workload.answers.compare(try library.read(all), of: name, in: .insertDocuments)
            note(try perSecond(ids.count) { try library.update(ids, views: 100) }, for: .updateDocuments)
            try workload.answers.compare(try library.read(all), of: name, in: .updateDocuments)
            return rate
        }
    }

    /// Rows about a file in which many transactions have replaced half of the persons.
    func churned(_ row: RowIdentifier) throws -> Double? {
        let path = workload.path("churned", of: E.self)
        if !FileManager.default.fileExists(atPath: path) {
            try E.makeChurned(
                at: path,
                from: standardPath(),
                count: workload.objectCount,
                isolation: MainActor.shared
            )
        }
        let count = workload.objectCount
        if row == .churnedBytes { return Double(E.byteCount(at: path)) / Double(count) }
        let engine = try open(path)
        switch row {
        case .lookupChurned:
            // Of each two one that was there from the start and one that came later.
            let replaced = 50 * max(1, count / 100)
            let ids = (0..<50_000)
                .flatMap { number in
                    let key = PersonData.randomKey(number, below: count)
                    return [key | 1, PersonData.scatteredKey(key % replaced)]
                }
            return try fastest(3, row) { try engine.lookUp(ids) } / .nanoseconds(ids.count)
        case .sumChurned: return try fastest(3, row) { try engine.sumOfRows() } / .nanoseconds(count)
        case .countChurned: return try fastest(2, row) { try engine.count(.aged33) } / .milliseconds(1)
        default: return nil
        }
    }

    /// What a process of its own has in memory at most, in MiB.
    func peakMemory(_ task: String) throws -> Double? {
        func measure(_ path: String) throws -> Double? {
            let child = try ChildProcess([task, E.name, path, "\(workload.objectCount)"])
            try child.go()
            return Double(try child.result())
        }
        return try task == "reads" ? measure(standardPath()) : withFile { try measure($0) }
    }
}
