import ActorRealm

class Dog: Object {
    @Persisted var name: String
    @Persisted var age: Int
    @Persisted(originProperty: "dogs") var owners: LinkingObjects<Person>
}

class Person: Object {
    @Persisted var name: String
    @Persisted var dogs: List<Dog>

    convenience init(name: String) {
        self.init()
        self.name = name
    }
}

class Email: Object {
    @Persisted var subject: String
    @Persisted var read: Bool
}
