import ActorRealm
import Foundation
import RealmTestSupport
import Testing

/// Functions that throw are given whatever a caller, a client or another job may bring about: they return or throw.
///
/// Each case runs in a process of its own, so that a trap is a test that fails, behind the name of the call.
/// `REALM_CALLS=20000` asks for more of them.
@Suite("Functions that throw never end the process", .timeLimit(.minutes(60)))
struct ThrowingCallsTests {
    static let seed: UInt64 = {
        ProcessInfo.processInfo.environment["REALM_CALLS_SEED"].flatMap { UInt64($0) } ?? .random(in: 0..<(1 << 32))
    }()

    static let count = ProcessInfo.processInfo.environment["REALM_CALLS"].flatMap { Int($0) } ?? 700

    private func check(_ result: ExitTest.Result?, _ report: ChildReport, line: SourceLocation = #_sourceLocation) {
        let text = report.take()
        #expect(result != nil, "seed \(Self.seed): \(text)", sourceLocation: line)
    }

    @Test("What has no task", arguments: 0..<3 as Range<UInt64>)
    func synchronous(round: UInt64) async {
        let seed = Self.seed &+ round
        let report = ChildReport()
        let result = await #expect(processExitsWith: .success, observing: [\.exitStatus]) {
            [seed = seed as UInt64, count = Self.count as Int, report = report as ChildReport] in
            report.begin()
            var calls = try HostileCalls(seed: seed)
            try calls.run(count)
        }
        check(result, report)
    }

    @Test("What suspends")
    func suspending() async {
        let report = ChildReport()
        let result = await #expect(processExitsWith: .success, observing: [\.exitStatus]) {
            [seed = Self.seed as UInt64, count = Self.count as Int, report = report as ChildReport] in
            report.begin()
            try await HostileTasks().run(count / 10, seed: seed)
        }
        check(result, report)
    }

    /// Where the calls of a name are made; what is not here has a test of its own.
    private static let elsewhere = [
        "enumerateObjects": "MigrationTests", "migrationPlan": "MigrationPlanTests",
        // By `Codable` classes, whose decoders are the caller's.
        "decode": "CodableTests", "salvage": "HostileCalls",
    ]

    @Test("Each public function and initializer that throws is among the calls")
    func coverage() throws {
        let tests = URL(fileURLWithPath: #filePath).resolvingSymlinksInPath()
            .deletingLastPathComponent().deletingLastPathComponent()
        let root = tests.deletingLastPathComponent().deletingLastPathComponent()
        let calls = try ["HostileCalls", "HostileTasks"]
            .map { try String(contentsOf: tests.appendingPathComponent("Objects/\($0).swift"), encoding: .utf8) }
            .joined()
        var names: Set<String> = []
        var initializers: Set<String> = []
        let sources = root.appendingPathComponent("Sources/ActorRealm")
        let files = try #require(FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil))
        for case let file as URL in files where file.pathExtension == "swift" {
            let text = try String(contentsOf: file, encoding: .utf8).replacing("\n", with: " ")
            var type = ""
            // A declaration ends where its body begins.
            for part in text.components(separatedBy: "public ").dropFirst() {
                let head = part.prefix(while: { $0 != "{" })
                if !head.contains("rethrows"), head.contains(") throws") || head.contains(") async throws") {
                    if let range = head.range(of: "func ") {
                        names.insert(String(head[range.upperBound...].prefix(while: { $0.isLetter || $0 == "_" })))
                    } else if let match = head.firstMatch(of: /init(?:<.*>)?\(\s*(\w+):?/), match.1 != "from" {
                        initializers.insert("\(type)(\(match.1):")
                    }
                }
                if let match = part.matches(of: /(?:extension|struct|final class|enum|public class) (\w+)/).last {
                    type = String(match.1)
                }
            }
        }
        #expect(names.count > 15, "\(names)")
        for name in names.sorted() where Self.elsewhere[name] == nil {
            let isCalled = calls.contains(".\(name)(") || calls.contains(".\(name) ") || calls.contains("try \(name)(")
            #expect(isCalled, "\(name) is not called")
        }
        // By a decoder: `CodableTests`.
        #expect(initializers.count > 3, "\(initializers)")
        for name in initializers.sorted() { #expect(calls.contains(name), "\(name) is not called") }
    }
}
