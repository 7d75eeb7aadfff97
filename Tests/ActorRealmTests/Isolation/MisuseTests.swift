import ActorRealm
import Dispatch
import Foundation
import MisuseTrials
import Testing

@Suite("What belongs to one isolation is used nowhere else", .timeLimit(.minutes(60)))
struct MisuseTests {
    private static func configuration(_ name: String) -> Realm.Configuration {
        var configuration = Realm.Configuration(inMemoryIdentifier: "misuse-\(name)-\(UUID().uuidString)")
        configuration.objectTypes = [Witness.self]
        return configuration
    }

    @Test("Of uses from elsewhere none passes, and of uses at home none is refused, whatever ran on the thread before")
    func verdicts() async throws {
        let seed = UInt64.random(in: 0..<(1 << 32))
        let count = ProcessInfo.processInfo.environment["MISUSE_VERDICTS"].flatMap { Int($0) } ?? 4_000
        let outcome = try await MisuseTrials(Self.configuration("verdicts")).run(verdicts: count, seed: seed)
        #expect(outcome.foreignVerdicts >= count)
        #expect(outcome.ownVerdicts > count / 4)
        #expect(outcome.passed == 0, "seed \(seed)")
        #expect(outcome.refused == 0, "seed \(seed)")
    }

    @Test("A use from elsewhere ends the process and says what belongs where", arguments: 0..<6)
    func traps(round: UInt64) async throws {
        let seed = UInt64.random(in: 0..<(1 << 32))
        let result = await #expect(
            processExitsWith: .failure,
            observing: [\.standardErrorContent]
        ) { [seed = seed as UInt64] in
            try await MisuseTrials(Self.configuration("traps")).misuse(seed: seed)
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains("Realm accessed from incorrect thread or actor"), "seed \(seed): \(text.suffix(300))")
    }
}
