import ActorRealm
import Foundation
import People

// One class at several versions of a program.
/// The class before all migrations.
class OldPerson: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var name: String
    @Persisted var age: Int
    @Persisted var score: Double
    @Persisted var email: String
    @Persisted var createdAt: Date
    override class func _realmObjectName() -> String? { "Person" }

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

/// With an optional property more.
class PersonWithNote: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var name: String
    @Persisted var age: Int
    @Persisted var score: Double
    @Persisted var email: String
    @Persisted var createdAt: Date
    @Persisted var note: String?
    override class func _realmObjectName() -> String? { "Person" }
}

/// With a property more, which has a default.
class PersonWithNickname: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var name: String
    @Persisted var age: Int
    @Persisted var score: Double
    @Persisted var email: String
    @Persisted var createdAt: Date
    @Persisted var nickname = "none"
    override class func _realmObjectName() -> String? { "Person" }
}

/// With a property less.
class PersonWithoutScore: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var name: String
    @Persisted var age: Int
    @Persisted var email: String
    @Persisted var createdAt: Date
    override class func _realmObjectName() -> String? { "Person" }
}

/// With a property that may be nil.
class PersonWithOptionalAge: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var name: String
    @Persisted var age: Int?
    @Persisted var score: Double
    @Persisted var email: String
    @Persisted var createdAt: Date
    override class func _realmObjectName() -> String? { "Person" }
}

/// With a property of another type.
class PersonWithAgeInWords: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var name: String
    @Persisted var age: String
    @Persisted var score: Double
    @Persisted var email: String
    @Persisted var createdAt: Date
    override class func _realmObjectName() -> String? { "Person" }
}

/// With another name of a property.
class PersonWithFullName: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var fullName: String
    @Persisted var age: Int
    @Persisted var score: Double
    @Persisted var email: String
    @Persisted var createdAt: Date
    override class func _realmObjectName() -> String? { "Person" }
}

/// With an index.
class PersonWithIndex: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var name: String
    @Persisted var age: Int
    @Persisted var score: Double
    @Persisted(indexed: true) var email: String
    @Persisted var createdAt: Date
    override class func _realmObjectName() -> String? { "Person" }
}

/// With an index of few values.
class PersonWithAgeIndex: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var name: String
    @Persisted(indexed: true) var age: Int
    @Persisted var score: Double
    @Persisted var email: String
    @Persisted var createdAt: Date
    override class func _realmObjectName() -> String? { "Person" }
}

/// With a unique property.
class PersonWithUniqueEmail: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var name: String
    @Persisted var age: Int
    @Persisted var score: Double
    @Persisted(unique: true) var email: String
    @Persisted var createdAt: Date
    override class func _realmObjectName() -> String? { "Person" }
}

/// With an index over two properties.
class PersonWithCompoundIndex: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var name: String
    @Persisted var age: Int
    @Persisted var score: Double
    @Persisted var email: String
    @Persisted var createdAt: Date
    override class func _realmObjectName() -> String? { "Person" }
    override class func compoundIndexes() -> [CompoundIndex] { [["age", "email"]] }
}
