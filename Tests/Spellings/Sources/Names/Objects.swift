import ActorRealm
import Foundation

extension Names {
    /// Sections 2.1, 2.3 and 2.9: classes and what they say of themselves.
    mutating func models() {
        var realm: Realm { value() }
        var dog: Dog { value() }
        var owner: Owner { value() }
        group(
            "@Persisted",
            "@Persisted(wrappedValue:)",
            "@Persisted(indexed:)",
            "@Persisted(primaryKey:)",
            "@Persisted(originProperty:)",
            "Persisted: Codable",
            "PersistableEnum",
            "_Indexable",
            "_PrimaryKey"
        ) {
            func indexed<Value: _Indexable>(_: Value.Type) {}
            func keyed<Value: _PrimaryKey>(_: Value.Type) {}
            func cases<Value: PersistableEnum>(_: Value.Type) -> Value.AllCases { Value.allCases }
            indexed(Date.self)
            keyed(ObjectId?.self)
            expect([Mood].self, cases(Mood.self))
            class Declared: Object {
                @Persisted(wrappedValue: 1, indexed: true) var a: Int
                @Persisted(wrappedValue: "", primaryKey: true) var b: String
                @Persisted(indexed: true) var c = Date()
                @Persisted(primaryKey: false) var d: ObjectId
                @Persisted(indexed: true) var e: UUID?
                @Persisted(indexed: true) var f: Bool
                @Persisted(indexed: false) var g: Mood?
                @Persisted var h: Declared?
                @Persisted(originProperty: "h") var i: LinkingObjects<Declared>
                var ignored = 0
            }
            expect(Person.self, try JSONDecoder().decode(Person.self, from: JSONEncoder().encode(Person(name: "Ann"))))
            expect([Mood].self, Mood.allCases)
            expect(Bool.self, Mood.calm < .busy)
        }
        group(
            "Object.init()",
            "Object.init(value:)",
            "Object.realm",
            "Object.objectSchema",
            "Object.isInvalidated",
            "Object.description",
            "Object.isFrozen",
            "Object.freeze()",
            "Object.thaw()"
        ) {
            let made = Dog(value: ["name": "Rex"])
            _ = Dog()
            expect(Realm?.self, made.realm)
            expect(ObjectSchema.self, made.objectSchema)
            expect(Bool.self, made.isInvalidated)
            expect(String.self, made.description)
            expect(Bool.self, made.isFrozen)
            expect(Dog.self, made.freeze())
            expect(Dog?.self, made.thaw())
        }
        group(
            "primaryKey()",
            "ignoredProperties()",
            "indexedProperties()",
            "propertiesMapping()",
            "className()",
            "shouldIncludeInDefaultSchema()",
            "_realmObjectName()"
        ) {
            expect(String?.self, Owner.primaryKey())
            expect([String].self, Owner.ignoredProperties())
            expect([String].self, Address.ignoredProperties())
            expect([String].self, Owner.indexedProperties())
            expect([String: String].self, Owner.propertiesMapping())
            expect(String.self, Owner.className())
            expect(Bool.self, Owner.shouldIncludeInDefaultSchema())
            expect(String?.self, Owner._realmObjectName())
        }
        group(
            "Object.subscript(_: String)",
            "dynamicList(_:)",
            "dynamicMutableSet(_:)",
            "dynamicMap(_:)",
            "isSameObject(as:)"
        ) {
            expect(Any?.self, dog["name"])
            dog["name"] = "Rex"
            expect(List<DynamicObject>.self, owner.dynamicList("dogs"))
            expect(MutableSet<DynamicObject>.self, owner.dynamicMutableSet("pack"))
            let map: Map<String, DynamicObject?> = owner.dynamicMap("named")
            expect(Bool.self, dog.isSameObject(as: dog))
            expect(Bool.self, dog == dog)
            expect(Int.self, dog.hashValue)
            print(map)
        }
        group("value(forKey:)", "setValue(_:forKey:)", "value(forKeyPath:)") {
            expect(Any?.self, dog.value(forKey: "name"))
            dog.setValue("Rex", forKey: "name")
            expect(Any?.self, owner.value(forKeyPath: "best.name"))
        }
        group(
            "EmbeddedObject.init(value:)",
            "EmbeddedObject.realm",
            "EmbeddedObject.objectSchema",
            "EmbeddedObject.isInvalidated",
            "EmbeddedObject.subscript(_: String)",
            "EmbeddedObject.description"
        ) {
            let address = Address(value: ["street": "Quay"])
            expect(Realm?.self, address.realm)
            expect(ObjectSchema.self, address.objectSchema)
            expect(Bool.self, address.isInvalidated)
            expect(Address.self, address.freeze())
            expect(Any?.self, address["street"])
            address["street"] = "Pier"
            expect(String.self, address.description)
            expect(Bool.self, address == address && address.isSameObject(as: address) && address.isFrozen)
            expect(String.self, Address.className())
        }
        group("DynamicObject.subscript(dynamicMember:)", "DynamicObject.subscript(_:)") {
            let dynamic: DynamicObject = realm.dynamicObjects("Dog")[0]
            expect(Any?.self, dynamic.name)
            expect(Any?.self, dynamic["name"])
            expect(Any?.self, dynamic[dynamicMember: "name"])
            dynamic.name = "Rex"
            dynamic["name"] = nil
        }
        group("ObjectKeyIdentifiable", "ObjectKeyIdentifiable.id", "ObjectBase", "Object", "RealmFetchable") {
            expect(UInt64.self, dog.id)
            func identified<Value: ObjectKeyIdentifiable>(_ value: Value) -> UInt64 { value.id }
            let objects: [Object] = [dog]
            print(identified(dog), objects)
            let bases: [ObjectBase] = [dog, owner.address!]
            func fetch<T: RealmFetchable>(_: T.Type) -> Results<T> { realm.objects(T.self) }
            print(bases, fetch(Dog.self))
        }
        group(
            "Schema.objectSchema",
            "Schema.subscript(_:)",
            "ObjectSchema.className",
            "ObjectSchema.properties",
            "ObjectSchema.primaryKeyProperty",
            "ObjectSchema.objectClass",
            "ObjectSchema.isEmbedded",
            "ObjectSchema.isAsymmetric",
            "ObjectSchema.subscript(_:)",
            "ObjectSchema.description",
            "ObjectSchema ==",
            "Schema ==",
            "Schema.description"
        ) {
            let sent: [any Sendable] = [realm.schema, realm.schema.objectSchema[0]]
            expect(Bool.self, realm.schema == realm.schema)
            print(sent)
            expect([ObjectSchema].self, realm.schema.objectSchema)
            let schema = realm.schema["Dog"]!
            expect(String.self, schema.className)
            expect([Property].self, schema.properties)
            expect(Property?.self, schema.primaryKeyProperty)
            expect(AnyClass.self, schema.objectClass)
            expect([Bool].self, [schema.isEmbedded, schema.isAsymmetric, schema == schema])
            expect(Property?.self, schema["name"])
            expect([String].self, [schema.description, realm.schema.description])
        }
        group(
            "Property.name",
            "Property.columnName",
            "Property.type",
            "Property.isArray",
            "Property.isSet",
            "Property.isMap",
            "Property.isIndexed",
            "Property.isOptional",
            "Property.objectClassName",
            "Property.description",
            "Property =="
        ) {
            let sent: any Sendable = realm.schema["Dog"]!.properties[0]
            print(sent)
            let property: Property = realm.schema["Dog"]!.properties[0]
            expect([String].self, [property.name, property.columnName, property.description])
            expect(PropertyType.self, property.type)
            expect(Bool.self, property == property)
            expect(
                [Bool].self,
                [property.isArray, property.isSet, property.isMap, property.isIndexed, property.isOptional]
            )
            expect(String?.self, property.objectClassName)
        }
        group(
            "PropertyType.int",
            "PropertyType.bool",
            "PropertyType.string",
            "PropertyType.data",
            "PropertyType.date",
            "PropertyType.float",
            "PropertyType.double",
            "PropertyType.object",
            "PropertyType.linkingObjects",
            "PropertyType.any",
            "PropertyType.objectId",
            "PropertyType.decimal128",
            "PropertyType.UUID",
            "PropertyType.rawValue"
        ) {
            let all: [PropertyType] = [
                .int, .bool, .string, .data, .date, .float, .double, .object, .linkingObjects, .any, .objectId,
                .decimal128, .UUID,
            ]
            expect([Int].self, all.map { Int($0.rawValue) })
        }
    }
}
