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

    /// The least time of the processor, of three, that something takes on this thread: what other threads do does not count.
    private func processorTime(_ body: () throws -> Void) rethrows -> Double {
        func now() -> Double {
            var time = timespec()
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
            return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
        }
        var times: [Double] = []
        for _ in 0..<3 {
            let start = now()
            try body()
            times.append(now() - start)
        }
        return times.min()!
    }

    private func realm(terms: Int) throws -> Realm {
        let realm = try termRealm()
        try realm.write {
            for index in 0..<terms {
                realm.add(Term("t\(index)", "n\(index % 7)", weight: Double(index), free: .int(index)))
            }
        }
        return realm
    }

    @Test(arguments: ["free", "weight", "name", "id"])
    func `the most values that an argument may have cost time in proportion, and each object a bounded one`(
        _ property: String
    ) throws {
        let (few, many) = (try realm(terms: 4), try realm(terms: 2_000))
        func time(_ count: Int, _ realm: Realm) throws -> Double {
            let isText = property == "name" || property == "id"
            // None of them is there, so that each object is compared with all that it has to be compared with.
            let values: Any = isText ? (0..<count).map { "x\($0)" } : (0..<count).map { -1 - $0 }
            return try processorTime {
                let predicate = try RealmPredicate(parsing: "\(property) IN %@", values)
                #expect(try realm.objects(Term.self).filter(predicate).count == 0)
            }
        }
        let most = try time(100_000, few)
        // Fifty times the values may take fifty times the time, and not 2,500 times.
        let some = try time(2_000, few)
        #expect(most < some * 200 + 0.1, "\(some) s, then \(most) s")
        // One of 2,000 objects may cost a look into the values, and not as many comparisons as there are values.
        let each = try time(100_000, many)
        #expect(each < most * 5 + 0.1, "\(most) s, then \(each) s")
    }

    @Test func `the most clauses that a text may have cost as much as that many texts with one`() throws {
        let realm = try realm(terms: 2_000)
        func time(_ clauses: Int) throws -> Double {
            let text = "TRUEPREDICATE" + String(repeating: " SORT(weight DESC) DISTINCT(weight)", count: clauses / 2)
            return try processorTime {
                let predicate = try RealmPredicate(parsing: text)
                // All of them, so that each clause has all rows.
                #expect(try realm.objects(Term.self).filter(predicate).map(\.id).first == "t1999")
            }
        }
        let (two, sixteen) = (try time(2), try time(16))
        #expect(sixteen < two * 24 + 0.05, "\(two) s, then \(sixteen) s")
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
