import Foundation
import RealmTestSupport
import Testing

@testable import RealmStorage

/// The same while commits owe their pages.
extension LogCrashTests {
    @Test("With commits that owe their pages: these are made later, within the cut, or by whoever opens the file")
    func powerCutsWhileOwing() throws {
        let wanted = Int(ProcessInfo.processInfo.environment["REALM_CRASH_STATES"] ?? "") ?? 600
        let firstSeed = UInt64(ProcessInfo.processInfo.environment["REALM_CRASH_SEED"] ?? "") ?? 1
        var (checked, replayed, owing) = (0, 0, 0)
        var seed = firstSeed
        while checked < wanted {
            defer { seed += 1 }
            var random = SplitMix64(seed: seed &* 12289)
            let sessions = try OwingSessions(seed: seed, in: folder)
            var disk = PowerCutDisk(realm: sessions.first)
            // From the first session to the last.
            let pace = max(1, sessions.operations.count / 80)
            var isOwing = false
            for operation in sessions.operations {
                if case .acknowledged(let version) = operation {
                    // The same version once more has its pages.
                    isOwing = version > disk.acknowledged && sessions.owing.contains(version)
                }
                disk.perform(operation)
                if disk.acknowledged == 0 || Int.random(in: 0..<pace, using: &random) > 0 { continue }
                let variant = Int.random(in: 0..<disk.variantCount + 2, using: &random)
                let state =
                    variant < disk.variantCount
                    ? disk.survivor(variant: variant, using: &random) : disk.survivorOfWholeWrites(using: &random)
                let what = "owed pages, seed \(seed) state \(checked)"
                let recovers = checked % 12 == 0
                let did = try check(state, disk.acknowledged, sessions.history, what, records: recovers)
                checked += 1
                if did.replayed { replayed += 1 }
                if isOwing { owing += 1 }
                if recovers {
                    checked += try checkRecovery(
                        of: state,
                        did.operations,
                        did.version,
                        disk.acknowledged,
                        sessions.history,
                        what,
                        &random
                    )
                }
            }
        }
        print(
            "crash states with owed pages checked: \(checked), workloads: \(seed - firstSeed), "
                + "with a log to replay: \(replayed), cuts behind a commit that owes its pages: \(owing)"
        )
        #expect(replayed > 0 && owing > 0)
    }
}
