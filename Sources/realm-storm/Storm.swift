@_spi(Tools) import ActorRealm
import Foundation

/// Many tasks on many actors in several processes write to one file, asynchronously and blocking, and are cancelled at random.
///
/// Ends with status 1 when a promise was broken: a write that was acknowledged is lost, or one that was not is there; a block
/// ran twice; a process's writes were not made in the order in which they came; a process kept the lock from others; a thread
/// of Swift's pool waited for the device or for another process.
@main
struct Storm {
    static func main() async throws {
        let mode: String
        do throws(Realm.Error) {
            mode = try Realm.logMode()
        } catch {
            FileHandle.standardError.write(Data("realm-storm: \(error.localizedDescription)\n".utf8))
            exit(2)
        }
        var options = Options(Array(CommandLine.arguments.dropFirst()))
        if let verdicts = options.misuses { exit(try await misuse(options, verdicts: verdicts) ? 0 : 1) }
        if let transactions = options.mixed { exit(try await mixed(options, transactions: transactions) ? 0 : 1) }
        if let process = options.process { return try await run(process, options) }
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("storm-\(UUID().uuidString)")
        if options.path.isEmpty {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            options.path = folder.appendingPathComponent("storm.realm").path
        }
        print("log: \(mode)")
        let isKept = try await direct(options)
        try? FileManager.default.removeItem(at: folder)
        exit(isKept ? 0 : 1)
    }

    static func configuration(_ options: Options) -> Realm.Configuration {
        var configuration = Realm.Configuration(fileURL: URL(fileURLWithPath: options.path))
        configuration.objectTypes = [Entry.self, Total.self]
        if !options.isFlushed { configuration.durability = .unflushed }
        configuration.shortenLog(pageCommitCount: 1, ringByteCount: 64 * 4096)
        return configuration
    }

    // MARK: The process that starts the others

    @MainActor
    private static func direct(_ options: Options) async throws -> Bool {
        print("seed \(options.seed)")
        let realm = try await Realm(configuration: configuration(options))
        try realm.write { _ = realm.create(Total.self, value: ["id": 0, "count": 0]) }
        let watch = LockWatch(realm: options.path)
        var children: [(process: Process, output: Pipe)] = []
        for number in 0..<options.processes {
            let process = Process()
            let output = Pipe()
            process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
            process.arguments = options.arguments(ofProcess: number)
            process.standardOutput = output
            try process.run()
            children.append((process, output))
        }
        var written = 0
        var sum = 0
        var isKept = true
        for (process, output) in children {
            let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
            process.waitUntilExit()
            print(text, terminator: "")
            let numbers = text.split(separator: "\n").last?.split(separator: " ").compactMap { Int($0) } ?? []
            guard process.terminationStatus == 0, numbers.count == 2 else {
                print("BROKEN: a process ended with status \(process.terminationStatus)")
                isKept = false
                continue
            }
            written += numbers[0]
            sum &+= numbers[1]
        }
        let locks = watch.stop()
        let shares = children.map { locks.shares[$0.process.processIdentifier] ?? .zero }
        print("had the write lock for \(shares), at most \(locks.longest) while others waited")
        if locks.longest > LockWatch.tolerance {
            print("BROKEN: a process kept the write lock for \(locks.longest) while others waited")
            isKept = false
        }
        realm.refresh()
        let entries = realm.objects(Entry.self)
        let found = entries.reduce(0) { $0 &+ $1.id }
        let total = realm.object(ofType: Total.self, forPrimaryKey: 0)?.count ?? 0
        print("\(written) writes acknowledged, \(entries.count) in the file, counted \(total)")
        if entries.count != written || found != sum || total != written {
            print("BROKEN: writes were lost, or made without being acknowledged")
            isKept = false
        }
        try realm.verify()
        print(isKept ? "kept" : "broken")
        return isKept
    }

    // MARK: One of the others

    private static func run(_ process: Int, _ options: Options) async throws {
        let ledger = Ledger()
        let sampler = PoolSampler()
        var writers: [any Writer] = []
        for number in 0..<(options.actors / options.processes) {
            let writer: any Writer = number.isMultiple(of: 2) ? PoolWriter() : QueueWriter()
            try await writer.open(number, configuration(options), ledger)
            writers.append(writer)
        }
        try await sampler.calibrate()
        sampler.start()
        let deadline = ContinuousClock.now + .seconds(options.seconds)
        let tasks = options.tasks / options.processes
        let outcomes = await withTaskGroup(of: Outcomes.self) { [writers] group in
            for task in 0..<tasks {
                group.addTask {
                    let seed = options.seed &+ UInt64(process * 1_000_003 + task)
                    var worker = Worker(process, task, writers[task % writers.count], seed)
                    return await worker.work(until: deadline)
                }
            }
            try? await Task.sleep(until: deadline, clock: .continuous)
            group.cancelAll()
            return await group.reduce(into: Outcomes()) { $0.add($1) }
        }
        let findings = sampler.stop()
        let report = ledger.report
        print(
            "process \(process): \(tasks) tasks on \(writers.count) actors, \(report.written) written, \(outcomes.cancelled) "
                + "cancelled, \(outcomes.timedOut) timed out; p50 \(report.median) us, p99 \(report.percentile99) us; "
                + "farthest behind its place of \(report.judged): \(report.worstOvertaking) places, \(report.longestOvertaking); \(findings.samples) looks at "
                + "threads, longest wait for another one \(findings.longestWait)"
        )
        var isKept = true
        if outcomes.failed > 0 {
            print("BROKEN: \(outcomes.failed) writes failed: \(outcomes.failure)")
            isKept = false
        }
        if report.longestOvertaking > Ledger.tolerance {
            print("BROKEN: a write was made after one that was called \(report.longestOvertaking) later")
            isKept = false
        }
        if !findings.offences.isEmpty {
            let kinds = Set(findings.offences).sorted()
            print("BROKEN: threads of the pool waited: \(kinds), \(findings.offences.count) times")
            isKept = false
        }
        print(report.written, report.sum)
        exit(isKept ? 0 : 1)
    }
}
