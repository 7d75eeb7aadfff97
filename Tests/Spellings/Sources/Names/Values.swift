import ActorRealm
import Foundation

extension Names {
    /// Section 2.5: values of any kind.
    mutating func values() {
        var dog: Dog { value() }
        group(
            "AnyRealmValue.none",
            "AnyRealmValue.int",
            "AnyRealmValue.bool",
            "AnyRealmValue.float",
            "AnyRealmValue.double",
            "AnyRealmValue.string",
            "AnyRealmValue.data",
            "AnyRealmValue.date",
            "AnyRealmValue.object",
            "AnyRealmValue.objectId",
            "AnyRealmValue.decimal128",
            "AnyRealmValue.uuid",
            "AnyRealmValue.dictionary",
            "AnyRealmValue.list",
            "AnyRealmValue.init()"
        ) {
            switch AnyRealmValue() {
            case .none: break
            case .int(let value): expect(Int.self, value)
            case .bool(let value): expect(Bool.self, value)
            case .float(let value): expect(Float.self, value)
            case .double(let value): expect(Double.self, value)
            case .string(let value): expect(String.self, value)
            case .data(let value): expect(Data.self, value)
            case .date(let value): expect(Date.self, value)
            case .object(let value): expect(Object.self, value)
            case .objectId(let value): expect(ObjectId.self, value)
            case .decimal128(let value): expect(Decimal128.self, value)
            case .uuid(let value): expect(UUID.self, value)
            case .dictionary(let value): expect(Map<String, AnyRealmValue>.self, value)
            case .list(let value): expect(List<AnyRealmValue>.self, value)
            }
        }
        group(
            "intValue",
            "boolValue",
            "floatValue",
            "doubleValue",
            "stringValue",
            "dataValue",
            "dateValue",
            "objectIdValue",
            "decimal128Value",
            "uuidValue",
            "dictionaryValue",
            "listValue",
            "object(_:)",
            "dynamicObject",
            "fromDictionary(_:)",
            "fromArray(_:)",
            "AnyRealmValue: Hashable"
        ) {
            let value = AnyRealmValue.object(dog)
            expect(Int?.self, value.intValue)
            expect(Bool?.self, value.boolValue)
            expect(Float?.self, value.floatValue)
            expect(Double?.self, value.doubleValue)
            expect(String?.self, value.stringValue)
            expect(Data?.self, value.dataValue)
            expect(Date?.self, value.dateValue)
            expect(ObjectId?.self, value.objectIdValue)
            expect(Decimal128?.self, value.decimal128Value)
            expect(UUID?.self, value.uuidValue)
            expect(Map<String, AnyRealmValue>?.self, value.dictionaryValue)
            expect(List<AnyRealmValue>?.self, value.listValue)
            expect(Dog?.self, value.object(Dog.self))
            expect(DynamicObject?.self, value.dynamicObject)
            expect(AnyRealmValue.self, .fromDictionary(["a": .int(1)]))
            expect(AnyRealmValue.self, .fromArray([.int(1), .none]))
            expect(Set<AnyRealmValue>.self, [value])
            value.listValue?[0] = .int(1)
            value.dictionaryValue?["a"] = .string("b")
        }
    }

    /// Section 2.7: identifiers and decimals.
    mutating func numbers() {
        group(
            "ObjectId.init()",
            "ObjectId.generate()",
            "ObjectId.init(string:)",
            "ObjectId.init(timestamp:machineId:processId:)",
            "ObjectId.init(_: StaticString)",
            "ObjectId.timestamp",
            "ObjectId.stringValue",
            "ObjectId <",
            "ObjectId: Codable"
        ) {
            let id = ObjectId()
            _ = ObjectId.generate()
            _ = try ObjectId(string: "0123456789abcdef01234567")
            _ = ObjectId("0123456789abcdef01234567")
            _ = ObjectId(timestamp: Date(), machineId: 1, processId: 2)
            expect(Date.self, id.timestamp)
            expect(String.self, id.stringValue)
            expect(Bool.self, id < ObjectId())
            expect(Set<ObjectId>.self, [id])
            let sent: any Sendable = id
            _ = try JSONDecoder().decode(ObjectId.self, from: JSONEncoder().encode(id))
            print(sent)
        }
        group(
            "Decimal128.init()",
            "Decimal128.init(value:)",
            "Decimal128.init(number:)",
            "Decimal128.init(_:)",
            "Decimal128 literals",
            "Decimal128.min",
            "Decimal128.max",
            "Decimal128.zero",
            "Decimal128 +",
            "Decimal128 -",
            "Decimal128 *",
            "Decimal128 /",
            "Decimal128 *=",
            "magnitude",
            "negate()",
            "isNaN",
            "isSignaling",
            "isSignalingNaN",
            "doubleValue of Decimal128",
            "decimalValue",
            "stringValue of Decimal128",
            "decimalNumberByAdding(_:)",
            "decimalNumberBySubtracting(_:)",
            "decimalNumberByMultiplying(by:)",
            "decimalNumberByDividing(by:)",
            "isGreaterThan(_:)",
            "isGreaterThanOrEqual(to:)",
            "isLessThan(_:)",
            "isLessThanOrEqual(to:)",
            "distance(to:)",
            "advanced(by:)",
            "init(exactly:)",
            "Decimal128: Codable"
        ) {
            var number: Decimal128 = 1
            let other: Decimal128 = 1.5
            let third: Decimal128 = "1.50"
            _ = Decimal128()
            _ = Decimal128(value: 3)
            _ = Decimal128(value: NSNull())
            _ = Decimal128(number: 3)
            _ = Decimal128(number: NSNumber(value: 3.5))
            expect(Decimal128.self, -number)
            _ = Decimal128(Decimal(3))
            expect(
                [Decimal128].self,
                [.min, .max, .zero, number + other, number - other, number * other, number / other]
            )
            number *= third
            number += third
            number -= third
            number /= third
            number.negate()
            expect(Decimal128.self, number.magnitude)
            expect([Bool].self, [number.isNaN, number.isSignaling, number.isSignalingNaN])
            expect(Double.self, number.doubleValue)
            expect(Decimal.self, number.decimalValue)
            expect(String.self, number.stringValue)
            _ = number.decimalNumberByAdding(other)
            _ = number.decimalNumberBySubtracting(other)
            _ = number.decimalNumberByMultiplying(by: other)
            _ = number.decimalNumberByDividing(by: other)
            _ = number.isGreaterThan(other) && number.isGreaterThanOrEqual(to: other)
            _ = number.isLessThan(other) && number.isLessThanOrEqual(to: other)
            expect(Decimal128.self, number.advanced(by: number.distance(to: other)))
            expect(Decimal128?.self, Decimal128(exactly: 3))
            let sent: any Sendable = number
            _ = try JSONDecoder().decode(Decimal128.self, from: JSONEncoder().encode(number))
            expect(Set<Decimal128>.self, [number, other])
            print(sent, number < other, number == third)
        }
    }

    /// Section 2.6: types of one's own, and projections.
    mutating func ownTypes() {
        var realm: Realm { value() }
        var owner: Owner { value() }
        group(
            "CustomPersistable",
            "CustomPersistable.init(persistedValue:)",
            "CustomPersistable.persistableValue",
            "FailableCustomPersistable",
            "FailableCustomPersistable.init(persistedValue:)",
            "PersistedType"
        ) {
            expect(Double.self, Temperature(persistedValue: 3).persistableValue)
            expect(Harbor?.self, Harbor(persistedValue: "a"))
            func stored<T: CustomPersistable>(_: T.Type) -> Any.Type { T.PersistedType.self }
            func storedFailable<T: FailableCustomPersistable>(_: T.Type) -> Any.Type { T.PersistedType.self }
            owner.warmth = Temperature(persistedValue: 5)
            owner.warmths.append(owner.warmth)
            print(stored(Temperature.self), storedFailable(Harbor.self))
        }
        group(
            "Projection",
            "Projection.init(projecting:)",
            "Projection.rootObject",
            "@Projected",
            "Projected.init(_:)",
            "ProjectedCollection",
            "projectTo",
            "Projection.realm",
            "Projection ==",
            "Projection.isFrozen",
            "Projection.description",
            "Projection: ObjectKeyIdentifiable"
        ) {
            class Titled: Projection<Owner>, ObjectKeyIdentifiable {
                @Projected(\Owner.note) var title: String?
                @Projected(\Owner.dogs.projectTo.name) var names: ProjectedCollection<String>
            }
            expect(UInt64.self, Titled(projecting: owner).id)
            expect(String.self, Titled(projecting: owner).description)
            expect(Bool.self, Titled(projecting: owner).isFrozen)
            let projection = PersonProjection(projecting: owner)
            expect(Owner.self, projection.rootObject)
            projection.note = projection.dog
            expect([String].self, Array(projection.dogs))
            expect(Realm?.self, projection.realm)
            expect(Bool.self, projection == projection)
            expect(PersonProjection.self, projection.freeze())
            expect(PersonProjection?.self, projection.thaw())
            let results: Results<PersonProjection> = realm.objects(PersonProjection.self)
            _ = results.filter("note == 'a'")
            _ = results.where { $0.note == "a" }
        }
        group(
            "ProjectedCollection.subscript(position)",
            "ProjectedCollection.index(of:)",
            "ProjectedCollection.index(matching:)",
            "ProjectedCollection.objects(at:)",
            "ProjectedCollection.realm",
            "ProjectedCollection.isInvalidated",
            "ProjectedCollection.isFrozen",
            "ProjectedCollection.freeze()",
            "ProjectedCollection.thaw()",
            "ProjectedCollection.description"
        ) {
            let names: ProjectedCollection<String> = PersonProjection(projecting: owner).dogs
            expect(String.self, names[0])
            names[0] = "Rex"
            expect(Int?.self, names.index(of: "Rex"))
            expect(Int?.self, names.index(matching: "name == %@", "Rex"))
            expect([String].self, names.objects(at: IndexSet(integer: 0)))
            expect([String?].self, [names.first, names.last])
            expect(Realm?.self, names.realm)
            expect([Bool].self, [names.isInvalidated, names.isFrozen, names.isEmpty])
            expect(ProjectedCollection<String>?.self, names.freeze().thaw())
            expect(String.self, names.description)
            for name in names { print(name, names.count) }
        }
    }
}
