import ActorRealm
import Figures
import Foundation
import People

/// Another process of this executable: it gets ready, waits for a line, does one thing, and says what came out.
@MainActor
final class ChildProcess {
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()

    /// Starts a process, and waits until it is ready.
    init(_ arguments: [String]) throws {
        process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        process.arguments = ["--child"] + arguments
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        _ = output.fileHandleForReading.availableData
    }

    func go() throws {
        try input.fileHandleForWriting.write(contentsOf: Data("go\n".utf8))
    }

    /// Waits for a line of the process, and kills it; returns the line.
    func killBehindLine() throws -> String {
        let data = output.fileHandleForReading.availableData
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        return String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    func result() throws -> String {
        let data = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// What a process that commits says: how many it made in a second, and how many in all.
    func commits() throws -> (rate: Double, count: Int) {
        let words = try result().split(separator: " ")
        guard words.count == 2, let rate = Double(words[0]), let count = Int(words[1]) else {
            throw Options.Failure(description: "A child that commits said \(words).")
        }
        return (rate, count)
    }

    /// What such a process does.
    static func main(_ arguments: [String]) async throws {
        guard arguments.count > 2 else {
            throw Options.Failure(description: "A child needs a task, an engine and a path.")
        }
        switch (arguments[0], arguments[1]) {
        case ("holds", RealmEngine.name): try hold(arguments[2])
        case ("observes", RealmEngine.name): try await observe(arguments)
        case ("refreshes", RealmEngine.name): try refresh(arguments)
        case ("ticks", RealmEngine.name): try tick(arguments[2])
        case ("fills-log", RealmEngine.name): try fillLog(arguments)
        case (let task, RealmEngine.name): try run(task, RealmEngine.self, arguments)
        case (let task, GRDBEngine.name): try run(task, GRDBEngine.self, arguments)
        case (let task, SQLiteEngine.name): try run(task, SQLiteEngine.self, arguments)
        case (let task, LMDBEngine.name): try run(task, LMDBEngine.self, arguments)
        default: throw Options.Failure(description: "There is no engine \(arguments[1]).")
        }
    }

    private static func run<E: Engine>(_ task: String, _ type: E.Type, _ arguments: [String]) throws {
        switch task {
        case "commits": try commit(type, arguments)
        case "fills": try fill(type, arguments)
        case "reads": try read(type, arguments)
        default: throw Options.Failure(description: "There is no child task \(task).")
        }
    }

    private static func count(_ arguments: [String]) throws -> Int {
        guard arguments.count == 4, let count = Int(arguments[3]) else {
            throw Options.Failure(description: "A child that fills, reads or observes needs a number.")
        }
        return count
    }

    /// Inserts all persons in one transaction, and says how much memory that took.
    private static func fill<E: Engine>(_ type: E.Type, _ arguments: [String]) throws {
        let count = try count(arguments)
        let engine = try E(path: arguments[2], isDurable: true, isBrief: false, isolation: MainActor.shared)
        waitForGo()
        try engine.insert(0..<count)
        print(peakMebibytes())
    }

    /// Reads the file with all persons in several ways, and says how much memory that took.
    private static func read<E: Engine>(_ type: E.Type, _ arguments: [String]) throws {
        let count = try count(arguments)
        let engine = try E(path: arguments[2], isDurable: true, isBrief: false, isolation: MainActor.shared)
        waitForGo()
        consume(try engine.lookUp((0..<100_000).map { PersonData.randomKey($0, below: count) }))
        consume(try engine.count(.agedThirtiesAndScored))
        consume(try engine.sumOfRows())
        print(peakMebibytes())
    }

    /// Observes a file from many places, and says how much memory each of them took.
    ///
    /// A process of its own, because one that has observed before has the memory for it.
    private static func observe(_ arguments: [String]) async throws {
        let count = try count(arguments)
        waitForGo()
        print(try await RealmEngine.memory(arguments[2], observers: count))
    }

    private static func waitForGo() {
        print("ready")
        fflush(nil)
        _ = readLine()
    }

    private static func hold(_ path: String) throws {
        let realm = try Realm(configuration: RealmEngine.configuration(path))
        realm.beginWrite()
        waitForGo()
        // Whoever waits comes in between.
        for _ in 0..<200 {
            usleep(5_000)
            realm.cancelWrite()
            realm.beginWrite()
        }
        realm.cancelWrite()
    }

    /// Has a realm open, and refreshes it every 10 ms for a number of seconds.
    private static func refresh(_ arguments: [String]) throws {
        guard arguments.count == 4, let seconds = Double(arguments[3]) else {
            throw Options.Failure(description: "A child that refreshes needs a duration.")
        }
        let realm = try Realm(configuration: RealmEngine.configuration(arguments[2]))
        waitForGo()
        let start = ContinuousClock.now
        while ContinuousClock.now - start < .seconds(seconds) {
            usleep(10_000)
            realm.refresh()
        }
    }

    /// Fills the log of a realm, says how many objects there are, and waits to be killed.
    private static func fillLog(_ arguments: [String]) throws {
        let base = try count(arguments)
        waitForGo()
        let (engine, count) = try RealmEngine.withFullLog(at: arguments[2], behind: base)
        print(count)
        fflush(nil)
        _ = readLine()
        withExtendedLifetime(engine) {}
    }

    /// Commits a number every few milliseconds, and says when each commit returned.
    private static func tick(_ path: String) throws {
        let realm = try Realm(configuration: RealmEngine.configuration(path))
        guard let person = realm.object(ofType: Person.self, forPrimaryKey: 0) else { return print("") }
        waitForGo()
        var returned: [String] = []
        for number in 1...400 {
            usleep(4_000)
            try realm.write { person.age = number }
            returned.append("\(monotonicNanoseconds())")
        }
        print(returned.joined(separator: " "))
    }

    private static func commit<E: Engine>(_ type: E.Type, _ arguments: [String]) throws {
        guard arguments.count == 5, let first = Int(arguments[3]), let seconds = Double(arguments[4]) else {
            throw Options.Failure(description: "A child that commits needs a first number and a duration.")
        }
        let engine = try E(path: arguments[2], isDurable: false, isBrief: false, isolation: MainActor.shared)
        waitForGo()
        let loop = CommitLoop(first: first)
        let rate = try loop.run(for: .seconds(seconds)) { try engine.insert($0..<$0 + 1) }
        print(rate, loop.count)
    }
}
