import Foundation
import RealmModel
import Testing

@testable import ActorRealm

private class HiddenModel: Object {
    @Persisted var value = 0
}

enum Outer {
    class NestedModel: Object {
        @Persisted var value = 0
        var ignored = [1, 2, 3]
    }
}

class InheritedModel: Outer.NestedModel {
    @Persisted var more: String?
}

class UnlistedModel: Object {
    @Persisted var value = 0
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

@Suite struct DiscoveryTests {
    @Test func `every model class of the process is found, private, nested and local ones too`() {
        class LocalModel: Object {
            @Persisted var value = 0
        }
        let found = Set(ModelSchema.discover().map { ObjectIdentifier($0) })
        #expect(found.contains(ObjectIdentifier(HiddenModel.self)))
        #expect(found.contains(ObjectIdentifier(Outer.NestedModel.self)))
        #expect(found.contains(ObjectIdentifier(InheritedModel.self)))
        #expect(found.contains(ObjectIdentifier(LocalModel.self)))
        #expect(found.contains(ObjectIdentifier(Keeper.self)))
        #expect(found.contains(ObjectIdentifier(Toy.self)))
        #expect(!found.contains(ObjectIdentifier(UnlistedModel.self)))
        #expect(!found.contains(ObjectIdentifier(Object.self)))
        #expect(!found.contains(ObjectIdentifier(ObjectBase.self)))
    }

    @Test func `a class is described by its declarations`() {
        let info = ModelClass.of(Keeper.self)
        #expect(info.name == "Keeper")
        #expect(
            info.properties.map(\.name) == [
                "id", "name", "age", "height", "mood", "favourite", "boss", "toy", "toys", "puppies", "nicknames",
                "scores",
            ]
        )
        #expect(info.primaryKey == 0)
        #expect(info.properties[1].isIndexed)
        #expect(!info.properties[2].isIndexed)
        #expect(info.properties[3].shape.isOptional)
        #expect(info.properties[4].shape.kind == .string)
        #expect(info.properties[6].shape.target == Keeper.self)
        #expect(info.properties[9].shape.collection == .list)
        #expect(info.properties[11].shape.isOptional)
        #expect(!info.isClonable)
        #expect(ModelClass.of(Puppy.self).isClonable)
        #expect(ModelClass.of(Puppy.self).properties[3].originProperty == "puppies")
        #expect(ModelClass.of(Toy.self).isEmbedded)
        #expect(ModelClass.of(IdKeyed.self).properties[0].name == "_id")
    }

    @Test func `inherited properties come first`() {
        #expect(ModelClass.of(InheritedModel.self).properties.map(\.name) == ["value", "more"])
    }

    @Test func `linked classes join a list of types`() throws {
        let schema = try ModelSchema(objectTypes: [Keeper.self])
        #expect(Set(schema.classes.map(\.name)) == ["Keeper", "Puppy", "Toy"])
    }

    /// Classes that `otherNamesakes()` has as well, declared neither in the order of their names nor the other way round.
    private static func namesakes() -> [ObjectBase.Type] {
        class Mole: Object {
            @Persisted var value = 0
        }
        class Zebra: Object {
            @Persisted var value = 0
        }
        class Adder: Object {
            @Persisted var value = 0
        }
        return [Mole.self, Zebra.self, Adder.self]
    }

    private static func otherNamesakes() -> [ObjectBase.Type] {
        class Mole: Object {
            @Persisted var value = 0
        }
        class Zebra: Object {
            @Persisted var value = 0
        }
        class Adder: Object {
            @Persisted var value = 0
        }
        return [Mole.self, Zebra.self, Adder.self]
    }

    /// In this process, that of all tests, several classes have one name.
    @Test func `without a list, all classes that have properties are looked at, and no others`() throws {
        let error = #expect(throws: ModelError.self) { try ModelSchema(objectTypes: nil) }
        guard case .invalidSchema(let problems) = try #require(error) else {
            Issue.record("another error")
            return
        }
        #expect(!problems.isEmpty && problems.allSatisfy { $0.hasPrefix("Two classes are named '") }, "\(problems)")
        // In the order of their names, as the schema of a realm without a list shows its classes.
        #expect(Self.namesakes().count == Self.otherNamesakes().count)
        let names = problems.map { String($0.split(separator: "'")[1]) }
            .filter { name in ["Adder", "Mole", "Zebra"].contains { name.hasSuffix($0) } }
        #expect(names.count == 3 && names == names.sorted(), "\(names)")
    }

    @Test func `a class without properties is refused`() {
        class Hollow: Object {}
        #expect(throws: (any Error).self) { try ModelSchema(objectTypes: [Hollow.self]) }
    }

    @Test func `a key path becomes the names of its properties`() {
        #expect(PathRecorder.name(of: \Keeper.name) == "name")
        #expect(PathRecorder.name(of: \Keeper.boss?.favourite?.age) == "boss.favourite.age")
        #expect(PathRecorder.name(of: \Keeper.puppies[0].name) == "puppies.name")
        #expect(PathRecorder.name(of: \Puppy.keepers[0].name) == "keepers.name")
        #expect(PathRecorder.name(of: \Keeper.mood) == "mood")
    }

    @Test func `the schema shows the classes`() throws {
        let realm = try memoryRealm()
        #expect(realm.schema.objectSchema.count == 9)
        let schema = try #require(realm.schema["Keeper"])
        #expect(schema.primaryKeyProperty?.name == "id")
        #expect(schema["height"]?.type == .double)
        #expect(schema["height"]?.isOptional == true)
        #expect(schema["puppies"]?.isArray == true)
        #expect(schema["puppies"]?.objectClassName == "Puppy")
        #expect(schema["none"] == nil)
        #expect(realm.schema["Toy"]?.isEmbedded == true)
        #expect(Keeper().objectSchema == schema)
    }
}
