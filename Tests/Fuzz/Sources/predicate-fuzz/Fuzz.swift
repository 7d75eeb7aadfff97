import ActorRealm
import Foundation

final class Place: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted(indexed: true) var name: String
    @Persisted var size: Double
    @Persisted var founded: Date?
    @Persisted var near: Place?
    @Persisted var others: List<Place>
    @Persisted var tags: List<String>
    @Persisted var counts: Map<String, Int>
}

/// A realm in memory that is asked whatever the input says.
private struct Fuzzer {
    let realm: Realm

    init() {
        do {
            realm = try Realm(configuration: .init(inMemoryIdentifier: "predicate-fuzz", objectTypes: [Place.self]))
            try realm.write {
                var last: Place?
                for id in 0..<20 {
                    let place = realm.create(Place.self, value: ["id": id, "name": "place \(id % 7)"])
                    place.size = Double(id)
                    place.near = last
                    place.tags.append(objectsIn: (0..<id % 4).map { "tag \($0)" })
                    place.counts["a"] = id
                    if let last { last.others.append(place) }
                    last = place
                }
            }
        } catch {
            fatalError("No realm: \(error)")
        }
    }

    func run(_ text: String) {
        do {
            let found = try realm.objects(Place.self).filter(RealmPredicate(parsing: text))
            _ = found.count
        } catch {
            // What is refused is refused with an error.
        }
    }
}

// libFuzzer calls on one thread.
private nonisolated(unsafe) let fuzzer = Fuzzer()

/// What libFuzzer calls, on one thread, with each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>, _ count: Int) -> Int32 {
    // The bytes are the caller's and live until this returns.
    fuzzer.run(String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self))
    return 0
}
