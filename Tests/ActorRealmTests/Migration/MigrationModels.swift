import ActorRealm
import Foundation

/// One class at several versions of a program.
class OldPerson: Object {
    @Persisted var firstName = ""
    @Persisted var lastName = ""
    @Persisted(indexed: true) var age = 0
    @Persisted var pets: List<OldPet>
    @Persisted var best: OldPet?
    @Persisted var scores: List<Int>
    override class func _realmObjectName() -> String? { "Person" }
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

class OldPet: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var name = ""
    @Persisted(originProperty: "pets") var keepers: LinkingObjects<OldPerson>
    override class func _realmObjectName() -> String? { "Pet" }
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

class OldNote: Object {
    @Persisted var text = ""
    @Persisted var about: OldPet?
    override class func _realmObjectName() -> String? { "Note" }
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

class NewPerson: Object {
    @Persisted(primaryKey: true) var id = ""
    @Persisted var fullName = ""
    @Persisted(indexed: true) var years: Int?
    @Persisted var mood = Mood.grumpy
    @Persisted var animals: List<NewPet>
    @Persisted var best: NewPet?
    @Persisted var scores: List<String>
    override class func _realmObjectName() -> String? { "Person" }
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
    override class func propertiesMapping() -> [String: String] { ["fullName": "full_name"] }
}

class NewPet: Object {
    @Persisted(primaryKey: true) var id: String
    @Persisted var name: String?
    @Persisted(originProperty: "animals") var keepers: LinkingObjects<NewPerson>
    override class func _realmObjectName() -> String? { "Pet" }
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

class NewTag: Object {
    @Persisted var label = "plain"
    @Persisted var weight = 7
    override class func _realmObjectName() -> String? { "Tag" }
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

class PlainMember: Object {
    @Persisted var email = ""
    @Persisted var city = ""
    @Persisted var rank = 0
    override class func _realmObjectName() -> String? { "Member" }
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

class RuledMember: Object {
    @Persisted(unique: true) var email = ""
    @Persisted var city = ""
    @Persisted var rank = 0
    override class func compoundIndexes() -> [CompoundIndex] { [CompoundIndex("city", "rank", unique: true)] }
    override class func _realmObjectName() -> String? { "Member" }
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

let oldTypes: [ObjectBase.Type] = [OldPerson.self, OldPet.self, OldNote.self]
let newTypes: [ObjectBase.Type] = [NewPerson.self, NewPet.self, NewTag.self]
