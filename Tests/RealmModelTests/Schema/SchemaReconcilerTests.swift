import RealmModel
import RealmStorage
import RealmTestSupport
import Testing

@Suite struct SchemaReconcilerTests {
    static let person = ClassSchema(
        name: "Person",
        properties: [
            PropertySchema(name: "id", kind: .int, isPrimaryKey: true),
            PropertySchema(name: "name", kind: .string, isIndexed: true),
            PropertySchema(name: "age", kind: .int),
            PropertySchema(name: "friends", kind: .object, collection: .list, targetClass: "Person"),
        ]
    )

    /// A declared form of the class that differs from the stored one, and what comes of it.
    struct Case: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var isRaised = false
        var change: @Sendable (inout [PropertySchema]) -> Void
        var isEmbedded = false
        /// The sentences of the mismatch; nil when the file can be brought to the declaration.
        var mismatch: [String]?
        var steps: [SchemaPlan.Step] = []
    }

    private static let fans = PropertySchema(
        name: "fans",
        kind: .linkingObjects,
        targetClass: "Person",
        originProperty: "friends"
    )

    /// What a property of another type takes, with a raised version.
    private static func replaced(_ property: PropertySchema, keepsValues: Bool) -> [SchemaPlan.Step] {
        [.replaceProperty(className: "Person", property, keepsValues: keepsValues), .setVersion(2)]
    }

    static let cases: [Case] = [
        Case(testDescription: "no difference", change: { _ in }),
        Case(testDescription: "another order of properties", change: { $0.reverse() }),
        Case(
            testDescription: "an added property",
            change: { $0.append(PropertySchema(name: "email", kind: .string)) },
            mismatch: ["Property 'Person.email' has been added."]
        ),
        Case(
            testDescription: "an added property with a raised version",
            isRaised: true,
            change: { $0.append(PropertySchema(name: "email", kind: .string)) },
            steps: [
                .addProperty(className: "Person", PropertySchema(name: "email", kind: .string)), .setVersion(2),
            ]
        ),
        Case(
            testDescription: "a removed property",
            change: { $0.remove(at: 2) },
            mismatch: ["Property 'Person.age' has been removed."]
        ),
        Case(
            testDescription: "a removed property with a raised version",
            isRaised: true,
            change: { $0.remove(at: 2) },
            steps: [.removeProperty(className: "Person", name: "age"), .setVersion(2)]
        ),
        Case(
            testDescription: "an index less",
            change: { $0[1].isIndexed = false },
            steps: [.removeIndex(className: "Person", property: "name")]
        ),
        Case(
            testDescription: "an index more",
            change: { $0[2].isIndexed = true },
            steps: [.addIndex(className: "Person", property: "age")]
        ),
        Case(
            testDescription: "another type",
            isRaised: true,
            change: { $0[2].kind = .string },
            steps: replaced(PropertySchema(name: "age", kind: .string), keepsValues: false)
        ),
        Case(
            testDescription: "optional now",
            isRaised: true,
            change: { $0[2].isOptional = true },
            steps: replaced(PropertySchema(name: "age", kind: .int, isOptional: true), keepsValues: true)
        ),
        Case(
            testDescription: "a list now",
            isRaised: true,
            change: { $0[2].collection = .list },
            steps: replaced(PropertySchema(name: "age", kind: .int, collection: .list), keepsValues: false)
        ),
        Case(
            testDescription: "no primary key any more",
            isRaised: true,
            change: { $0[0].isPrimaryKey = false },
            steps: [.removePrimaryKey(className: "Person"), .setVersion(2)]
        ),
        Case(
            testDescription: "everything at once without a raised version",
            change: {
                $0[0].isPrimaryKey = false
                $0[1].isPrimaryKey = true
                $0[2].isOptional = true
                $0[3].collection = .none
                $0.append(PropertySchema(name: "email", kind: .string))
            },
            mismatch: [
                "Primary Key for class 'Person' has changed from 'id' to 'name'.",
                "Property 'Person.age' has been made optional.",
                "Property 'Person.friends' has been changed from 'array<Person>' to '<Person>'.",
                "Property 'Person.email' has been added.",
            ]
        ),
        Case(
            testDescription: "another primary key",
            isRaised: true,
            change: {
                $0[0].isPrimaryKey = false
                $0[1].isPrimaryKey = true
            },
            steps: [
                .removePrimaryKey(className: "Person"), .setPrimaryKey(className: "Person", property: "name"),
                .setVersion(2),
            ]
        ),
        Case(
            testDescription: "computed properties come without a raised version",
            change: { $0.append(fans) },
            steps: [.addProperty(className: "Person", fans)]
        ),
    ]

    @Test("A declared class is compared with the stored one", arguments: cases)
    func plans(_ scenario: Case) throws {
        var properties = Self.person.properties
        scenario.change(&properties)
        let declared = DatabaseSchema(
            classes: [ClassSchema(name: "Person", properties: properties, isEmbedded: scenario.isEmbedded)],
            version: scenario.isRaised ? 2 : 1
        )
        let stored = DatabaseSchema(classes: [Self.person], version: 1)
        if let mismatch = scenario.mismatch {
            let error = #expect(throws: ModelError.self) {
                try SchemaReconciler.plan(stored: stored, declared: declared)
            }
            guard case .schemaMismatch(let differences)? = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(differences.map(\.description) == mismatch)
            for difference in differences {
                // Every one says apart from the text which property it is about.
                let name = try #require(difference.propertyName)
                #expect(difference.className == "Person" && difference.description.contains("\(name)'"))
            }
        } else {
            #expect(try SchemaReconciler.plan(stored: stored, declared: declared).steps == scenario.steps)
        }
    }

    @Test("A lower schema version than the file's is refused")
    func refusesLowerVersion() {
        #expect(throws: ModelError.schemaVersionTooLow(provided: 1, stored: 2)) {
            try SchemaReconciler.plan(
                stored: DatabaseSchema(classes: [Self.person], version: 2),
                declared: DatabaseSchema(classes: [Self.person], version: 1)
            )
        }
    }

    @Test("An invalid declaration is refused with one sentence per fault")
    func refusesInvalidDeclarations() throws {
        let schema = ClassSchema(
            name: "Thing",
            properties: [
                PropertySchema(name: "flag", kind: .bool, isPrimaryKey: true),
                PropertySchema(name: "other", kind: .object, targetClass: "Nothing"),
                PropertySchema(name: "score", kind: .double, isIndexed: true),
                PropertySchema(name: "score", kind: .double),
                PropertySchema(name: "back", kind: .linkingObjects, targetClass: "Thing", originProperty: "nowhere"),
            ]
        )
        do {
            _ = try SchemaReconciler.plan(stored: nil, declared: DatabaseSchema(classes: [schema]))
            Issue.record("the declaration was accepted")
        } catch ModelError.invalidSchema(let faults) {
            #expect(faults.count == 5)
            #expect(
                faults[0] == "Property 'Thing.flag' cannot be made the primary key of 'Thing' because it is not a "
                    + "'string', 'int', 'objectId', or 'uuid' property."
            )
        }
    }

    @Test("A stored schema reads back as it was declared, and a class can be added at any time")
    func storesSchemas() throws {
        let database = try TestDatabase([Self.person], version: 3)
        #expect(database.model.schema.version == 3)
        let stored = try #require(database.model.schema["Person"])
        #expect(stored.properties.map(\.name) == ["id", "name", "age", "friends"])
        #expect(stored.properties.map(\.column) == [0, 1, 2, 3])
        let dog = ClassSchema(name: "Dog", properties: [PropertySchema(name: "age", kind: .int)])
        try database.reconcile([Self.person, dog], version: 3)
        #expect(database.model.schema.classes.count == 2)
        try database.reconcile([dog], version: 3)
        #expect(database.model.schema.classes.count == 2)
        #expect(try database.table("Dog").count == 0)
    }

    @Test("Rows survive added and removed properties, indexes follow")
    func migratesRows() throws {
        let database = try TestDatabase([Self.person])
        try database.write { model in
            let table = try database.table("Person")
            for id in 0..<2_000 {
                let key = try table.insert(intPrimaryKey: Int64(id))
                try table.set("name", key, .string("name \(id % 50)"))
                try table.set("age", key, .int(Int64(id % 90)))
                try table.listAppend(table.ordinal("friends"), key: key, .link(key))
            }
        }
        var properties = Self.person.properties
        properties.remove(at: 3)
        properties[2].isIndexed = true
        properties[1].isIndexed = false
        properties.append(PropertySchema(name: "email", kind: .string, isOptional: true, isIndexed: true))
        properties.append(PropertySchema(name: "level", kind: .int))
        try database.reconcile([ClassSchema(name: "Person", properties: properties)], version: 2)
        let table = try database.table("Person")
        #expect(table.schema.properties.map(\.name) == ["id", "name", "age", "email", "level"])
        #expect(table.count == 2_000)
        #expect(
            try table.indexedKeys(property: 2, equalTo: .int(7)) == (0..<2_000).filter { $0 % 90 == 7 }.map(Int64.init)
        )
        #expect(try table.indexedKeys(property: 3, equalTo: .null).count == 2_000)
        #expect(try table.value(3, key: 5) == .null)
        #expect(try table.value(4, key: 5) == .int(0))
        #expect(try table.value(1, key: 5) == .string("name 5"))
        #expect(!table.hasIndex(1))
        try ModelVerifier.verify(database.model)
        // The removed list's column is free again and empty, so that a list of the same form may take it.
        properties.append(PropertySchema(name: "tags", kind: .string, collection: .list))
        try database.reconcile([ClassSchema(name: "Person", properties: properties)], version: 3)
        #expect(database.model.schema["Person"]?["tags"]?.column == 3)
        #expect(try database.table("Person").list(5, key: 5).isEmpty)
        try ModelVerifier.verify(database.model)
    }

    @Test("A removed property takes the embedded rows that it owned with it")
    func removesOwnedRows() throws {
        let address = ClassSchema(
            name: "Address",
            properties: [PropertySchema(name: "street", kind: .string)],
            isEmbedded: true
        )
        let home = PropertySchema(name: "home", kind: .object, targetClass: "Address")
        let database = try TestDatabase([
            ClassSchema(name: "Person", properties: [PropertySchema(name: "age", kind: .int), home]), address,
        ])
        try database.write { _ in
            let person = try database.table("Person").insert()
            try database.table("Person").setLink(1, key: person, to: database.table("Address").insert())
        }
        #expect(try database.table("Address").count == 1)
        try database.reconcile(
            [ClassSchema(name: "Person", properties: [PropertySchema(name: "age", kind: .int)]), address],
            version: 2
        )
        #expect(try database.table("Address").count == 0)
    }

    @Test(
        "A removed property, or one that gets another type, takes embedded rows with it that hold rows of their own class",
        arguments: [CollectionKind.none, .list, .map],
        [false, true]
    )
    func removesOwnedTree(collection: CollectionKind, isReplaced: Bool) throws {
        func classes(_ replies: [PropertySchema]) -> [ClassSchema] {
            [
                ClassSchema(
                    name: "Post",
                    properties: [PropertySchema(name: "first", kind: .object, targetClass: "Comment")]
                ),
                ClassSchema(
                    name: "Comment",
                    properties: [PropertySchema(name: "text", kind: .string)] + replies,
                    isEmbedded: true
                ),
            ]
        }
        let replies = PropertySchema(
            name: "replies",
            kind: .object,
            collection: collection,
            targetClass: "Comment"
        )
        let database = try TestDatabase(classes([replies]))
        try database.write { _ in
            let posts = try database.table("Post")
            let comments = try database.table("Comment")
            for _ in 0..<2 {
                var comment = try comments.insert()
                try posts.setLink(0, key: posts.insert(), to: comment)
                for _ in 0..<3 {
                    let reply = try comments.insert()
                    switch collection {
                    case .list: try comments.listAppend(1, key: comment, .link(reply))
                    case .map: try comments.mapSet(1, key: comment, "a", to: .link(reply))
                    default: try comments.setLink(1, key: comment, to: reply)
                    }
                    comment = reply
                }
            }
        }
        #expect(try database.table("Comment").count == 8)
        let other = isReplaced ? [PropertySchema(name: "replies", kind: .int)] : []
        try database.reconcile(classes(other), version: 2)
        let posts = try database.table("Post")
        let comments = try database.table("Comment")
        #expect(comments.count == 2)
        let kept: [Int64?] = [try comments.key(at: 0), try comments.key(at: 1)]
        let firsts: [Int64?] = [try posts.link(0, key: 0), try posts.link(0, key: 1)]
        #expect(kept == firsts)
        try ModelVerifier.verify(database.model)
    }

    @Test("A view that stands on an old version keeps its schema when the file moves on")
    func keepsOldSchema() throws {
        let database = try TestDatabase([Self.person])
        let old = try database.model.duplicate()
        var properties = Self.person.properties
        properties.remove(at: 1)
        try database.reconcile([ClassSchema(name: "Person", properties: properties)], version: 2)
        #expect(old.schema["Person"]?.properties.count == 4)
        #expect(try old.table(named: "Person")?.hasIndex(1) == true)
        try old.advance(to: database.file.beginRead())
        #expect(old.schema["Person"]?.properties.count == 3)
        #expect(try old.table(named: "Person")?.schema.properties[1].name == "age")
    }

    @Test("Types, optionality and primary keys change, and what can be kept is kept")
    func convertsRows() throws {
        let database = try TestDatabase([Self.person])
        try database.write { model in
            let table = try database.table("Person")
            for id in 0..<10_000 {
                let key = try table.insert(intPrimaryKey: Int64(id))
                try table.set("name", key, .string("name \(id)"))
                try table.set("age", key, .int(Int64(id % 90)))
                if id % 3 == 0 { try table.listAppend(table.ordinal("friends"), key: key, .link(key)) }
            }
        }
        let changed = ClassSchema(
            name: "Person",
            properties: [
                PropertySchema(name: "id", kind: .int, isOptional: true),
                PropertySchema(name: "name", kind: .string, isPrimaryKey: true),
                PropertySchema(name: "age", kind: .int, isOptional: true, isIndexed: true),
                PropertySchema(name: "friends", kind: .object, targetClass: "Person"),
            ]
        )
        try database.reconcile([changed], version: 2)
        var table = try database.table("Person")
        #expect(table.count == 10_000)
        #expect(try table.value(table.ordinal("id"), key: 77) == .int(77))
        #expect(try table.value(table.ordinal("age"), key: 100) == .int(10))
        #expect(try table.find(primaryKey: .string("name 500")) == 500)
        #expect(try table.value(table.ordinal("friends"), key: 3) == .null)
        #expect(try table.indexedKeys(property: table.ordinal("age"), equalTo: .int(7)).count == 112)
        try ModelVerifier.verify(database.model)
        // And back: null becomes the default.
        try database.write { _ in try table.setNull(table.ordinal("age"), key: 100) }
        try database.reconcile([Self.person], version: 3)
        table = try database.table("Person")
        #expect(try table.value(table.ordinal("age"), key: 100) == .int(0))
        #expect(try table.value(table.ordinal("age"), key: 101) == .int(11))
        #expect(try table.find(primaryKey: .int(9_999)) == 9_999)
        try ModelVerifier.verify(database.model)
    }

    @Test("A primary key needs values that differ", arguments: [PropertyKind.int, .string])
    func refusesDuplicateKeys(_ kind: PropertyKind) throws {
        let long = String(repeating: "x", count: 250)
        let plain = ClassSchema(name: "Thing", properties: [PropertySchema(name: "key", kind: kind)])
        let key = PropertySchema(name: "key", kind: kind, isPrimaryKey: true)
        let keyed = ClassSchema(name: "Thing", properties: [key])
        let database = try TestDatabase([plain])
        func value(_ number: Int) -> StoredValue {
            kind == .int ? .int(Int64(number)) : .string(number % 2 == 0 ? "\(long)\(number)" : "\(number)")
        }
        try database.write { _ in
            let table = try database.table("Thing")
            for number in [5, 4, 3, 8, 9, 8] { try table.set("key", table.insert(), value(number)) }
        }
        let shown = kind == .int ? "8" : "'\(long.prefix(100))…'"
        #expect(throws: ModelError.duplicatePrimaryKeys(className: "Thing", property: "key", value: shown)) {
            try database.reconcile([keyed], version: 2)
        }
        #expect(database.model.schema["Thing"]?.primaryKey == nil)
        try database.write { _ in try database.table("Thing").set("key", 5, value(10)) }
        try database.reconcile([keyed], version: 2)
        #expect(try database.table("Thing").find(primaryKey: value(8)) == 3)
        #expect(try database.table("Thing").find(primaryKey: value(10)) == 5)
        try ModelVerifier.verify(database.model)
    }

    private static func address(isEmbedded: Bool) -> ClassSchema {
        ClassSchema(
            name: "Address",
            properties: [PropertySchema(name: "street", kind: .string)],
            isEmbedded: isEmbedded
        )
    }

    @Test("Embedded rows need one owner each")
    func embedsRows() throws {
        func classes(isEmbedded: Bool) -> [ClassSchema] {
            [
                Self.address(isEmbedded: isEmbedded),
                ClassSchema(
                    name: "Person",
                    properties: [PropertySchema(name: "home", kind: .object, targetClass: "Address")]
                ),
            ]
        }
        let database = try TestDatabase(classes(isEmbedded: false))
        try database.write { _ in
            let address = try database.table("Address").insert()
            for _ in 0..<2 {
                try database.table("Person").setLink(0, key: database.table("Person").insert(), to: address)
            }
        }
        #expect(throws: ModelError.invalidOwnerCount(className: "Address", count: 2)) {
            try database.reconcile(classes(isEmbedded: true), version: 2)
        }
        try database.write { _ in try database.table("Person").setLink(0, key: 1, to: nil) }
        try database.reconcile(classes(isEmbedded: true), version: 2)
        try database.write { _ in try database.table("Person").delete(key: 0) }
        #expect(try database.table("Address").count == 0)
        try database.reconcile(classes(isEmbedded: false), version: 3)
        #expect(database.model.schema["Address"]?.isEmbedded == false)
    }

    @Test("A value of any kind owns no embedded row")
    func valuesOwnNothing() throws {
        func classes(isEmbedded: Bool) -> [ClassSchema] {
            [
                Self.address(isEmbedded: isEmbedded),
                ClassSchema(
                    name: "Person",
                    properties: [
                        PropertySchema(name: "home", kind: .object, targetClass: "Address"),
                        PropertySchema(name: "value", kind: .any),
                    ]
                ),
            ]
        }
        let database = try TestDatabase(classes(isEmbedded: false))
        try database.write { _ in
            let address = try database.table("Address").insert()
            let person = try database.table("Person").insert()
            try database.table("Person")
                .set(
                    "value",
                    person,
                    .anyLink(table: database.table("Address").id, key: address)
                )
        }
        #expect(throws: ModelError.invalidOwnerCount(className: "Address", count: 0)) {
            try database.reconcile(classes(isEmbedded: true), version: 2)
        }
        // Beside its owner such a value is one link too many.
        try database.write { _ in try database.table("Person").setLink(0, key: 0, to: 0) }
        #expect(throws: ModelError.invalidOwnerCount(className: "Address", count: 2)) {
            try database.reconcile(classes(isEmbedded: true), version: 2)
        }
        try database.write { _ in try database.table("Person").setNull(1, key: 0) }
        try database.reconcile(classes(isEmbedded: true), version: 2)
        #expect(database.model.schema["Address"]?.isEmbedded == true)
    }

    @Test("A class that is named as a kind is not that kind")
    func namedAsKinds() throws {
        let named = ClassSchema(name: "string", properties: [PropertySchema(name: "text", kind: .string)])
        let links = PropertySchema(name: "tags", kind: .object, collection: .list, targetClass: "string")
        let texts = PropertySchema(name: "tags", kind: .string, collection: .list)
        for (old, new) in [(links, texts), (texts, links)] {
            let plan = try SchemaReconciler.plan(
                stored: DatabaseSchema(
                    classes: [ClassSchema(name: "Person", properties: [old]), named],
                    version: 1
                ),
                declared: DatabaseSchema(
                    classes: [ClassSchema(name: "Person", properties: [new]), named],
                    version: 2
                )
            )
            #expect(plan.steps == [.replaceProperty(className: "Person", new, keepsValues: false), .setVersion(2)])
        }
    }
}
