import RealmStorage

/// What is asked of a write, beside its block.
struct WriteRequest {
    let tokens: [NotificationToken]
    /// How long it waits at most; nil for as long as its realm's configuration says.
    let timeout: Duration?
    let origin: ReaderOrigin
    /// Whether it waits for as long as it takes, whatever the configuration says.
    var isPatient = false

    init(_ tokens: [NotificationToken], _ timeout: Duration?, _ file: StaticString, _ line: UInt) {
        self.tokens = tokens
        self.timeout = timeout
        origin = ReaderOrigin(fileID: file, line: line)
    }

    /// When the wait ends at the latest, if it begins now.
    func deadline(in configuration: Realm.Configuration) -> ContinuousClock.Instant? {
        guard !isPatient, let timeout = timeout ?? configuration.writeTimeout else { return nil }
        return Self.deadline(after: timeout)
    }

    /// The end of a wait that begins now, whatever its length is.
    static func deadline(after timeout: Duration) -> ContinuousClock.Instant {
        .now + bounded(timeout, atLeast: .zero)
    }

    /// A time that clocks can add to any other.
    static func bounded(_ duration: Duration, atLeast least: Duration) -> Duration {
        min(max(duration, least), longest)
    }

    /// What clocks can add to any time: a hundred years.
    private static var longest: Duration { .seconds(3_155_760_000) }
}
