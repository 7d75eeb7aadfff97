import ActorRealm
import People

/// Dogs and owners in a realm.
final class RealmKennel: Kennel {
    private let realm: Realm

    init(path: String, isolation: isolated (any Actor)?) throws {
        let configuration = RealmEngine.configuration(path, isDurable: false, objectTypes: [Dog.self, Owner.self])
        realm = try Realm(configuration: configuration, isolation: isolation)
    }

    func insert(owners: Int, dogs: Int) throws {
        try realm.write {
            let owners = (0..<owners).map { Owner(PersonData($0)) }
            realm.add(owners)
            for number in 0..<dogs {
                let dog = Dog()
                dog.age = number % 20
                dog.owner = owners[number % owners.count]
                realm.add(dog)
            }
        }
    }

    func sumOfOwnerAges() -> Int {
        var sum = 0
        for dog in realm.objects(Dog.self) { sum &+= dog.owner?.age ?? 0 }
        return sum
    }

    func sumOfDogAges() -> Int {
        var sum = 0
        for owner in realm.objects(Owner.self) {
            for dog in owner.dogs { sum &+= dog.age }
        }
        return sum
    }
}
