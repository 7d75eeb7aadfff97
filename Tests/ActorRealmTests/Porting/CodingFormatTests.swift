import ActorRealm
import Foundation
import Testing

/// What a coder says of dates and data holds for properties, too.
@Suite("Properties are coded in the form that the coder is set to", .timeLimit(.minutes(60)))
struct CodingFormatTests {
    class Visit: Object, Codable {
        @Persisted var at: Date
        @Persisted var left: Date?
        @Persisted var picture: Data
        @Persisted var stops: List<Date>
        @Persisted var parts: Map<String, Data>
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
    }

    private static let text =
        #"{"at":"1970-01-01T00:00:01Z","left":null,"parts":{"a":"AQI="},"picture":"AQI=","stops":["1970-01-01T00:00:02Z"]}"#

    private func encoded(_ visit: Visit) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        encoder.dateEncodingStrategy = .iso8601
        return String(decoding: try encoder.encode(visit), as: UTF8.self)
    }

    @Test("decoded and encoded again, unmanaged and managed: dates as texts, data as Base64")
    func strategies() throws {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        let visit = try decoder.decode(Visit.self, from: Data(Self.text.utf8))
        #expect(visit.at == Date(timeIntervalSince1970: 1) && visit.left == nil)
        #expect(visit.picture == Data([1, 2]) && visit.parts["a"] == Data([1, 2]))
        #expect(Array(visit.stops) == [Date(timeIntervalSince1970: 2)])
        #expect(try encoded(visit) == Self.text)
        let configuration = Realm.Configuration(inMemoryIdentifier: "\(UUID())", objectTypes: [Visit.self])
        nonisolated(unsafe) let decoded = visit
        let managed = try onNewThread {
            let realm = try Realm(configuration: configuration)
            try realm.write { realm.add(decoded) }
            return try encoded(decoded)
        }
        #expect(managed == Self.text)
    }
}
