import Foundation
import RealmTestSupport
import Testing

@testable import ActorRealm

@Suite("Writes that share a flush", .timeLimit(.minutes(60)))
struct SharedFlushTests {
    let file = TestFile()

    struct Refused: Error {}

    /// A writer whose outcomes are known.
    actor Writer {
        private var realm: Realm!
        private var random: SplitMix64
        private let name: String
        /// What the writer's objects must be, by name.
        private(set) var expected: [String: Int] = [:]

        init(_ configuration: Realm.Configuration, number: Int, seed: UInt64) async throws {
            random = SplitMix64(seed: seed &+ UInt64(number))
            name = "\(number)-"
            realm = try await Realm(configuration: configuration, actor: self)
        }

        /// One write: adding, changing, deleting; some throw, some are cancelled, some are synchronous.
        func write(_ number: Int) async throws {
            let key = name + "\(random.next() % 40)"
            let kind = random.next() % 10
            let fails = random.next() % 5 == 0
            let isSynchronous = random.next() % 12 == 0
            var next = expected
            switch kind {
            case 0..<6: next[key] = number
            case 6..<8: if next[key] != nil { next[key]! += 1000 }
            default: next[key] = nil
            }
            let block = { (realm: Realm) throws -> Void in
                let object = realm.object(ofType: Tally.self, forPrimaryKey: key)
                switch kind {
                case 0..<6:
                    if let object {
                        object.count = number
                    } else {
                        let tally = Tally(name: key)
                        tally.count = number
                        realm.add(tally)
                    }
                case 6..<8: object?.count += 1000
                default: if let object { realm.delete(object) }
                }
                if fails { throw Refused() }
            }
            do {
                if isSynchronous {
                    try realm.write { realm in try block(realm) }
                } else {
                    try await realm.asyncWrite { realm in try block(realm) }
                }
                #expect(!fails)
                expected = next
            } catch is Refused {
                #expect(fails)
            }
            #expect(realm.object(ofType: Tally.self, forPrimaryKey: key)?.count == expected[key], "\(key)")
        }

        func close() { realm = nil }
    }

    @Test("Blocks of many actors that add, change, delete, throw and block: what was acknowledged is there, no more")
    func manyActors() async throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        let configuration = file.configuration
        var writers: [Writer] = []
        for number in 0..<24 {
            writers.append(try await Writer(configuration, number: number, seed: seed))
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in writers {
                group.addTask { for number in 0..<60 { try await writer.write(number) } }
            }
            try await group.waitForAll()
        }
        var expected: [String: Int] = [:]
        for writer in writers {
            let own = await writer.expected
            expected.merge(own) { first, _ in
                Issue.record("Two writers own one key")
                return first
            }
            await writer.close()
        }
        try withNewRealm(configuration) { realm in
            let found = Dictionary(uniqueKeysWithValues: realm.objects(Tally.self).map { ($0.name, $0.count) })
            #expect(found == expected, "seed \(seed)")
            try realm.verify()
        }
    }

    @Test("Cancelled writers leave the others' commits alone")
    func cancellation() async throws {
        let configuration = file.configuration
        actor Inserter {
            var realm: Realm!
            init(_ configuration: Realm.Configuration) async throws {
                realm = try await Realm(configuration: configuration, actor: self)
            }
            func insert(_ name: String) async throws { try await realm.asyncWrite { realm.add(Tally(name: name)) } }
            var names: [String] { realm.objects(Tally.self).map(\.name) }
        }
        let inserter = try await Inserter(configuration)
        let tasks = (0..<300)
            .map { number in
                Task { () -> String? in
                    do {
                        try await inserter.insert("\(number)")
                        return "\(number)"
                    } catch is CancellationError {
                        return nil
                    }
                }
            }
        for (number, task) in tasks.enumerated() where number % 3 == 0 {
            task.cancel()
            if number % 30 == 0 { try await Task.sleep(for: .milliseconds(1)) }
        }
        var acknowledged: [String] = []
        for task in tasks {
            if let name = try await task.value { acknowledged.append(name) }
        }
        #expect(await inserter.names.sorted() == acknowledged.sorted())
        #expect(acknowledged.count >= 200)
    }
}
