import Synchronization
import Testing

@testable import ActorRealm

@Suite("Functions that are called later")
struct AlarmThreadTests {
    @Test("They are called in the order of their times, however they were asked for, and again after all were called")
    func order() async {
        let thread = AlarmThread()
        for _ in 0..<3 {
            let (stream, continuation) = AsyncStream<Int>.makeStream()
            for number in [3, 1, 2] {
                thread.call(after: UInt64(number) * 20_000_000) { continuation.yield(number) }
            }
            var seen: [Int] = []
            for await number in stream.prefix(3) { seen.append(number) }
            #expect(seen == [1, 2, 3])
        }
    }
}
