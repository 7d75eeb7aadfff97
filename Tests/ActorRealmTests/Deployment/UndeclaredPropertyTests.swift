import Foundation
import RealmTestSupport
import Testing

@testable import ActorRealm

/// Results by properties that only the file has, kept while other releases add and remove such properties.
@Suite("Results by properties that the program does not declare", .timeLimit(.minutes(60)))
struct UndeclaredPropertyTests {
    private let directory = TemporaryDirectory()

    /// The class of the program that keeps its realm open.
    final class Older: Object {
        override class func _realmObjectName() -> String? { "Undeclared" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
        @Persisted var n: Int
    }

    final class Both: Object {
        override class func _realmObjectName() -> String? { "Undeclared" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
        @Persisted var n: Int
        @Persisted(indexed: true) var first: Int
        @Persisted(indexed: true) var second: Int
    }

    final class WithoutFirst: Object {
        override class func _realmObjectName() -> String? { "Undeclared" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
        @Persisted var n: Int
        @Persisted(indexed: true) var second: Int
    }

    final class WithThird: Object {
        override class func _realmObjectName() -> String? { "Undeclared" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
        @Persisted var n: Int
        @Persisted(indexed: true) var second: Int
        @Persisted(indexed: true) var third: Int
    }

    final class WithoutSecond: Object {
        override class func _realmObjectName() -> String? { "Undeclared" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
        @Persisted var n: Int
        @Persisted(indexed: true) var first: Int
    }

    final class OtherSecond: Object {
        override class func _realmObjectName() -> String? { "Undeclared" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
        @Persisted var n: Int
        @Persisted(indexed: true) var first: Int
        @Persisted var second: String
    }

    static func configuration(_ path: String, _ type: Object.Type, _ version: UInt64) -> Realm.Configuration {
        Realm.Configuration(fileURL: URL(fileURLWithPath: path), schemaVersion: version, objectTypes: [type])
    }

    /// The second release, which adds two properties.
    static func addProperties(_ path: String) throws {
        try withNewRealm(configuration(path, Both.self, 2)) { realm in
            try realm.write {
                realm.create(Both.self, value: ["n": 1, "first": 7, "second": 5])
                realm.create(Both.self, value: ["n": 2, "first": 5, "second": 6])
                realm.create(Both.self, value: ["n": 3, "first": 8, "second": 5])
            }
        }
    }

    private actor Holder {
        private var realm: Realm?
        private var kept: [Results<Older>] = []
        /// What was made of these while they found nothing.
        private var frozen: [Results<Older>] = []
        private var handedOver: [Frozen<Results<Older>>] = []

        func open(_ configuration: Realm.Configuration) async throws {
            let realm = try await Realm(configuration: configuration, actor: self)
            realm.autorefresh = false
            self.realm = realm
        }

        /// Keeps what the same text finds twice: the second time it is known.
        func keepEqual() throws {
            let realm = try #require(realm)
            realm.refresh()
            let all = realm.objects(Older.self)
            kept = (1...2)
                .map { _ in
                    let found = all.filter("second == %@", 5)
                    _ = found.count
                    return found
                }
        }

        /// Keeps a filter, an index, an order, and what is left of equal ones.
        func keepAll() throws {
            let realm = try #require(realm)
            realm.refresh()
            let all = realm.objects(Older.self)
            kept = [
                all.filter("second > 4"), all.filter("second == 5"), all.sorted(byKeyPath: "second"),
                all.filter("n > 0").distinct(by: ["second"]),
            ]
        }

        func look() throws -> [[Int]] {
            let realm = try #require(realm)
            realm.refresh()
            #expect(!realm.isOutdated)
            return kept.map { results in
                let found = results.map(\.n) as [Int]
                let sum: Int = results.sum(ofProperty: "n")
                #expect(results.count == found.count && results.first?.n == found.first)
                #expect(sum == found.reduce(0, +))
                return found
            }
        }

        /// Freezes results that find nothing, since they do not fit: their frozen forms do not fit either.
        func freezeMisfits() throws {
            let realm = try #require(realm)
            frozen = kept.map { $0.freeze() }
            handedOver = kept.map(\.frozen)
            for results in frozen + handedOver.map(\.value) {
                #expect(results.isFrozen && results.isEmpty && results.count == 0 && results.first == nil)
                #expect(results.filter("n > 0").isEmpty && results.sorted(byKeyPath: "n").isEmpty)
                let unreadable = #expect(throws: Realm.Error.self) { try results.requireReadable() }
                #expect(unreadable?.code == .invalidInput)
                let refused = #expect(throws: Realm.Error.self) {
                    _ = try results.filter(RealmPredicate(parsing: "n > 0"))
                }
                #expect(refused?.code == .invalidInput)
            }
            // The classes have no such collection at the moment.
            let thawed = frozen.compactMap { $0.thaw() } + handedOver.compactMap { realm.thaw($0) }
            #expect(thawed.isEmpty)
        }

        /// What the frozen ones find when they are thawed.
        func thawMisfits() throws -> [[Int]] {
            let realm = try #require(realm)
            let thawed = frozen.compactMap { $0.thaw() } + handedOver.compactMap { realm.thaw($0) }
            for results in thawed { try results.requireReadable() }
            return thawed.map { $0.map(\.n) as [Int] }
        }

        /// Keeps what observers get where their owner is gone, in the live realm.
        func keepOutliving() throws {
            let realm = try #require(realm)
            kept = try kept.map { results in
                let outliving = try #require(Results<Older>._resolve(results._reference.outlivingOwner, in: realm))
                #expect(!outliving.isFrozen && outliving.isEmpty)
                let unreadable = #expect(throws: Realm.Error.self) { try outliving.requireReadable() }
                #expect(unreadable?.code == .invalidInput)
                return outliving
            }
        }

        /// What else is asked of results that find nothing, since they do not fit.
        func askMisfits() {
            for results in kept {
                #expect(results.filter("n > 0").isEmpty && results.sorted(byKeyPath: "n").isEmpty)
                let typed = results.where { $0.n > 0 }
                #expect(typed.first == nil && results.limit(1).isEmpty)
                #expect(results.explain().rowsMatched == 0)
                #expect(results.freeze().isEmpty && results.frozen.value.isEmpty)
                #expect(results.description.contains("unreadable"))
                let unreadable = #expect(throws: Realm.Error.self) { try results.requireReadable() }
                #expect(unreadable?.code == .invalidInput)
                let refused = #expect(throws: Realm.Error.self) {
                    _ = try results.filter(RealmPredicate(parsing: "n > 0"))
                }
                #expect(refused?.code == .invalidInput)
            }
        }
    }

    @Test("A text that was asked twice finds the same property while others go and come", arguments: [false, true])
    func movedIndex(addsThird: Bool) async throws {
        let path = directory.path("moved.realm")
        let holder = Holder()
        try await holder.open(Self.configuration(path, Older.self, 1))
        await #expect(processExitsWith: .success) { [path = path as String] in
            try UndeclaredPropertyTests.addProperties(path)
        }
        try await holder.keepEqual()
        #expect(try await holder.look() == [[1, 3], [1, 3]])
        if addsThird {
            await #expect(processExitsWith: .success) { [path = path as String] in
                try withNewRealm(UndeclaredPropertyTests.configuration(path, WithThird.self, 3)) { realm in
                    try realm.write {
                        for object in realm.objects(WithThird.self) where object.n == 2 { object.third = 5 }
                    }
                }
            }
        } else {
            await #expect(processExitsWith: .success) { [path = path as String] in
                try withNewRealm(UndeclaredPropertyTests.configuration(path, WithoutFirst.self, 3)) { _ in }
            }
        }
        #expect(try await holder.look() == [[1, 3], [1, 3]])
    }

    @Test("Results by a property that another release removes are empty, until it is there again")
    func removed() async throws {
        let path = directory.path("removed.realm")
        let holder = Holder()
        try await holder.open(Self.configuration(path, Older.self, 1))
        await #expect(processExitsWith: .success) { [path = path as String] in
            try UndeclaredPropertyTests.addProperties(path)
        }
        try await holder.keepAll()
        #expect(try await holder.look().map(\.count) == [3, 2, 3, 2])
        await #expect(processExitsWith: .success) { [path = path as String] in
            try withNewRealm(UndeclaredPropertyTests.configuration(path, WithoutSecond.self, 3)) { _ in }
        }
        #expect(try await holder.look() == [[], [], [], []])
        await holder.askMisfits()
        await #expect(processExitsWith: .success) { [path = path as String] in
            try withNewRealm(UndeclaredPropertyTests.configuration(path, Both.self, 4)) { realm in
                try realm.write { for object in realm.objects(Both.self) where object.n == 3 { object.second = 5 } }
            }
        }
        #expect(try await holder.look() == [[3], [3], [1, 2, 3], [1, 3]])
    }

    @Test("Results that were frozen, or made anew, without their property find it when it is there again")
    func frozenMisfits() async throws {
        let path = directory.path("frozen.realm")
        let holder = Holder()
        try await holder.open(Self.configuration(path, Older.self, 1))
        await #expect(processExitsWith: .success) { [path = path as String] in
            try UndeclaredPropertyTests.addProperties(path)
        }
        try await holder.keepAll()
        await #expect(processExitsWith: .success) { [path = path as String] in
            try withNewRealm(UndeclaredPropertyTests.configuration(path, WithoutSecond.self, 3)) { _ in }
        }
        #expect(try await holder.look() == [[], [], [], []])
        try await holder.freezeMisfits()
        try await holder.keepOutliving()
        await #expect(processExitsWith: .success) { [path = path as String] in
            try withNewRealm(UndeclaredPropertyTests.configuration(path, Both.self, 4)) { realm in
                try realm.write { for object in realm.objects(Both.self) where object.n == 3 { object.second = 5 } }
            }
        }
        let found = [[3], [3], [1, 2, 3], [1, 3]]
        #expect(try await holder.look() == found)
        #expect(try await holder.thawMisfits() == found + found)
    }

    /// Observes what a property that only the file has finds.
    private actor Watcher {
        private var realm: Realm?
        private var found: Results<Older>?

        func open(_ configuration: Realm.Configuration) async throws {
            realm = try await Realm(configuration: configuration, actor: self)
        }

        func keep() throws {
            let realm = try #require(realm)
            realm.refresh()
            found = realm.objects(Older.self).filter("second == 5")
        }

        func look() throws -> [Int] {
            try #require(realm).refresh()
            return try #require(found).map(\.n)
        }

        /// What is told until nothing is any more, or the first element only.
        func follow(onlyFirst: Bool = false, _ begins: @Sendable () -> Void = {}) async throws -> [String] {
            let found = try #require(found)
            var told: [String] = []
            for await change in found.changes() {
                switch change {
                case .initial(let found):
                    told.append("initial \(found.count)")
                    begins()
                case .update(let found, _, _, _): told.append("update \(found.count)")
                case .error: told.append("error")
                }
                if onlyFirst { break }
            }
            return told
        }
    }

    @Test("An observer by a property that goes is told an error, and another one begins when it is back")
    func observed() async throws {
        let path = directory.path("observed.realm")
        let watcher = Watcher()
        try await watcher.open(Self.configuration(path, Older.self, 1))
        await #expect(processExitsWith: .success) { [path = path as String] in
            try UndeclaredPropertyTests.addProperties(path)
        }
        try await watcher.keep()
        let (begun, beginning) = AsyncStream<Void>.makeStream()
        let following = Task { try await watcher.follow { beginning.finish() } }
        for await _ in begun {}
        await #expect(processExitsWith: .success) { [path = path as String] in
            try withNewRealm(UndeclaredPropertyTests.configuration(path, WithoutSecond.self, 3)) { realm in
                try realm.write { _ = realm.create(WithoutSecond.self, value: ["n": 4]) }
            }
        }
        let told = try await following.value
        #expect(told == ["initial 2", "error"])
        #expect(try await watcher.look() == [])
        await #expect(processExitsWith: .success) { [path = path as String] in
            try withNewRealm(UndeclaredPropertyTests.configuration(path, Both.self, 4)) { realm in
                try realm.write { for object in realm.objects(Both.self) where object.n == 3 { object.second = 5 } }
            }
        }
        #expect(try await watcher.look() == [3])
        #expect(try await watcher.follow(onlyFirst: true) == ["initial 1"])
    }

    @Test("Results by a property that another release makes one of another type do not compare it")
    func retyped() async throws {
        let path = directory.path("retyped.realm")
        let holder = Holder()
        try await holder.open(Self.configuration(path, Older.self, 1))
        await #expect(processExitsWith: .success) { [path = path as String] in
            try UndeclaredPropertyTests.addProperties(path)
        }
        try await holder.keepEqual()
        #expect(try await holder.look() == [[1, 3], [1, 3]])
        await #expect(processExitsWith: .success) { [path = path as String] in
            try withNewRealm(UndeclaredPropertyTests.configuration(path, WithoutSecond.self, 3)) { _ in }
            try withNewRealm(UndeclaredPropertyTests.configuration(path, OtherSecond.self, 4)) { _ in }
        }
        #expect(try await holder.look() == [[], []])
        await holder.askMisfits()
    }
}
