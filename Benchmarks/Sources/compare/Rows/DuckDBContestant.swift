import Figures
import Foundation
import People

/// DuckDB, driven from Python, in the rows that scan, add up and sort; left out where its package is not installed.
@MainActor
final class DuckDBContestant: Contestant {
    /// What it answers to a query.
    private struct Reply: Decodable {
        var seconds: Double
        var answer: Int
    }

    private struct Request: Encodable {
        var sql: String
        var arguments: [String] = []
        var times = 1
        var first: Int?
        /// Whether the file is opened anew before each time.
        var reopens = false
    }

    let name = "duckdb"
    private let workload: Workload
    private let log: (String) -> Void
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()
    private var rest = Data()
    /// Whether the program is there; nil until it is asked for.
    private var isThere: Bool?

    init(_ workload: Workload, log: @escaping (String) -> Void) {
        self.workload = workload
        self.log = log
    }

    func measure(_ row: RowIdentifier) async throws -> Double? {
        guard let request = request(for: row), try start() else { return nil }
        try input.fileHandleForWriting.write(contentsOf: JSONEncoder().encode(request) + Data("\n".utf8))
        let reply = try JSONDecoder().decode(Reply.self, from: Data(line().utf8))
        try workload.answers.compare(reply.answer, of: name, in: row)
        return Duration.seconds(reply.seconds) / .milliseconds(1)
    }

    private func request(for row: RowIdentifier) -> Request? {
        let name = PersonData(workload.objectCount / 2).name
        func counting(_ condition: Condition) -> Request {
            let (sql, text) = SQL.count(condition)
            return Request(sql: sql, arguments: text.map { [$0] } ?? [], times: 3)
        }
        return switch row {
        case .sumEngine: Request(sql: SQL.sum, times: 5)
        case .countFirst: Request(sql: SQL.count(.aged33).sql, times: 5, reopens: true)
        case .countAnd: counting(.agedThirtiesAndScored)
        case .countEqual: counting(.aged33)
        case .countName: counting(.named(name))
        case .countPrefix: counting(.namePrefix(String(name.prefix(3))))
        case .countContains: counting(.nameContains(String(name.dropFirst(5).prefix(3))))
        case .sort: Request(sql: SQL.sorted, first: 1_000)
        case .sortLimited: Request(sql: SQL.sorted + " LIMIT 1000")
        default: nil
        }
    }

    private func start() throws -> Bool {
        if let isThere { return isThere }
        let persons = workload.folder + "/persons.csv"
        try write(to: persons)
        defer { unlink(persons) }
        let script = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("duckdb-peer.py")
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        let python = ProcessInfo.processInfo.environment["COMPARE_PYTHON"] ?? "python3"
        process.arguments = [python, script.path, workload.folder + "/standard.duckdb", persons]
        process.standardInput = input
        process.standardOutput = output
        try? process.run()
        let greeting = process.isRunning ? line() : "missing \(python)"
        isThere = greeting.hasPrefix("ready")
        log(isThere == true ? "duckdb: \(greeting), from Python" : "duckdb is left out: \(greeting)")
        return isThere == true
    }

    /// A line of the program; empty at its end.
    private func line() -> String {
        while true {
            if let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                defer { rest = Data(rest[rest.index(after: end)...]) }
                return String(decoding: rest[..<end], as: UTF8.self)
            }
            let data = output.fileHandleForReading.availableData
            if data.isEmpty { return "" }
            rest += data
        }
    }

    private func write(to path: String) throws {
        guard FileManager.default.createFile(atPath: path, contents: nil), let file = FileHandle(forWritingAtPath: path)
        else { throw CocoaError(.fileWriteUnknown) }
        var text = ""
        for id in 0..<workload.objectCount {
            let person = PersonData(id)
            text +=
                "\(id),\(person.name),\(person.age),\(person.score),\(person.email),\(person.createdAt)\n"
            if text.utf8.count > 1 << 20 || id == workload.objectCount - 1 {
                try file.write(contentsOf: Data(text.utf8))
                text = ""
            }
        }
        try file.close()
    }
}
