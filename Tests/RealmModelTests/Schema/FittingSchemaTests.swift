import RealmModel
import Testing

/// When an opening finds at once that the file has its classes as they are declared.
@Suite("Schemas that a file has as they are declared") struct FittingSchemaTests {
    /// What a schema consists of, to be changed.
    private struct Draft {
        var properties = [
            PropertySchema(name: "id", kind: .int, isPrimaryKey: true), PropertySchema(name: "name", kind: .string),
            PropertySchema(name: "age", kind: .int),
            PropertySchema(name: "friend", kind: .object, targetClass: "Person"),
            PropertySchema(name: "fans", kind: .linkingObjects, targetClass: "Person", originProperty: "friend"),
        ]
        var indexes: [CompoundIndexSchema] = []
        var isEmbedded = false
        var hasFurtherClass = false
        var version: UInt64 = 1

        var schema: DatabaseSchema {
            let person = ClassSchema(
                name: "Person",
                properties: properties,
                compoundIndexes: indexes,
                isEmbedded: isEmbedded
            )
            let text = PropertySchema(name: "text", kind: .string)
            let further = hasFurtherClass ? [ClassSchema(name: "Note", properties: [text])] : []
            return DatabaseSchema(classes: [person] + further, version: version)
        }
    }

    private static let changes: [@Sendable (inout Draft) -> Void] = [
        { _ in }, { $0.version = 2 }, { $0.hasFurtherClass = true }, { $0.isEmbedded = true },
        { $0.properties.reverse() }, { $0.properties.remove(at: 2) }, { $0.properties[2].name = "years" },
        { $0.properties.append(PropertySchema(name: "email", kind: .string)) },
        { $0.properties.append(PropertySchema(name: "name", kind: .string)) },
        { $0.properties[0].isPrimaryKey = false }, { $0.properties[1].isPrimaryKey = true },
        { $0.properties[2].kind = .string }, { $0.properties[2].isOptional = true },
        { $0.properties[2].collection = .list }, { $0.properties[2].isIndexed = true },
        { $0.properties[2].isUnique = true },
        { draft in
            draft.properties[2].isIndexed = true
            draft.properties[2].isUnique = true
        },
        { $0.properties[3].deleteRule = .cascade }, { $0.properties[3].deleteRule = .deny },
        { draft in
            draft.hasFurtherClass = true
            draft.properties[3].targetClass = "Note"
            draft.properties.remove(at: 4)
        },
        { draft in
            draft.properties.insert(PropertySchema(name: "boss", kind: .object, targetClass: "Person"), at: 4)
            draft.properties[5].originProperty = "boss"
        },
        { $0.indexes = [CompoundIndexSchema(["name", "age"])] },
        { $0.indexes = [CompoundIndexSchema(["name", "age"], isUnique: true)] },
        { $0.indexes = [CompoundIndexSchema(["age", "name"]), CompoundIndexSchema(["name", "age"])] },
        {
            $0.indexes = [CompoundIndexSchema(["name", "age"]), CompoundIndexSchema(["name", "age"], isUnique: true)]
        },
        { $0.indexes = [CompoundIndexSchema(["name", "age"]), CompoundIndexSchema(["age", "name"])] },
        { $0.properties.remove(at: 4) },
    ]

    @Test("Where the file has them so, no rule is kept besides and nothing is to be done, whoever declares what")
    func pairs() throws {
        let schemas = Self.changes.map { change in
            var draft = Draft()
            change(&draft)
            return draft.schema
        }
        var count = 0
        for (place, declared) in schemas.enumerated() {
            for (other, stored) in schemas.enumerated() where stored.isAsDeclared(in: declared) {
                count += 1
                let pair = Comment(rawValue: "\(other) in the file, \(place) in the program")
                #expect(try stored.called(asIn: declared) == stored, pair)
                for isDeclared in [false, true] {
                    let kept = declared.keepingRules(of: stored) { _ in isDeclared }
                    #expect(kept == declared, pair)
                    #expect(try SchemaReconciler.plan(stored: stored, declared: kept).isEmpty, pair)
                }
            }
        }
        // Each that makes sense in itself, and some of another order or with a class more.
        #expect(count > 18)
        #expect(schemas[0].isAsDeclared(in: schemas[0]) && schemas[2].isAsDeclared(in: schemas[0]))
        #expect(schemas[4].isAsDeclared(in: schemas[0]) && !schemas[0].isAsDeclared(in: schemas[2]))
        // Indexes of another order, and a computed property that was taken out of the class or is new in it.
        #expect(schemas[23].isAsDeclared(in: schemas[25]) && schemas[25].isAsDeclared(in: schemas[23]))
        #expect(schemas[0].isAsDeclared(in: schemas[26]) && !schemas[26].isAsDeclared(in: schemas[0]))
        #expect(!schemas[21].isAsDeclared(in: schemas[23]) && !schemas[23].isAsDeclared(in: schemas[21]))
    }

    @Test("A class that the file has under another name is compared at length until the file says what it is called")
    func names() throws {
        let stored = Draft().schema
        let declared = DatabaseSchema(
            classes: [
                ClassSchema(
                    name: "Team_Person",
                    properties: stored.list[0].properties
                        .map { property in
                            var property = property
                            if property.targetClass != nil { property.targetClass = "Team_Person" }
                            return property
                        },
                    formerNames: ["Person"]
                )
            ],
            version: 1
        )
        #expect(!stored.isAsDeclared(in: declared))
        #expect(try !stored.called(asIn: declared).isAsDeclared(in: declared))
    }
}
