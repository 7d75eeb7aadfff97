import ActorRealm
import Foundation
import People

/// The object that the hot paths are measured with.
final class Person: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var name: String
    @Persisted var age: Int
    @Persisted var score: Double
    @Persisted(indexed: true) var email: String
    @Persisted var createdAt: Date

    convenience init(_ data: PersonData) {
        self.init()
        id = data.id
        name = data.name
        age = data.age
        score = data.score
        email = data.email
        createdAt = Date(timeIntervalSinceReferenceDate: data.createdAt)
    }
}

/// A dog with an owner.
final class Dog: Object {
    @Persisted var age: Int
    @Persisted var owner: Owner?
}

/// Someone who knows their dogs.
final class Owner: Object {
    @Persisted var name: String
    @Persisted var age: Int
    @Persisted(originProperty: "owner") var dogs: LinkingObjects<Dog>
}
