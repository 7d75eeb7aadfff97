import Figures
import Foundation

/// Measures an engine: the same workload for all of them.
@MainActor
final class EngineContestant<E: Engine>: Contestant {
    let name = E.name
    let workload: Workload
    private var opened: E?
    /// What a measurement has shown beside its own row.
    private var byProducts: [RowIdentifier: Double] = [:]

    init(_ workload: Workload) {
        self.workload = workload
    }

    func measure(_ row: RowIdentifier) async throws -> Double? {
        if let known = byProducts.removeValue(forKey: row) { return known }
        switch row {
        // GRDB leaves the rows to the program.
        case .observerMemoryLarge where E.name != RealmEngine.name: return nil
        case _ where row.source != row:
            _ = try await measure(row.source)
            return byProducts.removeValue(forKey: row)
        case .insert: return try insertAll()
        case .insertMemory: return try peakMemory("fills")
        case .readMemory: return try peakMemory("reads")
        case .insertScattered, .lookupScattered: return try scattered(row)
        case .insertDocuments, .lookupDocuments, .updateDocuments: return try documents(row)
        case .churnedBytes, .lookupChurned, .sumChurned, .countChurned: return try churned(row)
        case .serial: return try commits(isDurable: true)
        case .noSync: return try commits(isDurable: false)
        case .serialAsync where E.name != RealmEngine.name: return try commits(isDurable: true)
        case .noSyncAsync where E.name != RealmEngine.name: return try commits(isDurable: false)
        case .serialMedian: return try commitTimes()
        case .tasks where E.name != RealmEngine.name: return try batchedCommits()
        case .countFirst: return try firstCount()
        case .freeze: return try newVersions()
        case .update: return try update()
        case .delete: return try delete()
        case .deleteByQuery: return try deleteByQuery()
        case .openWarm: return try open(afterEviction: false)
        case .openCold: return try open(afterEviction: true)
        case .readBesideWriter: return try readBesideWriter()
        case .processes: return try commitsOfProcesses()
        case .forward, .back: return try links(row)
        case .tasks, .serialAsync, .noSyncAsync, .attached, .observed, .tailWithoutCheckpoints, .openKilled,
            .writableMap, .blocked, .read, .notify, .notifyValues, .notifyOneOf100, .notifyAll100, .notifyProcess,
            .observerMemory,
            .writeBesideOne, .writeBeside100, .writeBesideObservers, .writeBeside10k, .notifyOneOf10k, .notifyLarge:
            return try await E.measureAlone(row, in: workload) { note($0, for: $1) }
        default: return try read(row)
        }
    }

    func note(_ figure: Double, for row: RowIdentifier) {
        byProducts[row] = figure
    }

    // MARK: Files

    func open(_ path: String, isDurable: Bool = true, isBrief: Bool = false) throws -> E {
        try E(path: path, isDurable: isDurable, isBrief: isBrief, isolation: MainActor.shared)
    }

    /// The file with all persons, which is only read; it is closed.
    func standardPath() throws -> String {
        opened = nil
        let path = workload.path("standard", of: E.self)
        if !FileManager.default.fileExists(atPath: path) {
            try E.makeStandard(at: path, count: workload.objectCount, isolation: MainActor.shared)
        }
        return path
    }

    /// The file with all persons, open.
    func standard() throws -> E {
        if let opened { return opened }
        let engine = try open(standardPath())
        opened = engine
        return engine
    }

    /// Runs a body with the path of a file that it may change, and removes the file.
    func withFile<Result>(copied isCopy: Bool = false, _ body: (String) throws -> Result) throws -> Result {
        let path = workload.path("changed", of: E.self)
        E.removeFiles(at: path)
        defer { E.removeFiles(at: path) }
        if isCopy {
            try FileManager.default.copyItem(atPath: standardPath(), toPath: path)
            // What is measured does not include that the copy goes to the device.
            sync()
        }
        return try body(path)
    }

    /// Runs a body with an open file that holds as many persons as commits are measured on.
    func withCommitBase<Result>(
        isDurable: Bool,
        _ body: (E, _ path: String) throws -> Result
    ) throws -> Result {
        try withFile(copied: workload.commitBase == workload.objectCount) { path in
            let engine = try open(path, isDurable: isDurable)
            if workload.commitBase != workload.objectCount { try engine.insert(0..<workload.commitBase) }
            return try body(engine, path)
        }
    }
}
