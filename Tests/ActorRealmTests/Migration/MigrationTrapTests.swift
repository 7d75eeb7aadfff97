import ActorRealm
import Foundation
import Testing

@Suite struct MigrationTrapTests {
    private func check(_ result: ExitTest.Result?, _ sentence: String, line: SourceLocation = #_sourceLocation) {
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains(sentence), "\(text.suffix(400))", sourceLocation: line)
    }

    /// Migrates a file with one person in it.
    static func migrate(_ block: @escaping MigrationBlock) throws {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).realm")
        do {
            let realm = try Realm(
                configuration: Realm.Configuration(fileURL: url, schemaVersion: 1, objectTypes: oldTypes)
            )
            try realm.write { realm.add(OldPerson(value: ["firstName": "Ann"])) }
        }
        _ = try Realm(
            configuration: Realm.Configuration(
                fileURL: url,
                schemaVersion: 2,
                migrationBlock: block,
                objectTypes: newTypes
            )
        )
    }

    @Test func `renaming to another type traps`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try MigrationTrapTests.migrate { migration, _ in
                migration.renameProperty(onType: "Person", from: "age", to: "fullName")
            }
        }
        check(result, "Cannot rename property 'Person.age' to 'fullName' because it would change from type 'int'")
    }

    @Test func `renaming what is still declared traps`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try MigrationTrapTests.migrate { migration, _ in
                migration.renameProperty(onType: "Pet", from: "name", to: "id")
            }
        }
        check(result, "Cannot rename property 'Pet.name' to 'id' because the source property still exists.")
    }

    @Test func `an unknown property of a migrated object traps`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try MigrationTrapTests.migrate { migration, _ in
                migration.enumerateObjects(ofType: "Person") { _, new in new!["age"] = 3 }
            }
        }
        check(result, "property 'age' not found in object of type 'Person'")
    }

    @Test func `changing an old object traps`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try MigrationTrapTests.migrate { migration, _ in
                migration.enumerateObjects(ofType: "Person") { old, _ in old!["age"] = 3 }
            }
        }
        check(result, "Attempting to modify a frozen object")
    }
}
