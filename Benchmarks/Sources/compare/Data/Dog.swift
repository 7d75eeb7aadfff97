import ActorRealm
import People

/// A dog with an owner, for the rows about links.
final class Dog: Object {
    @Persisted var age: Int
    @Persisted var owner: Owner?
}

/// A person who knows their dogs.
final class Owner: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var name: String
    @Persisted var age: Int
    @Persisted(originProperty: "owner") var dogs: LinkingObjects<Dog>

    convenience init(_ data: PersonData) {
        self.init()
        id = data.id
        name = data.name
        age = data.age
    }
}
