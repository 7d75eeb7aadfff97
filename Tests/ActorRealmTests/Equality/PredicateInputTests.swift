import ActorRealm
import Foundation
import Testing

/// What a predicate from outside may ask costs a bounded amount of time and stack.
@Suite struct PredicateInputTests {
    private func error(_ body: () throws -> Void) -> Realm.Error? {
        do {
            try body()
            return nil
        } catch {
            return error as? Realm.Error
        }
    }

    @Test func `clauses are limited in number`() throws {
        let realm = try termRealm()
        let clause = " SORT(weight DESC) DISTINCT(name) LIMIT(10)"
        let many = "TRUEPREDICATE" + String(repeating: clause, count: 2_000)
        let refused = try #require(error { _ = try RealmPredicate(parsing: many) })
        #expect(refused.code == .invalidInput)
        #expect(refused.message.contains("more than 16 clauses"))
        let some = try RealmPredicate(parsing: "TRUEPREDICATE" + String(repeating: clause, count: 5) + " LIMIT(1)")
        #expect(try realm.objects(Term.self).filter(some).count == 0)
    }

    @Test func `the values of the arguments are limited in number`() throws {
        let realm = try termRealm()
        let refused = try #require(error { _ = try RealmPredicate(parsing: "free IN %@", Array(0..<1_000_000)) })
        #expect(refused.code == .invalidInput)
        #expect(refused.message.contains("argument 1") && refused.message.contains("100000 values"))
        // Together they may not have more either.
        let half = Array(0..<60_000)
        #expect(
            error { _ = try RealmPredicate(parsing: "free IN %@ OR free IN %@", half, half) }?.code == .invalidInput
        )
        #expect(error { _ = try RealmPredicate(parsing: "free IN %@", Set(0..<200_000)) }?.code == .invalidInput)
        #expect(
            error { _ = try RealmPredicate(parsing: "free IN %@", (0..<Int.max).lazy.map { $0 }) }?.code
                == .invalidInput
        )
        let fitting = try RealmPredicate(parsing: "free IN %@", Array(0..<100_000))
        #expect(try realm.objects(Term.self).filter(fitting).count == 0)
        // What the program itself asks is not limited.
        #expect(realm.objects(Term.self).filter("free IN %@", Array(0..<200_000)).count == 0)
    }

    @Test func `an argument that nests deep is an error`() async throws {
        // On a thread of the pool, whose stack is small.
        let refused =
            await Task.detached {
                var argument: Any = 1
                for _ in 0..<5_000 { argument = [argument] as [Any] }
                let caught = error { _ = try RealmPredicate(parsing: "free IN %@", argument) }
                // An array that nests so deep is let go of level by level.
                while let array = argument as? [Any], let inner = array.first { argument = inner }
                return caught
            }
            .value
        #expect(refused?.code == .invalidInput)
        #expect(refused?.message.contains("list in a list") == true)
    }
}
