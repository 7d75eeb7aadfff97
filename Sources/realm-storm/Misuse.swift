import ActorRealm
import Foundation
import MisuseTrials

/// Live objects are used where they do not belong.
///
/// `realm-storm --misuse 100000 --traps 1000` asks the check for so many verdicts, and misuses so many objects in processes of
/// their own, each of which has to end by the trap.
extension Storm {
    static func misuse(_ options: Options, verdicts: Int) async throws -> Bool {
        let trials = try await MisuseTrials(misuseConfiguration)
        if let trap = options.trap {
            await trials.misuse(seed: trap)
            return true
        }
        print("seed \(options.seed)")
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
        return outcome.passed == 0 && outcome.refused == 0 && survivors == 0
    }

    private static var misuseConfiguration: Realm.Configuration {
        var configuration = Realm.Configuration(inMemoryIdentifier: "misuse")
        configuration.objectTypes = [Witness.self]
        return configuration
    }
}
