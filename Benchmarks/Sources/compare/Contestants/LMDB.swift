import CLMDB
import Foundation

/// LMDB through its C API: a person is 76 bytes under an 8-byte key, with a second tree for the index on the email.
@MainActor
final class LMDB: Contestant {
    static let name = "lmdb"

    private let workload: Workload
    private var populated: LMDBEnvironment?
    private var bytesPerObject: Double?
    private var bytesPerCommit: Double?

    init(_ workload: Workload) {
        self.workload = workload
    }

    func measure(_ row: RowIdentifier) async throws -> Double? {
        switch row {
        case .insert: try insertAll()
        case .insertBytes: try size()
        case .serial: try serialCommits()
        case .commitBytes: try writtenBytes()
        case .lookup: try lookUp()
        case .sumObjects: try sumOverRows()
        case .sumEngine, .tasks, .notify, .read: nil
        }
    }

    private func path(_ name: String) -> String { workload.folder + "/\(name).lmdb" }

    private func removeFile(_ name: String) {
        for suffix in ["", "-lock"] { unlink(path(name) + suffix) }
    }

    private func populate(_ environment: LMDBEnvironment, _ ids: Range<Int>) throws {
        try environment.write { transaction in
            for id in ids { try transaction.insert(PersonData(id)) }
        }
    }

    private func standard() throws -> LMDBEnvironment {
        if let populated { return populated }
        let environment = try LMDBEnvironment(path("standard"))
        try populate(environment, 0..<workload.objectCount)
        populated = environment
        return environment
    }

    private func insertAll() throws -> Double {
        removeFile("insert")
        defer { removeFile("insert") }
        let environment = try LMDBEnvironment(path("insert"))
        let start = ContinuousClock.now
        try populate(environment, 0..<workload.objectCount)
        let elapsed = ContinuousClock.now - start
        let attributes = try FileManager.default.attributesOfItem(atPath: path("insert"))
        bytesPerObject = ((attributes[.size] as? NSNumber)?.doubleValue ?? 0) / Double(workload.objectCount)
        return Double(workload.objectCount) / (elapsed / .seconds(1))
    }

    private func size() throws -> Double? {
        if bytesPerObject == nil { _ = try insertAll() }
        return bytesPerObject
    }

    private func serialCommits() throws -> Double {
        removeFile("serial")
        defer { removeFile("serial") }
        let environment = try LMDBEnvironment(path("serial"))
        try populate(environment, 0..<1_000)
        let counter = WrittenBytes()
        let start = ContinuousClock.now
        var commits = 0
        while ContinuousClock.now - start < workload.commitDuration {
            try environment.write { try $0.insert(PersonData(1_000 + commits)) }
            commits += 1
        }
        let elapsed = ContinuousClock.now - start
        bytesPerCommit = counter.sinceStart / Double(commits)
        return Double(commits) / (elapsed / .seconds(1))
    }

    private func writtenBytes() throws -> Double? {
        if bytesPerCommit == nil { _ = try serialCommits() }
        return bytesPerCommit
    }

    private func lookUp() throws -> Double {
        let environment = try standard()
        let count = 100_000
        var sum = 0
        let elapsed = try repeated(3) {
            try environment.read { transaction in
                for number in 0..<count {
                    let key = PersonData.randomKey(number, below: workload.objectCount)
                    guard let row = try transaction.row(key) else { continue }
                    sum &+= Int(row.loadUnaligned(fromByteOffset: 0, as: Int64.self))
                    sum &+= String(decoding: row[LMDBEnvironment.nameOffset...].prefix(16), as: UTF8.self).utf8.count
                }
            }
        }
        consume(sum)
        return elapsed / .nanoseconds(count)
    }

    private func sumOverRows() throws -> Double {
        let environment = try standard()
        var sum = 0
        let elapsed = try repeated(3) {
            try environment.read { transaction in
                try transaction.forEachRow { sum &+= Int($0.loadUnaligned(fromByteOffset: 0, as: Int64.self)) }
            }
        }
        consume(sum)
        return elapsed / .nanoseconds(workload.objectCount)
    }
}
