import Foundation
import RealmStorage
import Synchronization
import Testing

@Suite("A weak reference without a side table")
struct WeakReferenceTests {
    final class Object: Sendable {
        let ended: @Sendable () -> Void

        init(_ ended: @escaping @Sendable () -> Void = {}) { self.ended = ended }

        deinit { ended() }
    }

    /// What a deinitialiser saw.
    final class Witness: Sendable {
        let reference = Mutex<WeakReference<Object>?>(nil)
        let sawItself = Atomic(false)
        let isEnded = Atomic(false)
    }

    @Test("It gives the object while something else holds it, and nil from the beginning of its end on")
    func lifetime() throws {
        let witness = Witness()
        var object: Object? = Object {
            witness.sawItself.store(witness.reference.withLock { $0?.object } != nil, ordering: .relaxed)
            witness.isEnded.store(true, ordering: .relaxed)
        }
        let reference = WeakReference(try #require(object))
        witness.reference.withLock { $0 = reference }
        for _ in 0..<3 { #expect(reference.object === object) }
        let isEndedBefore = witness.isEnded.load(ordering: .relaxed)
        #expect(!isEndedBefore)
        object = nil
        let isEnded = witness.isEnded.load(ordering: .relaxed)
        #expect(isEnded)
        let sawItself = witness.sawItself.load(ordering: .relaxed)
        #expect(!sawItself)
        // The memory is held by the reference, so this reads no foreign object.
        let others = (0..<1000).map { _ in Object() }
        #expect(reference.object == nil)
        withExtendedLifetime(others) {}
    }

    @Test("It leaves the counts in the object, where a weak variable moves them to a side table")
    func counts() {
        let object = Object()
        let reference = WeakReference(object)
        #expect(reference.object === object)
        #expect(!hasSideTable(object))
        weak let other = object
        #expect(other === object)
        #expect(hasSideTable(object))
        // The two live together.
        #expect(reference.object === object)
    }

    @Test("Threads that read it while the object ends get the whole object or nil")
    func race() async {
        final class Counts: Sendable {
            let ends = Atomic(0)
            let met = Atomic(0)
        }
        let counts = Counts()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<200 {
                let object = Object { counts.ends.wrappingAdd(1, ordering: .relaxed) }
                let reference = WeakReference(object)
                for _ in 0..<2 {
                    group.addTask {
                        for _ in 0..<100 where reference.object != nil { counts.met.wrappingAdd(1, ordering: .relaxed) }
                    }
                }
                group.addTask { withExtendedLifetime(object) {} }
            }
        }
        let endCount = counts.ends.load(ordering: .relaxed)
        #expect(endCount == 200)
        print("met living: \(counts.met.load(ordering: .relaxed)) of 40000")
    }

    private func hasSideTable(_ object: Object) -> Bool {
        // The first bit of the counts, behind the class.
        Unmanaged.passUnretained(object).toOpaque().load(fromByteOffset: 8, as: UInt64.self) >> 62 == 0b11
    }
}
