import FoundationEssentials

extension Date {
    /// The date as text, also where no calendar has it: Foundation's description ends the process then.
    var text: String {
        let seconds = timeIntervalSinceReferenceDate
        // About 30,000 years each way.
        return abs(seconds) < 1e12 ? description : "\(seconds) seconds since 2001-01-01"
    }
}
