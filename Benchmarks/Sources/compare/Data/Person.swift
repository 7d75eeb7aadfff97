import ActorRealm
import Foundation
import People

/// The object that all rows of the table are measured with.
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
