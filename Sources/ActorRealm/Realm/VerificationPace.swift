/// How long a reader pauses so that it reads no more than so many bytes in a second.
struct VerificationPace: Sendable {
    /// The most bytes in a second.
    let bytesPerSecond: Int

    /// Shorter pauses are added up, since each costs more than it is worth.
    static let shortestPause = Duration.milliseconds(10)

    /// - Parameter bytesPerSecond: The most bytes in a second; less than one counts as one.
    init(bytesPerSecond: Int) { self.bytesPerSecond = max(1, bytesPerSecond) }

    /// The pause that is due.
    ///
    /// - Parameters:
    ///   - byteCount: The bytes read so far.
    ///   - elapsed: The time since the beginning.
    /// - Returns: nil when there is none.
    func pause(behind byteCount: Int, after elapsed: Duration) -> Duration? {
        let due = Duration.seconds(Double(byteCount) / Double(bytesPerSecond))
        let pause = due - elapsed
        return pause >= Self.shortestPause ? pause : nil
    }
}
