import ActorRealm
import Foundation
import Testing

private enum Colour: String, PersistableEnum { case red, blue }

/// Code that is generic over what properties and collections hold.
@Suite("Generic code reaches the type that a value is stored as", .timeLimit(.minutes(60)))
struct GenericTypeTests {
    private func isStored<Value: RealmCollectionValue>(_: Value.Type, as type: Any.Type) -> Bool {
        ObjectIdentifier(Value.PersistedType.self) == ObjectIdentifier(type)
    }

    private func isProperty<Value: _Persistable>(_: Value.Type, storedAs type: Any.Type) -> Bool {
        ObjectIdentifier(Value.PersistedType.self) == ObjectIdentifier(type)
    }

    /// Compiles only where the stored type has a smallest value.
    private func smallest<Value: RealmCollectionValue>(_ values: List<Value>) -> Value?
    where Value.PersistedType: MinMaxType & Comparable, Value: Comparable { Array(values).min() }

    @Test("values, optional values, enums, custom types, objects and collections")
    func types() {
        #expect(isStored(Int.self, as: Int.self))
        #expect(isStored(Int8.self, as: Int8.self))
        #expect(isStored(String?.self, as: String?.self))
        #expect(isStored(Date.self, as: Date.self))
        #expect(isStored(Colour.self, as: String.self))
        #expect(isStored(Colour?.self, as: String?.self))
        #expect(isStored(SeaState.self, as: Int.self))
        #expect(isStored(SeaState?.self, as: Int?.self))
        #expect(isStored(AnyRealmValue.self, as: AnyRealmValue.self))
        #expect(isProperty(Double.self, storedAs: Double.self))
        #expect(isProperty(List<Int>.self, storedAs: List<Int>.self))
        #expect(isProperty(Map<String, Int>.self, storedAs: Map<String, Int>.self))
        let numbers = List<Int>()
        numbers.append(objectsIn: [3, 1, 2])
        #expect(smallest(numbers) == 1)
    }
}
