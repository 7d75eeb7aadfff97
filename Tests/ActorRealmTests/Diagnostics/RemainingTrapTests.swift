import ActorRealm
import Dispatch
import Foundation
import RealmTestSupport
import Testing

/// Misuse of functions that do not throw, where no other suite has a test of it.
@Suite("The other kinds of misuse end the process with a sentence that names the remedy", .timeLimit(.minutes(60)))
struct RemainingTrapTests {
    final class Nickname: Projection<Keeper> {
        @Projected(\Keeper.favourite?.name) var puppy
        @Projected(\Keeper.puppies.projectTo.name) var puppies
    }

    class Cabinet: Object {
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
        @Persisted var drawers: MutableSet<AnyRealmValue>
    }

    enum Misuse: String, CaseIterable, Codable, Sendable {
        case unmanagedCollection, decimalOfSomething, detachedDynamic, detachedDeleted, dynamicOfNothing,
            assignedLinkingObjects
        case dynamicListOfText, literalIdentifier, computedKeyPath, unknownCase, frozenDeleted, referenceToDeleted,
            longArray
        case noArray, concurrentQueue, cancelledNothing, committedNothing, embeddedQuery, missingPrimaryKey,
            foreignDeletion
        case deletedTwice, unknownOperator, unknownMapOperator, valuesOfValues, readOnlyProjection, sentSections,
            wrongKeyType, unpostableObserver, frozenUnmanaged, listInSet, addedListInSet, assignedProjection

        /// What the sentence says.
        var sentence: String {
            switch self {
            case .unmanagedCollection: "only supported on managed collections. Add the object to a Realm first."
            case .decimalOfSomething: "Cannot convert value"
            case .detachedDynamic: "A `DynamicObject` has no form outside of its realm"
            case .detachedDeleted: "it cannot be detached"
            case .dynamicOfNothing: "get one from `realm.dynamicObjects"
            case .assignedLinkingObjects: "cannot be assigned to"
            case .dynamicListOfText: "is not a list of objects"
            case .literalIdentifier: "must be 24 hex digits"
            case .computedKeyPath: "does not name a property marked `@Persisted`"
            case .unknownCase: "is not a case of Mood. Make the property optional"
            case .frozenDeleted: "it cannot be frozen"
            case .referenceToDeleted: "Cannot construct reference to invalidated object."
            case .longArray: "more values (9) than properties"
            case .noArray: "Give a dictionary by property name, an array in property order or an object."
            case .concurrentQueue: "whose blocks run at the same time: pass a serial queue"
            case .cancelledNothing: "Can't cancel a non-existing write transaction: call `realm.beginWrite()` first."
            case .committedNothing:
                "Can't commit a non-existing write transaction: call `realm.beginAsyncWrite { }` first."
            case .embeddedQuery: "is reached through its owners."
            case .missingPrimaryKey: "does not have a primary key: find the object by a query."
            case .foreignDeletion: "Can only delete an object from the Realm it belongs to."
            case .deletedTwice: "it cannot be deleted again."
            case .unknownOperator: "use @count, @min, @max, @sum, @avg, @unionOfObjects, @distinctUnionOfObjects"
            case .unknownMapOperator: "Unsupported collection operation '@median' of a map: use @count"
            case .valuesOfValues: "is only possible for collections of objects."
            case .readOnlyProjection, .assignedProjection:
                "cannot be written through: set the property of the object."
            case .sentSections: "Sections made by a closure cannot be sent to another isolation"
            case .wrongKeyType: "for 'int' property 'Keeper.id'"
            case .frozenUnmanaged: "cannot be frozen. Add them to a realm first."
            case .listInSet, .addedListInSet: "Cabinet.drawers': a set of values of any kind"
            case .unpostableObserver: "Pass a queue, as in `results.observe(on: queue) { _ in }`, or an actor"
            }
        }

        func commit() throws {
            let realm = try memoryRealm()
            let keeper = try realm.write {
                realm.create(Keeper.self, value: ["id": 1, "nicknames": ["a"], "favourite": [:]])
            }
            let puppy = keeper.favourite!
            func deleted() throws -> Puppy {
                try realm.write { realm.delete(puppy) }
                return puppy
            }
            switch self {
            case .unmanagedCollection: _ = List<Keeper>().filter("age > 1")
            case .decimalOfSomething: _ = Decimal128(value: Date())
            case .detachedDynamic: _ = realm.dynamicObjects("Keeper").first!.detached()
            case .detachedDeleted: _ = try deleted().detached()
            case .dynamicOfNothing: _ = DynamicObject()["name"]
            case .assignedLinkingObjects: try realm.write { realm.dynamicObjects("Puppy").first!["keepers"] = [] }
            case .dynamicListOfText: _ = keeper.dynamicList("nicknames")
            case .literalIdentifier: _ = ObjectId("no identifier")
            case .computedKeyPath: _ = realm.objects(Keeper.self).sorted(by: \.scratch)
            case .unknownCase:
                try realm.write { realm.dynamicObjects("Keeper").first!["mood"] = "jubilant" }
                _ = keeper.mood
            case .frozenDeleted: _ = try deleted().freeze()
            case .referenceToDeleted: _ = ObjectReference(to: try deleted())
            case .longArray: _ = Puppy(value: [1, 2, 3, 4, 5, 6, 7, 8, 9])
            case .noArray: _ = Puppy(value: 5)
            case .concurrentQueue:
                _ = realm.objects(Puppy.self)
                    .observe(on: DispatchQueue(label: "many", attributes: .concurrent)) { _ in }
            case .cancelledNothing: realm.cancelWrite()
            case .committedNothing:
                let queue = DispatchQueue(label: "one")
                try queue.sync { _ = try Realm(configuration: realm.configuration, queue: queue).commitAsyncWrite() }
            case .embeddedQuery: _ = realm.objects(Toy.self)
            case .missingPrimaryKey: _ = realm.object(ofType: Puppy.self, forPrimaryKey: 1)
            case .foreignDeletion: try realm.write { realm.delete(Puppy()) }
            case .deletedTwice:
                let gone = try deleted()
                try realm.write { realm.delete(gone) }
            case .unknownMapOperator: _ = Map<String, Int>().value(forKeyPath: "@median.self")
            case .unknownOperator: _ = realm.objects(Puppy.self).value(forKeyPath: "@median.age")
            case .valuesOfValues: keeper.nicknames.setValue("b", forKey: "name")
            case .readOnlyProjection: Nickname(projecting: keeper).puppy = "x"
            case .assignedProjection:
                try realm.write {
                    let other = realm.create(Keeper.self, value: ["id": 2, "puppies": [["name": "b"]]])
                    Nickname(projecting: keeper).puppies = Nickname(projecting: other).puppies
                }
            case .sentSections:
                let order = [SortDescriptor(keyPath: "age")]
                let sections = realm.objects(Puppy.self).sectioned(by: { $0.age }, sortDescriptors: order)
                _ = ThreadSafeReference(to: sections)
            case .wrongKeyType: _ = realm.object(ofType: Keeper.self, forPrimaryKey: "one")
            case .frozenUnmanaged: _ = Puppy().frozen
            case .listInSet, .addedListInSet:
                let realm = try memoryRealm([Cabinet.self])
                let cabinet = Cabinet()
                if self == .addedListInSet { cabinet.drawers.insert(.fromArray([.int(1)])) }
                try realm.write {
                    realm.add(cabinet)
                    cabinet.drawers.insert(.fromArray([.int(1)]))
                }
            case .unpostableObserver: _ = realm.objects(Puppy.self).observe { _ in }
            }
        }
    }

    @Test("Each ends by its own sentence", arguments: Misuse.allCases)
    func ends(misuse: Misuse) async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            [misuse = misuse as Misuse] in
            try misuse.commit()
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains(misuse.sentence), "\(misuse): \(text.suffix(400))")
    }
}
