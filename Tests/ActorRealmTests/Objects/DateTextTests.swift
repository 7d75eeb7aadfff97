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

    final class Letter: Object {
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
        @Persisted(primaryKey: true) var id: Int
        @Persisted var sent: Date
        @Persisted var read: Date?
        @Persisted var days: List<Date>
        @Persisted var any: AnyRealmValue
    }

    final class Envelope: Projection<Letter> {
        @Projected(\Letter.sent) var sent
    }

    private static let ends: [Double] = [.nan, .infinity, 1e300]

    @Test("Nor do those of sections, of what is projected and of boxes", arguments: ends)
    func listings(seconds: Double) throws {
        let date = Date(timeIntervalSinceReferenceDate: seconds)
        let realm = try memoryRealm([Letter.self])
        let letter = try realm.write {
            realm.create(Letter.self, value: ["id": 1, "sent": date, "read": date, "days": [date], "any": date])
        }
        let letters = realm.objects(Letter.self)
        for sections in [
            letters.sectioned(by: \.sent).description, letters.sectioned(by: \.read).description,
            letters.sectioned(by: \.any).description, letters.sectioned(by: \.sent)[0].description,
            letter.days.sectioned(by: { (day: Date) in day }).description,
            letter.days.sectioned(by: { (day: Date) in day })[0].description,
            Envelope(projecting: letter).description, letter.description,
        ] {
            #expect(sections.contains(date.text))
        }
    }

    @Test("Nor does a message about sets and dictionaries that are given for something else", arguments: ends)
    func givenSets(seconds: Double) throws {
        let date = Date(timeIntervalSinceReferenceDate: seconds)
        let realm = try memoryRealm([Letter.self])
        func message(_ value: Any) throws -> String? {
            try realm.write {
                do {
                    _ = try realm.insert(Letter.self, value: ["id": 1, "sent": value])
                    return nil
                } catch {
                    return (error as? Realm.Error)?.message
                }
            }
        }
        #expect(try message(Set([date]))?.contains("a set") == true)
        #expect(try message([1: date])?.contains("a dictionary") == true)
    }

    @Test("Others are told as Foundation does")
    func ordinary() {
        let date = Date(timeIntervalSinceReferenceDate: 0)
        #expect(date.text == date.description)
    }
}
