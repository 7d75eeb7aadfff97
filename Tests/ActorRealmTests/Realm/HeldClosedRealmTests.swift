import Foundation
import RealmStorage
import RealmTestSupport
import Testing

@testable import ActorRealm

/// What is still held of a closed realm keeps nobody from deleting or compacting its file, and what can still be thawed or resolved does.
@Suite("Files of closed realms that are still held", .timeLimit(.minutes(60)))
struct HeldClosedRealmTests {
    let file = TestFile()

    enum Replacing: String, CaseIterable { case deleting, compacting }

    /// What is thrown while somebody needs the file.
    private var isOpen: Realm.Error { Realm.Error(.alreadyOpen, fileURL: file.configuration.fileURL) }

    private func configuration(keepsLog: Bool = false) -> Realm.Configuration {
        var configuration = keepsLog ? file.configuration : file.fast
        configuration.keepsLog = keepsLog
        return configuration
    }

    private func replace(_ replacing: Replacing, _ configuration: Realm.Configuration) throws {
        switch replacing {
        case .deleting: try Realm.deleteFiles(for: configuration)
        case .compacting: try Realm.compact(configuration)
        }
    }

    private func names(_ configuration: Realm.Configuration) throws -> [String] {
        try withNewRealm(configuration) { $0.objects(Tally.self).map(\.name).sorted() }
    }

    /// Everything that may be held of a realm that another job closes.
    private struct Held {
        let realm: Realm
        let tally: Tally
        let tallies: Results<Tally>
        let sorted: Results<Tally>
        let token: NotificationToken
        let changes: CollectionChanges<Results<Tally>>
        let reference: ObjectReference<Tally>

        @MainActor
        init(_ realm: Realm, told: Journal<Int>) throws {
            self.realm = realm
            try realm.write { realm.create(Tally.self, value: ["name": "first"], update: .modified) }
            tallies = realm.objects(Tally.self)
            tally = try #require(tallies.first)
            sorted = tallies.sorted(byKeyPath: "count")
            token = tallies.observe { change in told.add(change.collection?.count ?? -1) }
            changes = tallies.changes()
            reference = ObjectReference(to: tally)
        }
    }

    @Test(
        "The file of a closed realm is deleted and compacted, though the realm and all that was reached from it is held",
        arguments: Replacing.allCases,
        [false, true]
    )
    @MainActor
    func held(replacing: Replacing, keepsLog: Bool) async throws {
        let configuration = configuration(keepsLog: keepsLog)
        let path = try #require(configuration.fileURL?.path)
        let told = Journal<Int>()
        var held: Held? = try Held(await Realm(configuration: configuration), told: told)
        _ = await told.wait(for: 1)
        held?.realm.close()
        try replace(replacing, configuration)
        #expect(Realm.fileExists(for: configuration) == (replacing == .compacting))
        #expect(!StorageFile.isOpenAnywhere(path: path))

        let before = replacing == .compacting ? ["first"] : []
        let realm = try await Realm(configuration: configuration)
        #expect(realm.objects(Tally.self).map(\.name) == before)
        try realm.write { realm.create(Tally.self, value: ["name": "second"]) }
        #expect(held?.realm.isClosed == true && held?.tallies.isEmpty == true && held?.sorted.isEmpty == true)
        #expect(held?.tally.name == "")
        let error = #expect(throws: Realm.Error.self) { try held?.realm.write {} }
        #expect(error?.code == .closed)
        let reference = try #require(held?.reference)
        if replacing == .compacting { #expect(realm.resolve(reference)?.name == "first") }

        // What goes last belongs to a file that nobody has open any more.
        held = nil
        #expect(StorageFile.isOpenAnywhere(path: path))
        try realm.write { realm.create(Tally.self, value: ["name": "third"]) }
        try realm.verify()
        realm.close()
        #expect(try names(configuration) == (before + ["second", "third"]).sorted())
    }

    @Test("A file is compacted again and again beside the closed realms of its earlier lives")
    func compactingAgain() throws {
        var held: [Realm] = []
        for index in 0..<4 {
            try withNewRealm(file.fast) { realm in
                try realm.write { _ = realm.create(Tally.self, value: ["name": "\(index)"]) }
                held.append(realm)
                realm.close()
            }
            try Realm.compact(file.fast)
        }
        #expect(try names(file.fast) == ["0", "1", "2", "3"])
        #expect(held.count { $0.isClosed } == 4)
    }

    @Test("An opening behind the last close asks whether to compact the file, though the closed realm is held")
    @MainActor
    func compactingOnLaunch() async throws {
        let asked = Counter()
        var configuration = file.fast
        configuration.shouldCompactOnLaunch = { _, _ in
            asked.increment()
            return true
        }
        let first = try await Realm(configuration: configuration)
        try first.write { first.create(Tally.self, value: ["name": "first"]) }
        first.close()
        let second = try await Realm(configuration: configuration)
        #expect(asked.value == 1)
        #expect(second.objects(Tally.self).map(\.name) == ["first"])
        let third = try withNewRealm(configuration) { $0.objects(Tally.self).count }
        #expect(third == 1 && asked.value == 1, "as long as a realm is open nobody is asked")
        #expect(first.isClosed)
    }

    class OldShape: Object {
        override class func _realmObjectName() -> String? { "HeldShape" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
        @Persisted var corners: Int
    }

    class NewShape: Object {
        override class func _realmObjectName() -> String? { "HeldShape" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
        @Persisted var corners: String
    }

    @Test("deleteRealmIfMigrationNeeded begins anew, though a closed realm of the old classes is held")
    @MainActor
    func deletingInsteadOfMigrating() async throws {
        var configuration = file.fast
        configuration.objectTypes = [OldShape.self]
        let old = try await Realm(configuration: configuration)
        try old.write { old.create(OldShape.self, value: ["corners": 3]) }
        old.close()
        configuration.objectTypes = [NewShape.self]
        configuration.deleteRealmIfMigrationNeeded = true
        #expect(try await Realm(configuration: configuration).objects(NewShape.self).isEmpty)
        #expect(old.isClosed)
    }

    // MARK: What needs the file

    enum Copy: String, CaseIterable { case realm, object, results, wrapped, reference }

    /// Something that needs its version, be it the copy itself.
    private func copy(_ copy: Copy, of realm: Realm) throws -> Any {
        let tally = try #require(realm.objects(Tally.self).first)
        switch copy {
        case .realm: return realm.freeze()
        case .object: return tally.freeze()
        case .results: return realm.objects(Tally.self).freeze()
        case .wrapped: return tally.frozen
        case .reference: return ThreadSafeReference(to: tally)
        }
    }

    @Test(
        "A frozen copy or a reference that outlives close() keeps the file from being deleted and compacted until it is let go of",
        arguments: Copy.allCases,
        Replacing.allCases
    )
    func copies(kind: Copy, replacing: Replacing) throws {
        let configuration = file.fast
        try withNewRealm(configuration) { realm in
            try realm.write { _ = realm.create(Tally.self, value: ["name": "first"]) }
            var kept: Any? = try copy(kind, of: realm)
            realm.close()
            #expect(throws: isOpen) { try replace(replacing, configuration) }
            #expect(try names(configuration) == ["first"])
            // It leads to the file as before.
            switch kept {
            case let frozen as Realm: #expect(frozen.objects(Tally.self).first?.name == "first")
            case let frozen as Tally: #expect(frozen.name == "first" && frozen.thaw()?.name == "first")
            case let frozen as Results<Tally>: #expect(frozen.map(\.name) == ["first"])
            case let frozen as Frozen<Tally>: #expect(frozen.value.name == "first")
            case let reference as ThreadSafeReference<Tally>: #expect(!reference.isInvalidated)
            default: Issue.record("nothing was kept")
            }
            kept = nil
            try replace(replacing, configuration)
            #expect(Realm.fileExists(for: configuration) == (replacing == .compacting))
            #expect(realm.isClosed)
        }
    }

    @Test("A reference needs the file until it is resolved")
    @MainActor
    func resolving() async throws {
        let configuration = file.fast
        let realm = try await Realm(configuration: configuration)
        let tally = try realm.write { realm.create(Tally.self, value: ["name": "first"]) }
        let reference = ThreadSafeReference(to: tally)
        realm.close()
        #expect(throws: isOpen) { try Realm.deleteFiles(for: configuration) }
        let next = try await Realm(configuration: configuration)
        #expect(next.resolve(reference)?.name == "first")
        next.close()
        #expect(try Realm.deleteFiles(for: configuration))
        #expect(reference.isInvalidated && tally.name == "")
    }

    @Test("Who iterates changes outside every actor needs the file until that ends")
    func iterating() async throws {
        let configuration = file.fast
        let changes = try withNewRealm(configuration) { realm in
            try realm.write { _ = realm.create(Tally.self, value: ["name": "first"]) }
            let changes = realm.objects(Tally.self).changes()
            realm.close()
            return changes
        }
        let told = Journal<Int>()
        let loop = Task {
            for await change in changes { told.add(change.collection?.count ?? -1) }
        }
        _ = await told.wait(for: 1)
        #expect(throws: isOpen) { try Realm.deleteFiles(for: configuration) }
        loop.cancel()
        await loop.value
        #expect(try Realm.deleteFiles(for: configuration))
        // What is begun afterwards has nothing to tell of.
        var errors = 0
        for await change in changes {
            #expect(change.collection == nil)
            errors += 1
        }
        #expect(errors == 1)
    }

    @Test("A file is deleted in the block of an observer that has closed the realm")
    @MainActor
    func closingInObservation() async throws {
        let configuration = file.fast
        let realm = try await Realm(configuration: configuration)
        let done = Journal<Result<Bool, any Error>>()
        let token = realm.objects(Tally.self)
            .observe { change in
                guard case .update = change else { return done.add(.success(false)) }
                realm.close()
                done.add(Result { try Realm.deleteFiles(for: configuration) })
            }
        _ = await done.wait(for: 1)
        try withNewRealm(configuration) { other in
            try other.write { _ = other.create(Tally.self, value: ["name": "first"]) }
        }
        let last = try #require(await done.wait(for: 2).last)
        #expect(try last.get())
        #expect(!Realm.fileExists(for: configuration))
        token.invalidate()
    }

    @Test("A realm that was closed while it writes needs the file until that is done")
    @MainActor
    func closingWhileWriting() async throws {
        let configuration = file.fast
        let realm = try await Realm(configuration: configuration)
        let failure: (any Error)? = await withCheckedContinuation { done in
            realm.writeAsync {
                realm.create(Tally.self, value: ["name": "first"])
            } onComplete: {
                done.resume(returning: $0)
            }
            realm.close()
            #expect(throws: isOpen) { try Realm.deleteFiles(for: configuration) }
        }
        #expect(failure == nil)
        #expect(await eventually { realm.isClosed })
        #expect(try Realm.deleteFiles(for: configuration))
    }

    // MARK: Races

    /// Opens, writes and closes again and again, and holds what it has closed.
    private actor Visitor {
        private var realm: Realm!
        private var closed: [Realm] = []

        struct LostWrite: Error {
            let name: String
            let visit: Int
        }

        func visit(_ configuration: Realm.Configuration, _ name: String, times: Int) async throws {
            for index in 0..<times {
                let realm = try await Realm(configuration: configuration)
                self.realm = realm
                try await realm.asyncWrite { _ = realm.create(Tally.self, value: ["name": name], update: .modified) }
                guard realm.objects(Tally.self).contains(where: { $0.name == name }) else {
                    throw LostWrite(name: name, visit: index)
                }
                closed.append(realm)
                realm.close()
                // Now and then nobody is there.
                for _ in 0..<10 * (index % 5) { await Task.yield() }
            }
        }
    }

    @Test(
        "Realms that are opened and closed beside somebody who deletes or compacts the file are whole",
        arguments: Replacing.allCases
    )
    func racing(replacing: Replacing) async throws {
        let configuration = file.fast
        let replaced = try await withThrowingTaskGroup(of: Int.self) { group in
            let gone = Counter()
            for index in 0..<2 {
                group.addTask {
                    defer { gone.increment() }
                    try await Visitor().visit(configuration, "visitor \(index)", times: 40)
                    return 0
                }
            }
            group.addTask {
                var replaced = 0
                while gone.value < 2 {
                    do {
                        try replace(replacing, configuration)
                        replaced += 1
                    } catch Realm.Error.alreadyOpen, Realm.Error.fileNotFound {}
                    await Task.yield()
                }
                return replaced
            }
            return try await group.reduce(0, +)
        }
        print("replaced \(replaced) times beside openings")
        try replace(replacing, configuration)
        try withNewRealm(configuration) { realm in
            try realm.write { _ = realm.create(Tally.self, value: ["name": "last"]) }
            try realm.verify()
        }
    }
}
