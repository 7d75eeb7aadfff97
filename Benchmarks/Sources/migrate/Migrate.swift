import ActorRealm
import Foundation
import People

/// Measures what migrations take: for each kind the time, the memory and what the file grows by.
@main
enum Migrate {
    private static let usage = """
        usage: migrate [--objects N] [--rounds R] [--folder PATH]

        --objects  Objects in the file; 1,000,000 by default.
        --rounds   Rounds; medians of them are shown. 3 by default.
        --folder   A folder on the device to measure; the temporary folder by default.
        """

    private struct Failure: Error, CustomStringConvertible {
        var description: String
    }

    static func main() {
        do {
            let arguments = Array(CommandLine.arguments.dropFirst())
            if arguments.first == "--step", arguments.count == 3 { return try runStep(arguments[1], arguments[2]) }
            try run(arguments)
        } catch {
            FileHandle.standardError.write(Data("migrate: \(error)\n\n\(usage)\n".utf8))
            exit(1)
        }
    }

    /// One migration in this process, which does nothing else.
    private static func runStep(_ name: String, _ path: String) throws {
        guard let step = Step.all.first(where: { $0.name == name }) else {
            throw Failure(description: "There is no step \(name).")
        }
        let memory = MemoryPeak()
        let start = ContinuousClock.now
        let realm = try Realm(configuration: step.configuration(path))
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        print(seconds, memory.end(), realm.schema.objectSchema.count)
    }

    private static func run(_ arguments: [String]) throws {
        var options: [String: String] = [:]
        var rest = arguments[...]
        while let name = rest.popFirst() {
            guard ["--objects", "--rounds", "--folder"].contains(name), let value = rest.popFirst() else {
                throw Failure(description: "\(name) is not an option, or lacks its value.")
            }
            options[name] = value
        }
        let count = options["--objects"].flatMap { Int($0) } ?? 1_000_000
        let rounds = options["--rounds"].flatMap { Int($0) } ?? 3
        let folder =
            (options["--folder"] ?? FileManager.default.temporaryDirectory.path) + "/migrate-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let original = folder + "/original.realm"
        try fill(original, count: count)
        print("| migration of \(count) objects | seconds | memory, MiB | file grows by, MiB |")
        print("|---|---:|---:|---:|")
        for step in Step.all {
            let figures = try (0..<rounds).map { _ in try measure(step, original, folder + "/copy.realm") }
            func median(_ part: (Figures) -> Double) -> Double { figures.map(part).sorted()[figures.count / 2] }
            print(
                "| \(step.name) | " + String(format: "%.2f", median(\.seconds)) + " | "
                    + String(format: "%.0f", median(\.memory)) + " | " + String(format: "%.0f", median(\.growth)) + " |"
            )
        }
    }

    private static func fill(_ path: String, count: Int) throws {
        let realm = try Realm(configuration: Step.configuration(path, OldPerson.self, version: 1))
        for start in stride(from: 0, to: count, by: 100_000) {
            try realm.write {
                for number in start..<min(count, start + 100_000) { realm.add(OldPerson(PersonData(number))) }
            }
        }
    }

    private struct Figures {
        var seconds: Double
        var memory: Double
        var growth: Double
    }

    private static func measure(_ step: Step, _ original: String, _ copy: String) throws -> Figures {
        for suffix in ["", ".lock"] { try? FileManager.default.removeItem(atPath: copy + suffix) }
        try FileManager.default.copyItem(atPath: original, toPath: copy)
        let before = try size(of: copy)
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        process.arguments = ["--step", step.name, copy]
        process.standardOutput = output
        try process.run()
        let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        process.waitUntilExit()
        let numbers = text.split(separator: " ").compactMap { Double($0.trimmingCharacters(in: .newlines)) }
        guard process.terminationStatus == 0, numbers.count == 3 else {
            throw Failure(description: "The migration '\(step.name)' failed: \(text)")
        }
        return Figures(seconds: numbers[0], memory: numbers[1], growth: max(0, try size(of: copy) - before) / 1_048_576)
    }

    private static func size(of path: String) throws -> Double {
        try FileManager.default.attributesOfItem(atPath: path)[.size] as? Double ?? 0
    }
}
