import Foundation
import Testing

@testable import ActorRealm

@Suite("Dates that no calendar has are told as seconds")
struct DateTextTests {
    @Test("Messages and descriptions do not end the process", arguments: [1e300, -1e300, .nan, .infinity, 1e13])
    func extremes(seconds: Double) throws {
        let date = Date(timeIntervalSinceReferenceDate: seconds)
        #expect(date.text == "\(seconds) seconds since 2001-01-01")
        #expect(InputCheck.describe(date).hasPrefix(date.text))
        #expect(InputCheck.describe(AnyRealmValue.date(date)).hasPrefix(date.text))
        let list = List<Date>()
        list.append(date)
        #expect(list.description.contains(date.text))
    }

    @Test("Others are told as Foundation does")
    func ordinary() {
        let date = Date(timeIntervalSinceReferenceDate: 0)
        #expect(date.text == date.description)
    }
}
