import Foundation

/// How long the tests run that have every step fail, and where they say what they did.
///
/// `REALM_FAILING_STEP_SEEDS` is the number of seeds, `REALM_FAILING_STEP_FIRST` the first one, `REALM_FAILING_STEP_ROUNDS` the number
/// of rounds of each, and `REALM_FAILING_STEP_REPORT` a file that a line is added to.
public enum FailingStepCampaign {
    private static func number(_ name: String) -> UInt64? {
        ProcessInfo.processInfo.environment["REALM_FAILING_STEP_" + name].flatMap { UInt64($0) }
    }

    /// The seeds.
    public static var seeds: Range<UInt64> {
        let first = number("FIRST") ?? 1
        return first..<first + (number("SEEDS") ?? 1)
    }

    /// The rounds of a seed.
    public static func rounds(unlessSaid usual: Int) -> Int { number("ROUNDS").map { Int($0) } ?? usual }

    /// Prints what was done, and adds it to the report, with the commit that the tests were built of.
    public static func report(_ text: String) {
        let text = "\(text)\n  commit \(CampaignRecord.commit)"
        print(text)
        guard let path = ProcessInfo.processInfo.environment["REALM_FAILING_STEP_REPORT"] else { return }
        let line = text + "\n"
        guard let file = FileHandle(forWritingAtPath: path) else {
            _ = FileManager.default.createFile(atPath: path, contents: Data(line.utf8))
            return
        }
        defer { try? file.close() }
        _ = try? file.seekToEnd()
        try? file.write(contentsOf: Data(line.utf8))
    }

    /// What a campaign did, in one line: the numbers by name.
    public static func summary(of counts: [String: Int]) -> String {
        counts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
    }
}

/// The steps that were made to fail, by action.
public struct FailedSteps: Sendable {
    /// How many were, by action and by kind of step.
    private var failures: [String: Int] = [:]
    private var kinds: [String: Int] = [:]
    /// How many steps an action has taken at most, each of which failed once.
    private var places: [String: Int] = [:]
    /// How often everything was compared to what it has to be.
    public var comparisons = 0
    /// How often something was not what it had to be.
    public var violations = 0

    /// None.
    public init() {}

    /// Notes that the step failed which an action takes behind `number` others.
    public mutating func add(_ kind: String, number: Int, of action: String) {
        failures[action, default: 0] += 1
        kinds[kind, default: 0] += 1
        places[action] = max(places[action] ?? 0, number + 1)
    }

    /// Adds what another campaign has met.
    public mutating func add(_ other: FailedSteps) {
        failures.merge(other.failures) { $0 + $1 }
        kinds.merge(other.kinds) { $0 + $1 }
        places.merge(other.places) { max($0, $1) }
        comparisons += other.comparisons
        violations += other.violations
    }

    /// Whether a step of an action failed.
    public func contains(_ action: String) -> Bool { failures[action] != nil }

    /// What failed, in lines; `compared` says what was compared.
    public func summary(compared: String) -> String {
        """
          injected failures: \(failures.values.reduce(0, +)), by action: \(FailingStepCampaign.summary(of: failures))
          places of an action: \(places.values.reduce(0, +)), by action: \(FailingStepCampaign.summary(of: places))
          by step: \(FailingStepCampaign.summary(of: kinds))
          states compared (\(compared)): \(comparisons); violations: \(violations)
        """
    }
}
