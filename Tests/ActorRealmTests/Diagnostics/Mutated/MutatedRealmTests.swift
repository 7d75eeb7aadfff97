import ActorRealm
import Foundation
import RealmStorage
import RealmTestSupport
import Testing

/// Files from a stranger in the public interface: every field of every kind of page changed, with every checksum right.
///
/// A child with limits of time, memory and file length does with each of them what a program does: it opens, verifies, reads all
/// properties and links, queries, observes, writes, deletes, copies, compacts, migrates and salvages. Only errors may come of it.
///
/// `REALM_MUTATED_FILES` says how many, `REALM_MUTATED_SEED` with which the first is made; `Tests/differential "mutated realms"` records
/// a campaign, and goes on behind what is recorded.
@Suite(.timeLimit(.minutes(60))) struct MutatedRealmTests {
    private static func number(_ name: String) -> UInt64? {
        ProcessInfo.processInfo.environment[name].flatMap { UInt64($0) }
    }

    /// A file takes some seconds of a processor in a debug build, most of them for descriptions, and several times that where the
    /// machine is shared: what does not end is what these find.
    private static let processorSeconds = 300
    private static let wallSeconds: UInt32 = 900

    @Test func `the public interface throws where a field of a file was changed, and ends nothing`() async throws {
        let count = Self.number("REALM_MUTATED_FILES") ?? 40
        let first = Self.number("REALM_MUTATED_SEED") ?? 1
        var counts: [String: Int] = [:]
        var steps: [String: Int] = [:]
        var violations = 0
        var next = first
        while next < first + count {
            let begun = next
            // The file to change is another one for each thousand.
            let last = min(next + 200, first + count, (next / 1_000 + 1) * 1_000)
            let directory = TemporaryDirectory()
            let path = directory.path("test.realm")
            try Mutated.makeFile(at: path, seed: next / 1_000)
            let result = await #expect(processExitsWith: .success) {
                [path = path as String, next = next as UInt64, last = last as UInt64] in
                try await Self.tryFiles(path, seeds: next..<last)
            }
            let lines = (try? String(contentsOfFile: path + ".log", encoding: .utf8))?.split(separator: "\n") ?? []
            for line in lines {
                guard let outcome = line.split(separator: "|").dropFirst().first else { continue }
                let words = outcome.split(separator: " ").map(String.init)
                counts[words[0], default: 0] += 1
                for step in words.dropFirst() { steps[step, default: 0] += 1 }
            }
            next = last
            if result?.exitStatus != .exitCode(0) {
                violations += 1
                let text = (try? String(contentsOfFile: path + ".stderr", encoding: .utf8)) ?? ""
                // The frames of a stack are of no use here.
                let words = text.split(separator: "\n").filter { $0.firstMatch(of: /^ *[0-9]+ +/) == nil }.suffix(8)
                let end = words.map { $0.prefix(1_000) }.joined(separator: "\n")
                print("a mutated file ended its process: \(lines.last ?? "no file")\n\(end)")
                // The seeds behind that one.
                let seed = lines.last?.split(separator: ":").first.flatMap { UInt64($0) }
                next = (seed ?? last - 1) + 1
            }
            CampaignRecord.add(
                "mutated realms",
                seeds: begun..<next,
                cases: Int(next - begun),
                violations: result?.exitStatus == .exitCode(0) ? 0 : 1
            )
        }
        let summaries = [counts, steps].map(FailingStepCampaign.summary)
        print(
            "mutated realms: \(count) files from seed \(first), \(summaries[0]); violations \(violations); "
                + "steps that met an error: \(summaries[1])"
        )
        #expect(counts["refused", default: 0] + counts["damaged", default: 0] > Int(count) / 4)
    }

    /// Tries files until one does more than throw; the log says what was changed in each, and what came of it.
    private static func tryFiles(_ base: String, seeds: Range<UInt64>) async throws {
        let (mutator, log) = try FileMutator.beginInChild(with: base)
        let path = base + ".edited"
        let memory = residentByteCount()
        for seed in seeds {
            let (bytes, changes) = mutator.mutated(seed: seed)
            log.write(Data("\(seed): \(changes)".utf8))
            try Data(bytes).write(to: URL(fileURLWithPath: path))
            Limits.allow(processorSeconds: Self.processorSeconds)
            alarm(Self.wallSeconds)
            let use = MutatedUse(path: path)
            try await use.run()
            let length = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0
            let used = residentByteCount() - memory
            guard length < 2 * bytes.count + 4 << 20, used < 1 << 30 else {
                fatalError("\(length) bytes of \(bytes.count), \(used) bytes of memory: \(use.errors)")
            }
            let outcome = use.errors.isEmpty ? "harmless" : use.failed.contains(.open) ? "refused" : "damaged"
            let failed = use.failed.map(\.rawValue).sorted().joined(separator: " ")
            log.write(Data("|\(outcome) \(failed)|\n".utf8))
            for end in ["", ".lock"] { unlink(path + end) }
        }
    }

    /// The most memory that the process has had at once.
    private static func residentByteCount() -> Int {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        return usage.ru_maxrss << 10
    }
}
