import Foundation
import Testing

@testable import ActorRealm

@Suite struct FrozenSharingTests {
    private struct Shared<Value>: @unchecked Sendable {
        let value: Value
    }

    @Test func `several threads read frozen results, objects and lists at once`() async throws {
        let realm = try memoryRealm()
        try realm.write {
            for id in 0..<300 {
                realm.create(
                    Keeper.self,
                    value: [
                        "id": id, "name": "k\(id)", "age": id % 10, "favourite": ["name": "f\(id)"],
                        "nicknames": ["a\(id)", "b"],
                    ] as [String: Any]
                )
            }
        }
        let results = Shared(value: realm.objects(Keeper.self).where { $0.age < 5 }.sorted(by: \.id).freeze())
        let first = Shared(value: results.value[0])
        try realm.write { realm.deleteAll() }
        #expect(realm.objects(Keeper.self).isEmpty)
        let sums = await withTaskGroup(of: Int.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    var sum = 0
                    for _ in 0..<5 {
                        for keeper in results.value {
                            sum += keeper.id + keeper.name.count + keeper.nicknames.count
                            sum += keeper.favourite?.name.count ?? 0
                        }
                        sum += results.value.where { $0.age == 1 }.count
                        sum += first.value.age + first.value.nicknames[0].count
                    }
                    return sum
                }
            }
            return await group.reduce(into: [Int]()) { $0.append($1) }
        }
        #expect(Set(sums).count == 1 && sums.count == 8)
    }
}
