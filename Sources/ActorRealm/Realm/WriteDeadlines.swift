/// When the writers of one file give up that wait for their turns and block no thread.
///
/// Few alarms serve any number of them: one is asked for only where none comes in time.
struct WriteDeadlines {
    typealias Ticket = WriteScheduler.Ticket
    typealias Instant = ContinuousClock.Instant

    private var times: [Ticket: Instant] = [:]
    /// When somebody will look.
    private var alarms: [Instant] = []

    /// The number of alarms that are to come.
    var alarmCount: Int { alarms.count }

    /// Notes when a writer gives up.
    ///
    /// - Returns: when an alarm is needed; nil where one comes in time.
    mutating func add(_ time: Instant, of ticket: Ticket, at now: Instant = .now) -> Instant? {
        times[ticket] = time
        return arm(for: time, at: now)
    }

    /// Notes that a writer waits no more.
    mutating func forget(_ ticket: Ticket) {
        if !times.isEmpty { times[ticket] = nil }
    }

    /// Takes out the writers whose time has passed, in the order in which they came, when an alarm is called.
    ///
    /// - Returns: them, and when another alarm is needed.
    mutating func look(at now: Instant, calledFor alarm: Instant) -> (due: [Ticket], alarm: Instant?) {
        // A clock may be a little ahead of the other one: this alarm has come.
        alarms.removeAll { $0 == alarm || $0 <= now }
        let due = times.filter { $0.value <= now }.keys.sorted { $0.number < $1.number }
        for ticket in due { times[ticket] = nil }
        // Many whose times are close are looked at together.
        return (due, times.values.min().flatMap { arm(for: max($0, now + .milliseconds(1)), at: now) })
    }

    private mutating func arm(for time: Instant, at now: Instant) -> Instant? {
        // One whose time has passed may come late: its thread may be with a program, and its clock stands still while the machine sleeps.
        if alarms.contains(where: { $0 > now && $0 <= time }) { return nil }
        alarms.append(time)
        return time
    }
}
