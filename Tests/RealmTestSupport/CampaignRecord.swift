import Foundation

/// What a random test that compares the library with plain Swift came to.
public enum CampaignRecord {
    /// What the tests were built of, as `REALM_CAMPAIGN_COMMIT` says it; `Tests/differential` does.
    public static var commit: String { ProcessInfo.processInfo.environment["REALM_CAMPAIGN_COMMIT"] ?? "unknown" }

    /// Prints the summary, and adds it with the commit as a line to the file that `REALM_CAMPAIGN_RESULTS` names.
    ///
    /// `Tests/differential` reads the lines to go on where a run ended.
    public static func add(_ kind: String, seeds: Range<UInt64>, cases: Int, violations: Int) {
        let line =
            "\(kind): seeds \(seeds.lowerBound) to \(seeds.upperBound &- 1), \(cases) cases, \(violations) violations"
        print(line)
        guard let path = ProcessInfo.processInfo.environment["REALM_CAMPAIGN_RESULTS"],
            let file = fopen(path, "a")
        else { return }
        // One write, so that lines of several processes do not mix.
        fputs("\(line), commit \(commit)\n", file)
        fclose(file)
    }
}
