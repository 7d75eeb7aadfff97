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
        // No part of the interface of programs.
        "logMode": "LogModeOfRealmsTests",
        "enumerateObjects": "MigrationTests", "migrationPlan": "MigrationPlanTests",
        // By `Codable` classes, whose decoders are the caller's.
        "decode": "CodableTests", "salvage": "HostileCalls",
    ]

    private struct Initializer: CustomStringConvertible {
        let type: String
        let labels: Set<String>
        /// Those without a default.
        let required: Set<String>
        let isAsync: Bool

        init(_ type: String, _ labels: Set<String>, _ required: Set<String>, isAsync: Bool) {
            self.type = type
            self.labels = labels
            self.required = required
            self.isAsync = isAsync
        }

        var description: String { "\(type)(\(labels.sorted().joined(separator: ":")):)\(isAsync ? " async" : "")" }

        /// Whether it is called with all labels that it needs, and one of its own that others of the type may not have.
        func isCalled(in calls: String) -> Bool {
            calls.ranges(of: "\(type)(")
                .contains { range in
                    let given = Set(
                        ThrowingCallsTests.arguments(calls[range.upperBound...]).map(\.label).filter { $0 != "_" }
                    )
                    let isAwaited = calls[..<range.lowerBound].hasSuffix("await ")
                    return isAsync == isAwaited && given.isSuperset(of: required) && given.isSubset(of: labels)
                }
        }
    }

    /// What stands in parentheses, up to their end: each label, `_` where there is none, with what follows it.
    private static func arguments(_ text: Substring) -> [(label: String, text: Substring)] {
        var depth = 0
        var parts: [Substring] = []
        var start = text.startIndex
        for index in text.indices {
            switch text[index] {
            case "(", "[", "{": depth += 1
            case ")" where depth == 0, "]" where depth == 0:
                parts.append(text[start..<index])
                return parts.compactMap { part in
                    let part = part.drop(while: \.isWhitespace)
                    if part.isEmpty { return nil }
                    guard let match = part.prefixMatch(of: /(\w+)(?: \w+)?:/) else { return ("_", part) }
                    return (String(match.1), part)
                }
            case ")", "]", "}": depth -= 1
            case "," where depth == 0:
                parts.append(text[start..<index])
                start = text.index(after: index)
            default: break
            }
        }
        return []
    }

    @Test("Each public function and initializer that throws is among the calls")
    func coverage() throws {
        let tests = URL(fileURLWithPath: #filePath).resolvingSymlinksInPath()
            .deletingLastPathComponent().deletingLastPathComponent()
        let root = tests.deletingLastPathComponent().deletingLastPathComponent()
        let calls = try ["HostileCalls", "HostileTasks"]
            .map { try String(contentsOf: tests.appendingPathComponent("Objects/\($0).swift"), encoding: .utf8) }
            .joined()
        var names: Set<String> = []
        var initializers: [Initializer] = []
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
                    } else if let match = head.firstMatch(of: /init(?:<.*>)?\(/) {
                        let labels = Self.arguments(head[match.range.upperBound...])
                        let required = labels.filter { !$0.text.contains("=") && $0.label != "_" }.map(\.label)
                        // By a decoder: `CodableTests`.
                        if required == ["from"] { continue }
                        let isAsync = head.contains(") async throws")
                        initializers.append(
                            Initializer(type, Set(labels.map(\.label)), Set(required), isAsync: isAsync)
                        )
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
        #expect(initializers.count > 6, "\(initializers)")
        for initializer in initializers {
            #expect(initializer.isCalled(in: calls), "\(initializer) is not called")
        }
    }
}
