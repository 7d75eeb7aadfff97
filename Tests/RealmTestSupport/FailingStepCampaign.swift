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

    /// Prints what was done, and adds it to the report.
    public static func report(_ text: String) {
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
