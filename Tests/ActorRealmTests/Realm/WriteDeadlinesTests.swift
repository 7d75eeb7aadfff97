import Testing

@testable import ActorRealm

@Suite("The deadlines of writers that wait without blocking a thread")
struct WriteDeadlinesTests {
    private func ticket(_ number: UInt64) -> WriteDeadlines.Ticket { .init(number: number) }

    @Test("An alarm is asked for only where none comes in time; those whose time has passed are told in their order")
    func alarms() {
        let start = ContinuousClock.now
        var deadlines = WriteDeadlines()
        #expect(deadlines.add(start + .seconds(9), of: ticket(1)) == start + .seconds(9))
        #expect(deadlines.add(start + .seconds(10), of: ticket(2)) == nil)
        #expect(deadlines.add(start + .seconds(5), of: ticket(4)) == start + .seconds(5))
        #expect(deadlines.add(start + .seconds(5), of: ticket(3)) == nil)
        let early = deadlines.look(at: start + .seconds(5), calledFor: start + .seconds(5))
        #expect(early.due == [ticket(3), ticket(4)])
        #expect(early.alarm == nil, "one comes for the next")
        let late = deadlines.look(at: start + .seconds(9), calledFor: start + .seconds(9))
        #expect(late.due == [ticket(1)])
        #expect(late.alarm == start + .seconds(10))
    }

    @Test("An alarm that comes a little too early is asked for again")
    func earlyAlarm() {
        let start = ContinuousClock.now
        var deadlines = WriteDeadlines()
        let alarm = start + .seconds(5)
        #expect(deadlines.add(alarm, of: ticket(1)) == alarm)
        let found = deadlines.look(at: alarm - .microseconds(1), calledFor: alarm)
        #expect(found.due.isEmpty)
        #expect(found.alarm.map { $0 > alarm } == true)
    }

    @Test("Any number of writers that come and go behind one with a late deadline ask for few alarms")
    func fewAlarms() {
        let start = ContinuousClock.now
        var deadlines = WriteDeadlines()
        _ = deadlines.add(start + .seconds(10_000), of: ticket(0))
        for number: UInt64 in 1...1_000 {
            let now = start + .milliseconds(Int(number))
            if let alarm = deadlines.add(now + .milliseconds(50), of: ticket(number), at: now) {
                deadlines.forget(ticket(number))
                let found = deadlines.look(at: alarm, calledFor: alarm)
                #expect(found.due.isEmpty && found.alarm == nil)
            }
            #expect(deadlines.alarmCount <= 2)
        }
    }

    @Test("An alarm whose time has passed is not relied on: it may come late, as behind a machine's sleep")
    func lateAlarm() {
        let start = ContinuousClock.now
        var deadlines = WriteDeadlines()
        _ = deadlines.add(start + .seconds(3_600), of: ticket(1), at: start)
        deadlines.forget(ticket(1))
        let awake = start + .seconds(30_000)
        #expect(deadlines.add(awake + .seconds(1), of: ticket(2), at: awake) == awake + .seconds(1))
    }
}
