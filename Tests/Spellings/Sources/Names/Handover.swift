import ActorRealm
import Foundation

final class Holder: @unchecked Sendable {
    @ThreadSafe var dog: Dog?
    @ThreadSafe var dogs: Results<Dog>?
}

extension Names {
    /// Section 1.7: what goes from one isolation to another.
    mutating func handover() {
        var realm: Realm { value() }
        var dog: Dog { value() }
        var owner: Owner { value() }
        var queue: DispatchQueue { value() }
        group("ThreadSafeReference.init(to:)", "ThreadSafeReference.isInvalidated", "Realm.resolve(_:)") {
            let reference: ThreadSafeReference<Dog> = ThreadSafeReference(to: dog)
            let sent: any Sendable = reference
            expect(Bool.self, reference.isInvalidated)
            queue.async { print((try? Realm())?.resolve(reference) as Any) }
            expect(Dog?.self, realm.resolve(reference))
            expect(Results<Dog>?.self, realm.resolve(ThreadSafeReference(to: realm.objects(Dog.self))))
            expect(List<Dog>?.self, realm.resolve(ThreadSafeReference(to: owner.dogs)))
            expect(Map<String, Int>?.self, realm.resolve(ThreadSafeReference(to: owner.scores)))
            print(sent)
        }
        group("ThreadSafe.init(wrappedValue:)", "ThreadSafe.wrappedValue", "@ThreadSafe") {
            let safe = ThreadSafe(wrappedValue: dog)
            let sent: any Sendable = safe
            expect(Dog?.self, safe.wrappedValue)
            safe.wrappedValue = nil
            let holder = Holder()
            holder.dog = dog
            holder.dogs = realm.objects(Dog.self)
            queue.async { print(holder.dog?.name as Any) }
            print(sent)
        }
        group(
            "ThreadConfined.realm",
            "ThreadConfined.isInvalidated",
            "ThreadConfined.isFrozen",
            "ThreadConfined.freeze()",
            "ThreadConfined.thaw()"
        ) {
            func confined<Value: ThreadConfined>(_ value: Value) {
                expect(Realm?.self, value.realm)
                expect(Bool.self, value.isInvalidated)
                expect(Bool.self, value.isFrozen)
                expect(Value.self, value.freeze())
                expect(Value?.self, value.thaw())
            }
            confined(dog)
            confined(owner.address!)
            confined(PersonProjection(projecting: owner))
            confined(realm.objects(Dog.self))
            confined(owner.dogs)
            confined(owner.pack)
            confined(owner.scores)
            confined(dog.owners)
            confined(AnyRealmCollection(owner.dogs))
            confined(PersonProjection(projecting: owner).dogs)
            confined(realm.objects(Dog.self).sectioned(by: \.age))
            confined(realm.objects(Dog.self).sectioned(by: \.age)[0])
        }
    }
}
