import ActorRealm
import Foundation
import People

/// A kind of migration.
struct Step: Sendable {
    let name: String
    private let type: ObjectBase.Type
    private var version: UInt64 = 2
    private var block: MigrationBlock?

    private init(_ name: String, _ type: ObjectBase.Type, version: UInt64 = 2, _ block: MigrationBlock? = nil) {
        self.name = name
        self.type = type
        self.version = version
        self.block = block
    }

    static let all: [Step] = [
        Step("add an optional property", PersonWithNote.self),
        Step("add a property with a default", PersonWithNickname.self),
        Step("remove a property", PersonWithoutScore.self),
        Step("make a property optional", PersonWithOptionalAge.self),
        Step("change the type of a property", PersonWithAgeInWords.self) { migration, _ in
            migration.discardValues(ofProperty: "age", onType: "Person")
        },
        Step("rename a property", PersonWithFullName.self) { migration, _ in
            migration.renameProperty(onType: "Person", from: "name", to: "fullName")
        },
        Step("add an index on strings", PersonWithIndex.self, version: 1),
        Step("add an index on numbers", PersonWithAgeIndex.self, version: 1),
        Step("make strings unique", PersonWithUniqueEmail.self, version: 1),
        Step("add an index over two properties", PersonWithCompoundIndex.self, version: 1),
        Step("a block that reads all objects", OldPerson.self) { migration, _ in
            var sum = 0
            migration.enumerateObjects(ofType: "Person") { old, _ in sum &+= old?["age"] as? Int ?? 0 }
            precondition(sum > 0)
        },
        Step("a block that writes a number to all objects", OldPerson.self) { migration, _ in
            migration.enumerateObjects(ofType: "Person") { old, new in new?["age"] = (old?["age"] as? Int ?? 0) + 1 }
        },
        Step("a block that writes a string to all objects", PersonWithNickname.self) { migration, _ in
            migration.enumerateObjects(ofType: "Person") { old, new in
                new?["nickname"] = "The " + (old?["name"] as? String ?? "")
            }
        },
    ]

    func configuration(_ path: String) -> Realm.Configuration {
        Self.configuration(path, type, version: version, block)
    }

    static func configuration(
        _ path: String,
        _ type: ObjectBase.Type,
        version: UInt64,
        _ block: MigrationBlock? = nil
    ) -> Realm.Configuration {
        var configuration = Realm.Configuration(
            fileURL: URL(fileURLWithPath: path),
            schemaVersion: version,
            migrationBlock: block,
            objectTypes: [type]
        )
        configuration.durability = .unflushed
        return configuration
    }
}
