import Foundation
import Testing

@testable import ActorRealm

@Suite struct ObjectIdTests {
    @Test func `an identifier is 24 hexadecimal digits`() throws {
        let id = try ObjectId(string: "0123456789abcdefABCDEF01")
        #expect(id.stringValue == "0123456789abcdefabcdef01")
        #expect(id == ObjectId("0123456789abcdefabcdef01"))
        for bad in ["", "0123", "0123456789abcdefabcdef0g", "0123456789abcdefabcdef012"] {
            let error = #expect(throws: ObjectIdError.self) { try ObjectId(string: bad) }
            #expect(error?.localizedDescription == "Invalid Object ID string '\(bad)': must be 24 hex digits")
        }
    }

    @Test func `generated identifiers are unique and carry the time`() {
        let ids = (0..<10_000).map { _ in ObjectId.generate() }
        #expect(Set(ids).count == ids.count)
        #expect(abs(ids[0].timestamp.timeIntervalSinceNow) < 5)
    }

    @Test func `identifiers order and encode as their digits`() throws {
        let low = ObjectId("000000000000000000000001")
        let high = ObjectId("000000010000000000000000")
        #expect(low < high)
        let data = try JSONEncoder().encode([low, high])
        #expect(String(decoding: data, as: UTF8.self).contains("000000010000000000000000"))
        #expect(try JSONDecoder().decode([ObjectId].self, from: data) == [low, high])
        #expect(throws: DecodingError.self) { try JSONDecoder().decode([ObjectId].self, from: Data("[\"x\"]".utf8)) }
    }
}
