import ActorRealm
import Foundation

extension Names {
    /// Sections 1.2, 1.3 and 1.5: transactions, refreshing and freezing.
    mutating func writing() {
        var realm: Realm { value() }
        var token: NotificationToken { value() }
        var dog: Dog { value() }
        group("write(_:)", "write(withoutNotifying:_:)") {
            let made: Dog = try realm.write { realm.create(Dog.self) }
            try realm.write(withoutNotifying: [token]) { made.age = 1 }
            try realm.write {
                made.age = 2
                if made.age > 3 { throw Realm.Error(.fail) }
            }
            realm.beginWrite()
        }
        group(
            "beginWrite()",
            "commitWrite()",
            "commitWrite(withoutNotifying:)",
            "cancelWrite()",
            "isInWriteTransaction"
        ) {
            realm.beginWrite()
            try realm.commitWrite()
            realm.beginWrite()
            try realm.commitWrite(withoutNotifying: [token])
            realm.cancelWrite()
            expect(Bool.self, realm.isInWriteTransaction)
        }
        group("writeAsync(_:)", "writeAsync(_:onComplete:)", "AsyncTransactionId") {
            let id: AsyncTransactionId = realm.writeAsync { dog.age = 1 }
            expect(UInt32.self, id)
            realm.writeAsync({ dog.age = 2 }, onComplete: { error in if let error { print(error) } })
            realm.writeAsync {
                dog.age = 3
            } onComplete: { (_: (any Error)?) in
            }
            try realm.cancelAsyncWrite(id)
        }
        group("beginAsyncWrite(_:)", "commitAsyncWrite()", "commitAsyncWrite(allowGrouping:_:)", "cancelAsyncWrite(_:)")
        {
            let id = realm.beginAsyncWrite {
                realm.commitAsyncWrite()
                realm.commitAsyncWrite(allowGrouping: true)
                realm.commitAsyncWrite { (error: (any Error)?) in print(error as Any) }
                realm.commitAsyncWrite(allowGrouping: false) { _ in }
            }
            try realm.cancelAsyncWrite(id)
        }
        group("isPerformingAsynchronousWriteOperations") {
            expect(Bool.self, realm.isPerformingAsynchronousWriteOperations)
        }
        group("autorefresh", "refresh()", "invalidate()", "isFrozen", "freeze()", "thaw()") {
            realm.autorefresh = !realm.autorefresh
            realm.refresh()
            expect(Bool.self, realm.refresh())
            realm.invalidate()
            expect(Bool.self, realm.isFrozen)
            expect(Realm.self, realm.freeze())
            expect(Realm.self, realm.thaw())
        }
        group("freeze(_: Object)", "thaw(_: Object)", "freeze(_: RealmCollection)") {
            expect(Address.self, realm.freeze(Address()))
            expect(Address?.self, realm.thaw(Address()))
            expect(List<Dog>.self, realm.freeze(List<Dog>()))
            expect(Dog.self, realm.freeze(dog))
            expect(Dog?.self, realm.thaw(dog))
            expect(Results<Dog>.self, realm.freeze(realm.objects(Dog.self)))
        }
        group("Realm ==", "Realm.schema", "Realm.configuration", "Realm.isEmpty") {
            expect(Bool.self, realm == realm.thaw())
            expect(Schema.self, realm.schema)
            expect(Realm.Configuration.self, realm.configuration)
            expect(Bool.self, realm.isEmpty)
        }
    }

    /// Section 1.4: transactions and refreshing where tasks wait.
    @MainActor mutating func writingOnTheMainActor() {
        var realm: Realm { value() }
        var dog: Dog { value() }
        group("asyncWrite(_:)", "asyncWrite(_isolation:_:)", "asyncRefresh()", "asyncRefresh(_isolation:)") {
            let made: Dog = try await realm.asyncWrite { realm.create(Dog.self) }
            try await realm.asyncWrite { made.age = dog.age }
            try await realm.asyncWrite(_isolation: MainActor.shared) { made.age = 2 }
            await realm.asyncRefresh()
            let isNew: Bool = await realm.asyncRefresh()
            await realm.asyncRefresh(_isolation: MainActor.shared)
            print(isNew)
        }
    }
}

extension Names {
    /// Section 2.8: what is created, added, found and deleted.
    mutating func objects() {
        var realm: Realm { value() }
        var dog: Dog { value() }
        var dogs: List<Dog> { value() }
        var map: Map<String, Dog?> { value() }
        group("create(_:)", "create(_:value:)", "create(_:value:update:)", "dynamicCreate(_:value:update:)") {
            realm.create(Dog.self)
            let made: Dog = realm.create(Dog.self, value: ["name": "Rex"])
            realm.create(Dog.self, value: made, update: .modified)
            realm.create(Dog.self, value: [ObjectId.generate(), "Rex", 3] as [Any], update: .all)
            let dynamic: DynamicObject = realm.dynamicCreate("Dog", value: ["name": "Rex"], update: .error)
            realm.dynamicCreate("Dog")
            realm.dynamicCreate("Dog", value: ["name": "Rex"])
            realm.dynamicCreate("Dog", update: .modified)
            realm.create(Dog.self, update: .all)
            print(dynamic)
        }
        group("UpdatePolicy.error", "UpdatePolicy.modified", "UpdatePolicy.all", "UpdatePolicy.rawValue") {
            expect([Int].self, [Realm.UpdatePolicy.error, .modified, .all].map(\.rawValue))
        }
        group("add(_:)", "add(_:update:)", "add(_: Sequence)", "add(_: Sequence, update:)") {
            realm.add(dog)
            realm.add(dog, update: .modified)
            realm.add([dog])
            realm.add([dog], update: .all)
            realm.add(dogs)
        }
        group("object(ofType:forPrimaryKey:)", "dynamicObject(ofType:forPrimaryKey:)") {
            expect(Dog?.self, realm.object(ofType: Dog.self, forPrimaryKey: ObjectId.generate()))
            expect(DynamicObject?.self, realm.dynamicObject(ofType: "Dog", forPrimaryKey: ObjectId.generate()))
        }
        group("objects(_:)", "objects(_: Projection)", "dynamicObjects(_:)") {
            expect(Results<Dog>.self, realm.objects(Dog.self))
            expect(Results<PersonProjection>.self, realm.objects(PersonProjection.self))
            expect(Results<DynamicObject>.self, realm.dynamicObjects("Dog"))
        }
        group("delete(_: Object)", "delete(_: Sequence)", "delete(_: List)", "delete(_: Map)", "delete(_: Results)") {
            realm.delete(dog)
            realm.delete([dog])
            realm.delete(dogs)
            realm.delete(map)
            realm.delete(realm.objects(Dog.self))
            realm.delete(realm.objects(Owner.self).first!.pack)
            realm.delete(dog.owners)
        }
        group("deleteAll()") { realm.deleteAll() }
    }
}
