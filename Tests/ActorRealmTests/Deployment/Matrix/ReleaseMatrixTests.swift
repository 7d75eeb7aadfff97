import Foundation
import RealmModel
import RealmStorage
import RealmTestSupport
import Testing

@testable import ActorRealm

/// Two releases of a program on one file: every kind of change, beside every operation of the older one, in two processes.
///
/// `REALM_RELEASES_CASES` is the number of cases, `REALM_RELEASES_SEED` the first seed, and `REALM_RELEASES_REPORT` a file for the
/// summary, which names the commit by `REALM_CAMPAIGN_COMMIT`.
@Suite("Two releases on one file", .serialized, .timeLimit(.minutes(600)))
struct ReleaseMatrixTests {
    let directory = TemporaryDirectory()

    /// What the older release is doing when the later one comes; or that it reads only.
    enum Moment: Int, CaseIterable, Sendable {
        case idle, inTransaction, migrationUnderWay, readOnly
    }

    private struct Summary {
        var cases = 0
        var outdated = 0
        var checks = 0
        var violations: [String] = []
        var counts: [String: Int] = [:]
    }

    @Test("Each sees what a dictionary says, or the older one is outdated", .secondProcess)
    func matrix() async throws {
        let environment = ProcessInfo.processInfo.environment
        let seed = environment["REALM_RELEASES_SEED"].flatMap { UInt64($0) } ?? UInt64.random(in: 0...1_000_000_000)
        let count = environment["REALM_RELEASES_CASES"].flatMap { Int($0) } ?? 24
        print("releases: seed \(seed), \(count) cases")
        let start = ContinuousClock.now
        let path = directory.path("line")
        ReleaseLine.make(at: path)
        async let child: Void = serve(path)
        let line = await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: ReleaseLine(at: path, asChild: false)) }
        }
        var summary = Summary()
        if let line {
            for index in 0..<count {
                let seed = seed &+ UInt64(index)
                var random = SplitMix64(seed: seed &* 31)
                let kinds = ReleaseChange.allCases
                // Every kind at every moment, and then several at once.
                let pairs = kinds.count * Moment.allCases.count
                let isPair = count >= 2 * pairs ? index < pairs : index % 4 != 3
                let changes =
                    isPair
                    ? [kinds[(count >= 2 * pairs ? index : Int(seed % 10_000)) % kinds.count]]
                    : ReleaseCase.randomChanges(using: &random)
                let shift = isPair ? 0 : Int(seed % 3)
                // In a short run other pairs with each seed.
                let moment =
                    count >= 2 * pairs
                    ? Moment.allCases[(index / kinds.count + shift) % Moment.allCases.count]
                    : Moment.allCases.randomElement(using: &random)!
                let plan = ReleaseCase(seed: seed, changes: changes)
                try await run(plan, moment, line, &summary)
            }
        }
        line?.send("end")
        await child
        for violation in summary.violations { Issue.record("\(violation)") }
        let text =
            "seed \(seed): \(summary.cases) cases, \(summary.outdated) outdated, \(summary.checks) checks, "
            + "\(summary.violations.count) violations"
        print("releases: \(text)")
        if let report = environment["REALM_RELEASES_REPORT"] {
            let lines = summary.counts.sorted { $0.key < $1.key }.map { "  \($0.key): \($0.value)" }
            #if DEBUG
            let build = "debug"
            #else
            let build = "release"
            #endif
            let head = """
                Two releases on one file, two processes: REALM_RELEASES_SEED=\(seed) REALM_RELEASES_CASES=\(count) swift test --filter ReleaseMatrixTests
                commit \(CampaignRecord.commit), \(build) build, \(ProcessInfo.processInfo.activeProcessorCount) cores, \((ContinuousClock.now - start).components.seconds) s
                \(ReleaseChange.allCases.count) kinds of change at \(Moment.allCases.count) moments; a case with several changes counts once for each

                """
            try (head + text + "\n" + lines.joined(separator: "\n") + "\n")
                .write(toFile: report, atomically: true, encoding: .utf8)
        }
        #expect(summary.cases == count)
    }

    private func serve(_ path: String) async {
        await #expect(processExitsWith: .success) { [path = path as String] in LaterRelease.serve(at: path) }
    }

    private func run(_ plan: ReleaseCase, _ moment: Moment, _ line: ReleaseLine, _ summary: inout Summary) async throws
    {
        let path = directory.path("case-\(summary.cases).realm")
        let old = try await OlderRelease(plan, path: path, readOnly: moment == .readOnly)
        var world = plan.world
        let observers = await old.observe()
        await old.takeReferences()
        await old.read(world, "before the change")
        let request = "\(plan.seed) \(plan.changes.map(\.rawValue).joined(separator: "+")) \(path)"
        var seen: String?
        switch moment {
        case .idle, .readOnly: seen = await line.ask("migrate \(request)")
        case .inTransaction:
            try await old.begin(50)
            async let migrated = line.ask("migrate \(request)")
            try await old.commit()
            world.classes["Item"]?[50] = plan.row(50, of: plan.before)
            seen = await migrated
        case .migrationUnderWay:
            let answer = await line.ask("hold \(request)")
            guard answer == "inside" else {
                summary.violations.append("\(plan.description): the migration did not begin: \(answer ?? "ended")")
                return
            }
            await old.read(world, "beside the migration")
            async let code = old.write(60, form: 1)
            seen = await line.ask("go")
            let expected: Realm.Error.Code? = plan.fits ? nil : .schemaOutdated
            if await code != expected {
                summary.violations.append("\(plan.description): a write beside the migration ended otherwise")
            }
        }
        func compare(_ expected: ReleaseWorld, _ what: String, isDenied: Bool = false) {
            let lines = expected.lines + (isDenied ? ["denied"] : [])
            let found = (seen ?? "").split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
            summary.checks += 1
            if found == lines { return }
            let wrong = found.filter { !lines.contains($0) }
            summary.violations.append(
                "\(plan.description) \(moment): \(what): later release saw \(wrong), not \(lines.filter { !found.contains($0) })"
            )
        }
        if moment == .migrationUnderWay {
            // The write that waited may have come before the later release looked, or behind.
            if plan.fits { world.classes["Item"]?[60] = plan.row(60, of: plan.before) }
        } else {
            compare(world.seen(by: plan.after, after: plan.before), "after the migration")
        }
        await old.refresh(world)
        await old.resolveReferences(world)
        await old.writeEverywhere(&world)
        seen = await line.ask("read")
        compare(world.seen(by: plan.after, after: plan.before), "after the older one's writes")
        var later = world.seen(by: plan.after, after: plan.before)
        seen = await line.ask("delete")
        later.deleteKeeper(2, by: plan.ruleInForce)
        compare(later, "after its own deletion", isDenied: plan.ruleInForce == .deny)
        seen = await line.ask("write")
        later.classes["Item"]?[90] = plan.row(90, of: plan.after)
        later.classes["Item"]?[1]?["b"] = LaterRelease.value(plan)
        compare(later, "after its own writes")
        for observer in observers {
            let ending = await observer.value
            summary.checks += 1
            // One outside of actors only reads, and goes on where a reader does.
            if ending != (plan.fits ? .seen : .error), plan.fits || !plan.fitsReaders || ending != .seen {
                summary.violations.append("\(plan.description) \(moment): an observer ended with \(ending)")
            }
        }
        var newest = world
        newest.classes["Item"]?[90] = plan.row(90, of: plan.after).filter { plan.before["Item"]?[$0.key] != nil }
        newest.classes["Item"]?[1]?["b"] = LaterRelease.value(plan)
        newest.deleteKeeper(2, by: plan.ruleInForce)
        if plan.fits, moment != .readOnly { world = newest }
        await old.refresh(world)
        if moment == .readOnly { await old.follow(newest) }
        try await finish(plan, moment, old, line, path, &summary)
    }

    private func finish(
        _ plan: ReleaseCase,
        _ moment: Moment,
        _ old: OlderRelease,
        _ line: ReleaseLine,
        _ path: String,
        _ summary: inout Summary
    ) async throws {
        // With a realm that only reads, the file cannot be opened for writing at all.
        if moment == .readOnly { await old.close() }
        // The older release cannot open the file again, wherever it tries.
        do {
            try withNewRealm(ReleaseProgram(plan.before).configuration(path, version: 1)) { _ in }
            summary.violations.append("\(plan.description) \(moment): opened with the older version")
        } catch let error as Realm.Error where error.code == .schemaMismatch {
            summary.checks += 1
        }
        _ = await line.ask("close")
        if moment != .readOnly { await old.close() }
        try FileVerifier.verify(StorageFile.open(path: path, options: StorageOptions()).beginRead())
        summary.cases += 1
        summary.outdated += plan.fits ? 0 : 1
        summary.checks += await old.checks
        summary.violations += await old.violations.map { "\(moment): \($0)" }
        for change in plan.changes { summary.counts["\(change.rawValue), \(moment)", default: 0] += 1 }
        try FileManager.default.removeItem(atPath: path)
    }
}
