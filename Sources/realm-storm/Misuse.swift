import ActorRealm
import Foundation
import MisuseTrials

/// Live objects are used where they do not belong.
///
/// `realm-storm --misuse 100000 --traps 1000 --summary FILE` asks the check for so many verdicts, misuses so many objects in
/// processes of their own, each of which has to end by the trap, and writes down what it found.
extension Storm {
    static func misuse(_ options: Options, verdicts: Int) async throws -> Bool {
        let trials = try await MisuseTrials(misuseConfiguration)
        if let trap = options.trap {
            await trials.misuse(seed: trap)
            return true
        }
        print("seed \(options.seed)")
        let started = ContinuousClock.now
        let outcome = await trials.run(verdicts: verdicts, seed: options.seed)
        print(
            "\(outcome.foreignVerdicts) uses from elsewhere, \(outcome.passed) passed; \(outcome.ownVerdicts) uses at home, \(outcome.refused) refused"
        )
        var survivors = 0
        for trap in 0..<options.traps {
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
            process.arguments = ["--misuse", "0", "--trap", "\(options.seed &+ UInt64(trap))"]
            process.environment = ProcessInfo.processInfo.environment.merging(["SWIFT_BACKTRACE": "enable=no"]) { $1 }
            let errors = Pipe()
            process.standardError = errors
            try process.run()
            let text = String(decoding: try errors.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
            process.waitUntilExit()
            if process.terminationReason == .exit || !text.contains("Realm accessed from incorrect thread or actor") {
                survivors += 1
                print(
                    "BROKEN: misuse \(options.seed &+ UInt64(trap)) ended with status \(process.terminationStatus): \(text.suffix(200))"
                )
            }
        }
        print("\(options.traps) misuses in processes of their own, \(survivors) without the trap")
        if let path = options.summary {
            let text = summary(options, outcome, survivors: survivors, ContinuousClock.now - started)
            try text.write(toFile: path, atomically: true, encoding: .utf8)
        }
        return outcome.passed == 0 && outcome.refused == 0 && survivors == 0
    }

    /// What a run found, as a file keeps it.
    private static func summary(
        _ options: Options,
        _ outcome: MisuseTrials.Outcome,
        survivors: Int,
        _ duration: Duration
    ) -> String {
        #if DEBUG
        let build = "debug"
        #else
        let build = "release"
        #endif
        return """
            Live objects used where they do not belong. Written by:
            realm-storm --misuse \(outcome.foreignVerdicts) --traps \(options.traps) --seed \(options.seed) --summary FILE

            build                                \(build)
            processors                           \(ProcessInfo.processInfo.activeProcessorCount)
            seconds                              \(duration.components.seconds)

            verdicts on uses from elsewhere      \(outcome.foreignVerdicts)
            of these passed                      \(outcome.passed)
            verdicts on uses at home             \(outcome.ownVerdicts)
            of these refused                     \(outcome.refused)
            uses from elsewhere in own processes \(options.traps)
            of these without the trap            \(survivors)

            """
    }

    private static var misuseConfiguration: Realm.Configuration {
        var configuration = Realm.Configuration(inMemoryIdentifier: "misuse")
        configuration.objectTypes = [Witness.self]
        return configuration
    }
}
