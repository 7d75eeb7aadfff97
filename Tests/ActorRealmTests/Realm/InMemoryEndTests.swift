import Foundation
import RealmTestSupport
import Synchronization
import Testing

@testable import ActorRealm
@testable import RealmModel
@testable import RealmStorage

class InMemoryNote: Object {
    @Persisted(primaryKey: true) var number: Int
    @Persisted(indexed: true) var text: String
    @Persisted var data: Data
    @Persisted var numbers: List<Int>
    @Persisted var texts: Map<String, String>
    @Persisted var next: InMemoryNote?
}

@Suite("The end of an in-memory realm")
struct InMemoryEndTests {
    private func configuration(_ name: String = UUID().uuidString) -> Realm.Configuration {
        var configuration = Realm.Configuration(inMemoryIdentifier: name)
        configuration.objectTypes = [InMemoryNote.self]
        return configuration
    }

    private func add(_ numbers: Range<Int>, to realm: Realm) throws {
        try realm.write {
            for number in numbers {
                let note = InMemoryNote()
                note.number = number
                note.text = "text \(number) " + String(repeating: "x", count: number % 300)
                note.data = Data(repeating: UInt8(number % 256), count: 8_000)
                note.numbers.append(objectsIn: 0..<(number % 50 == 0 ? 5_000 : 3))
                note.texts["a"] = "\(number)"
                note.next =
                    number > numbers.lowerBound
                    ? realm.object(ofType: InMemoryNote.self, forPrimaryKey: number - 1) : nil
                realm.add(note)
            }
        }
    }

    private func check(_ frozen: Realm, _ numbers: Range<Int>) {
        let notes = frozen.objects(InMemoryNote.self)
        #expect(notes.count == numbers.count)
        for (note, number) in zip(notes, numbers) {
            #expect(note.number == number && note.text.hasPrefix("text \(number) "))
            #expect(note.data == Data(repeating: UInt8(number % 256), count: 8_000))
            #expect(note.numbers.count == (number % 50 == 0 ? 5_000 : 3) && note.numbers.last == note.numbers.count - 1)
            #expect(note.texts["a"] == "\(number)" && (note.next?.number ?? number - 1) == number - 1)
        }
        #expect(frozen.object(ofType: InMemoryNote.self, forPrimaryKey: numbers.upperBound - 1) != nil)
        #expect(notes.where { $0.text.starts(with: "text \(numbers.lowerBound) ") }.count == 1)
    }

    /// The realm's file, of which it holds nothing.
    private func settled(_ realm: RealmCoordinator) async {
        // What was asked of the thread before has been done.
        await withCheckedContinuation { done in realm.space.perform { done.resume() } }
    }

    @Test(
        "A frozen copy that outlives close() keeps the pages of its version and nothing else, and each version goes with its last copy"
    )
    func memory() async throws {
        let configuration = configuration()
        let (first, second, coordinator, full) = try withNewRealm(configuration) { realm in
            try add(0..<50, to: realm)
            let first = realm.frozen
            try add(50..<300, to: realm)
            let second = realm.frozen
            try add(300..<1_500, to: realm)
            let coordinator = realm.core.coordinator
            let full = coordinator.file.heldByteCount
            realm.close()
            return (first, Kept(second), coordinator, full)
        }
        await settled(coordinator)
        let both = coordinator.file.heldByteCount
        #expect(full > 12_000_000 && both < full / 3, "\(full) bytes before, \(both) after")
        check(first.value, 0..<50)
        check(try #require(second.value).value, 0..<300)
        second.value = nil
        await settled(coordinator)
        let one = coordinator.file.heldByteCount
        #expect(one < both / 3, "\(both) bytes with both, \(one) with one")
        check(first.value, 0..<50)
    }

    @Test("Whoever opens it again begins an empty one; what is left of the old one leads nowhere in it")
    func nextLife() async throws {
        let configuration = configuration()
        let (frozen, reference, coordinator) = try withNewRealm(configuration) { realm in
            try add(0..<10, to: realm)
            let frozen = realm.objects(InMemoryNote.self).frozen
            let reference = ThreadSafeReference(to: realm.objects(InMemoryNote.self)[3])
            let coordinator = realm.core.coordinator
            realm.close()
            return (frozen, reference, coordinator)
        }
        await settled(coordinator)
        #expect(!Realm.fileExists(for: configuration))
        try withNewRealm(configuration) { realm in
            #expect(realm.isEmpty && realm.core.coordinator !== coordinator)
            #expect(realm.thaw(frozen) == nil && realm.resolve(reference) == nil)
            try add(0..<1, to: realm)
            #expect(realm.objects(InMemoryNote.self).count == 1)
        }
        #expect(frozen.value.count == 10 && frozen.value[3].number == 3)
        // Thawed, it is as empty as a closed realm.
        try withNewRealm(configuration) { _ in
            #expect(frozen.value.thaw() == nil && frozen.value[3].thaw() == nil)
            #expect(frozen.value.realm?.thaw().isClosed == true)
        }
    }

    @Test("As long as another realm of it is open, close() ends nothing")
    func stillOpen() async throws {
        let configuration = configuration()
        let queue = DispatchQueue(label: "test")
        let other = try queue.sync { Kept(try Realm(configuration: configuration, queue: queue)) }
        let coordinator = try withNewRealm(configuration) { realm in
            try add(0..<10, to: realm)
            realm.close()
            return realm.core.coordinator
        }
        await settled(coordinator)
        try withNewRealm(configuration) { #expect($0.objects(InMemoryNote.self).count == 10) }
        try queue.sync {
            try add(10..<20, to: try #require(other.value))
            other.value?.close()
        }
        await settled(coordinator)
        #expect(coordinator.isEnded)
        queue.sync { other.value = nil }
    }

    @Test("A realm that is closed while it is looked whether another one was the last ends with whoever reads it")
    func closedWhileLooking() async throws {
        let configuration = configuration()
        let (here, there) = (DispatchQueue(label: "here"), DispatchQueue(label: "there"))
        let first = try here.sync { Kept(try Realm(configuration: configuration, queue: here)) }
        let second = try there.sync { Kept(try Realm(configuration: configuration, queue: there)) }
        let held = here.sync { first.value?.core.coordinator }
        let coordinator = try #require(held)
        // As whoever iterates changes outside of every actor.
        let reader = Kept(try coordinator.file.beginRead())
        coordinator.observations.memberCount.wrappingAdd(1, ordering: .sequentiallyConsistent)
        // Nobody else stands on its version.
        try there.sync { try add(0..<1, to: try #require(second.value)) }
        // The look comes when it is told to.
        let goesOn = DispatchSemaphore(value: 0)
        coordinator.space.perform { goesOn.wait() }
        here.sync {
            first.value?.close()
            first.value = nil
        }
        coordinator.didLookForRealms = {
            coordinator.didLookForRealms = nil
            there.sync {
                second.value?.close()
                second.value = nil
            }
        }
        goesOn.signal()
        await settled(coordinator)
        #expect(second.value == nil && !coordinator.isEnded)
        coordinator.observations.memberCount.wrappingSubtract(1, ordering: .sequentiallyConsistent)
        reader.value = nil
        await settled(coordinator)
        await settled(coordinator)
        #expect(coordinator.isEnded && !Realm.fileExists(for: configuration))
    }

    @Test("Openings beside closings get a realm of one life or of the next, and can write to it")
    func races() async throws {
        let configuration = configuration()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    for _ in 0..<100 {
                        do {
                            try withNewRealm(configuration) { realm in
                                try realm.write {
                                    realm.create(
                                        InMemoryNote.self,
                                        value: ["number": Int.random(in: 0..<1_000)],
                                        update: .all
                                    )
                                }
                                let frozen = realm.freeze()
                                realm.close()
                                #expect(frozen.objects(InMemoryNote.self).count > 0)
                            }
                        } catch { Issue.record(error) }
                        await Task.yield()
                    }
                }
            }
        }
    }
}

/// A value that can be let go of.
private final class Kept<Value>: @unchecked Sendable {
    var value: Value?
    init(_ value: Value) { self.value = value }
}
