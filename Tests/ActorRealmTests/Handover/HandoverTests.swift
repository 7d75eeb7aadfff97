import ActorRealm
import Dispatch
import Foundation
import Synchronization
import Testing

@Suite("Moving values between isolations", .timeLimit(.minutes(60)))
struct HandoverTests {
    let file = ObservedFile()

    @Test("a thread-safe reference leads to the same object on another actor, inside its write")
    func reference() async throws {
        let worker = try await Worker(file.configuration)
        let other = try await Worker(file.configuration)
        try await worker.add(1, "one")
        let reference = await worker.with { _, realm in
            ThreadSafeReference(to: realm.object(ofType: Chore.self, forPrimaryKey: 1)!)
        }
        #expect(!reference.isInvalidated)
        try await other.with { _, realm in
            try await realm.asyncWrite { realm.resolve(reference)?.name = "uno" }
        }
        #expect(reference.isInvalidated)
        await worker.with { _, realm in
            realm.refresh()
            #expect(realm.object(ofType: Chore.self, forPrimaryKey: 1)?.name == "uno")
        }
    }

    @Test("references to lists, linking objects and results resolve; results ask their query again")
    func collections() async throws {
        let worker = try await Worker(file.configuration)
        let other = try await Worker(file.configuration)
        try await worker.add(1, "one", isDone: true)
        let (list, links, results) = try await worker.with { _, realm in
            let owner = try await realm.asyncWrite {
                let owner = realm.create(ChoreOwner.self, value: ["name": "Ann"])
                let chore = realm.object(ofType: Chore.self, forPrimaryKey: 1)!
                owner.tasks.append(chore)
                chore.owner = owner
                return owner
            }
            return (
                ThreadSafeReference(to: owner.tasks), ThreadSafeReference(to: owner.owned),
                ThreadSafeReference(to: realm.objects(Chore.self).where { $0.isDone })
            )
        }
        try await worker.add(2, "two", isDone: true)
        await other.with { _, realm in
            #expect(realm.resolve(list)?.map(\.name) == ["one"])
            #expect(realm.resolve(links)?.map(\.name) == ["one"])
            realm.refresh()
            #expect(realm.resolve(results)?.map(\.name) == ["one", "two"])
        }
    }

    /// Reads a variable when nobody needs it any more.
    private final class LastReader: Sendable {
        let variable = Mutex<ThreadSafe<Chore>?>(nil)
        private let read: @Sendable (Chore?) -> Void

        init(_ read: @escaping @Sendable (Chore?) -> Void) { self.read = read }

        deinit { read(variable.withLock { $0 }?.wrappedValue) }
    }

    @Test("what ends with the value that a variable had may read the variable")
    func lastReader() async throws {
        let wasNil = Journal<Bool>()
        func wrap() throws -> ThreadSafe<Chore> {
            let reader = LastReader { wasNil.add($0 == nil) }
            var configuration = file.configuration
            configuration.migrationBlock = { _, _ in withExtendedLifetime(reader) {} }
            let queue = DispatchQueue(label: "wraps")
            return try queue.sync {
                let realm = try Realm(configuration: configuration, queue: queue)
                let chore = try realm.write { realm.create(Chore.self, value: ["id": 1]) }
                let variable = ThreadSafe(wrappedValue: chore)
                reader.variable.withLock { $0 = variable }
                realm.close()
                return variable
            }
        }
        let variable = try wrap()
        #expect(wasNil.entries.isEmpty)
        variable.wrappedValue = nil
        // What follows the write on the queue may hold the closed realm for a moment, and be the last to let go of it.
        #expect(await wasNil.wait(for: 1) == [true])
    }

    @Test("a reference to an object that was deleted meanwhile resolves to nil")
    func deleted() async throws {
        let worker = try await Worker(file.configuration)
        let other = try await Worker(file.configuration)
        try await worker.add(1, "one")
        let (reference, again) = await worker.with { _, realm in
            let chore = realm.object(ofType: Chore.self, forPrimaryKey: 1)!
            return (ThreadSafeReference(to: chore), ObjectReference(to: chore))
        }
        try await worker.delete(1)
        try await other.with { _, realm in
            try await realm.asyncWrite { #expect(realm.resolve(reference) == nil) }
            #expect(realm.resolve(again) == nil)
        }
    }

    @Test("a realm that is behind catches up to resolve")
    func behind() async throws {
        let worker = try await Worker(file.configuration)
        let other = try await Worker(file.configuration)
        await other.with { _, realm in realm.autorefresh = false }
        try await worker.add(1, "one")
        let reference = await worker.with { _, realm in
            ThreadSafeReference(to: realm.object(ofType: Chore.self, forPrimaryKey: 1)!)
        }
        await other.with { _, realm in
            #expect(realm.objects(Chore.self).isEmpty)
            #expect(realm.resolve(reference)?.name == "one")
        }
    }

    @Test("resolving twice, and referring to unmanaged objects, traps")
    func traps() async throws {
        await #expect(processExitsWith: .failure) {
            let worker = try await Worker(ObservedFile().configuration)
            try await worker.add(1, "one")
            await worker.with { _, realm in
                let reference = ThreadSafeReference(to: realm.object(ofType: Chore.self, forPrimaryKey: 1)!)
                _ = realm.resolve(reference)
                _ = realm.resolve(reference)
            }
        }
        await #expect(processExitsWith: .failure) { _ = ThreadSafeReference(to: Chore()) }
        await #expect(processExitsWith: .failure) { _ = ObjectReference(to: Chore()) }
        await #expect(processExitsWith: .failure) { _ = ThreadSafe(wrappedValue: Chore()) }
    }

    @Test("object references are plain values: equal, hashable, codable, and good for any number of uses")
    func objectReference() async throws {
        let worker = try await Worker(file.configuration)
        try await worker.add(1, "one")
        try await worker.add(2, "two")
        let (reference, other) = await worker.with { _, realm in
            (
                ObjectReference(to: realm.object(ofType: Chore.self, forPrimaryKey: 1)!),
                ObjectReference(to: realm.object(ofType: Chore.self, forPrimaryKey: 2)!)
            )
        }
        let copy = try JSONDecoder()
            .decode(
                ObjectReference<Chore>.self,
                from: JSONEncoder().encode(reference)
            )
        #expect(copy == reference && copy != other)
        #expect(Set([copy, reference, other]).count == 2)
        await worker.with { _, realm in
            #expect(realm.resolve(copy)?.name == "one")
            #expect(realm.resolve(copy)?.name == "one")
        }
    }

    @Test("frozen values can be read anywhere, stay as they were, and are thawed on any actor")
    func frozen() async throws {
        let worker = try await Worker(file.configuration)
        let other = try await Worker(file.configuration)
        try await worker.add(1, "one")
        let (chore, chores, realm) = await worker.with { _, realm in
            (
                realm.object(ofType: Chore.self, forPrimaryKey: 1)!.frozen, realm.objects(Chore.self).frozen,
                realm.frozen
            )
        }
        try await worker.rename(1, "uno")
        try await worker.add(2, "two")
        #expect(chore.name == "one")
        #expect(chores.count == 1)
        #expect(chores.value.isFrozen)
        #expect(realm.value.objects(Chore.self).count == 1)
        await withTaskGroup { group in
            for _ in 0..<8 {
                group.addTask { for _ in 0..<200 { #expect(chores.value[0].name == "one" && chore.name == "one") } }
            }
        }
        await other.with { _, realm in
            realm.refresh()
            #expect(realm.thaw(chore)?.name == "uno")
            #expect(realm.thaw(chores)?.count == 2)
        }
        try await worker.delete(1)
        await other.with { _, realm in
            realm.refresh()
            #expect(realm.thaw(chore) == nil)
        }
    }

    @Test("What is thawed in a realm that is behind shows what the frozen value does")
    func thawedBehind() async throws {
        let worker = try await Worker(file.configuration)
        let object = try await Worker(file.configuration)
        let whole = try await Worker(file.configuration)
        try await worker.add(1, "one")
        for other in [object, whole] {
            await other.with { _, realm in
                realm.autorefresh = false
                realm.refresh()
            }
        }
        try await worker.rename(1, "uno")
        try await worker.add(2, "two")
        let (first, second, all) = await worker.with { _, realm in
            (
                realm.object(ofType: Chore.self, forPrimaryKey: 1)!.frozen,
                realm.object(ofType: Chore.self, forPrimaryKey: 2)!.frozen, realm.frozen
            )
        }
        await object.with { _, _ in
            #expect(first.value.thaw()?.name == "uno")
            #expect(second.value.thaw()?.name == "two")
        }
        await whole.with { _, _ in
            let thawed: Realm = all.value.thaw()
            #expect(thawed.objects(Chore.self).map(\.name) == ["uno", "two"])
        }
    }

    private final class Box {
        @ThreadSafe var chore: Chore?
    }

    private func rename(_ reference: ThreadSafe<Chore>, to name: String) async throws {
        let queue = DispatchQueue(label: "handover")
        try await withCheckedThrowingContinuation { continuation in
            queue.async {
                let chore = reference.wrappedValue
                continuation.resume(
                    with: Result { try chore?.realm?.write { reference.wrappedValue?.name = name } }
                )
            }
        }
    }

    @Test("a thread-safe variable is read any number of times, on any actor, and is nil after the deletion")
    func threadSafe() async throws {
        let worker = try await Worker(file.configuration)
        try await worker.add(1, "one")
        let wrapper = await worker.with { _, realm in
            let box = Box()
            #expect(box.chore == nil)
            box.chore = realm.object(ofType: Chore.self, forPrimaryKey: 1)
            #expect(box.chore?.name == "one")
            #expect(box.chore?.name == "one")
            return box.$chore
        }
        try await rename(wrapper, to: "renamed")
        await worker.with { _, realm in
            realm.refresh()
            #expect(wrapper.wrappedValue?.name == "renamed")
        }
        try await worker.delete(1)
        await worker.with { _, _ in #expect(wrapper.wrappedValue == nil) }
    }

    @Test("results passed to a background write are those of the query there")
    func passing() async throws {
        let worker = try await Worker(file.configuration)
        try await worker.add(1, "one", isDone: true)
        try await worker.add(2, "two")
        await worker.with { worker, realm in
            let done = realm.objects(Chore.self).where { $0.isDone }
            await withCheckedContinuation { continuation in
                realm.writeAsync(
                    done,
                    errorHandler: { error in
                        Issue.record(error)
                        continuation.resume()
                    },
                    block: { realm, done in
                        #expect(done?.count == 1)
                        if let done { realm.delete(done) }
                        continuation.resume()
                    }
                )
            }
        }
        var iterator = await worker.changes().makeAsyncIterator()
        var told = await iterator.next()?.told
        if told == .initial(["one", "two"]) { told = await iterator.next()?.told }
        #expect(
            told == .initial(["two"]) || told == .update(["two"], deletions: [0], insertions: [], modifications: [])
        )
    }

    @Test("A background write is refused where the realm of what is passed was closed")
    func passingFromClosedRealm() async throws {
        let worker = try await Worker(file.configuration)
        try await worker.add(1, "one")
        let code = await worker.with { _, realm -> Realm.Error.Code? in
            let chore = realm.object(ofType: Chore.self, forPrimaryKey: 1)!
            realm.close()
            return await withCheckedContinuation { (continuation: CheckedContinuation<Realm.Error.Code?, Never>) in
                realm.writeAsync(
                    chore,
                    errorHandler: { continuation.resume(returning: ($0 as? Realm.Error)?.code) },
                    block: { _, _ in continuation.resume(returning: nil) }
                )
            }
        }
        #expect(code == .closed)
    }
}
