import ActorRealm
import Foundation

extension Names {
    /// Sections 1.9, 1.10 and 1.12: errors, configurations, files and logging.
    mutating func configurations() {
        var realm: Realm { value() }
        let url = URL(fileURLWithPath: "names.realm")
        group(
            "Error.fail",
            "Error.fileAccess",
            "Error.filePermissionDenied",
            "Error.fileExists",
            "Error.fileNotFound",
            "Error.fileFormatUpgradeRequired",
            "Error.incompatibleLockFile",
            "Error.addressSpaceExhausted",
            "Error.schemaMismatch",
            "Error.alreadyOpen",
            "Error.invalidInput",
            "Error.outOfDiskSpace",
            "Error.incompatibleSession",
            "Error.unsupportedFileFormatVersion",
            "Error.subscriptionFailed",
            "Error.fileOperationFailed",
            "Error.invalidDatabase",
            "Error.incompatibleHistories",
            "Error.callFailed"
        ) {
            do { _ = try Realm() } catch Realm.Error.fail {} catch Realm.Error.fileAccess {}
            do { _ = try Realm() } catch Realm.Error.filePermissionDenied {} catch Realm.Error.fileExists {}
            do { _ = try Realm() } catch Realm.Error.fileNotFound {} catch Realm.Error.fileFormatUpgradeRequired {}
            do { _ = try Realm() } catch Realm.Error.incompatibleLockFile {} catch Realm.Error.addressSpaceExhausted {}
            do { _ = try Realm() } catch Realm.Error.schemaMismatch {} catch Realm.Error.alreadyOpen {}
            do { _ = try Realm() } catch Realm.Error.invalidInput {} catch Realm.Error.outOfDiskSpace {}
            do { _ = try Realm() } catch Realm.Error.incompatibleSession {} catch Realm.Error.subscriptionFailed {}
            do { _ = try Realm() } catch Realm.Error.unsupportedFileFormatVersion {} catch Realm.Error
                .fileOperationFailed
            {}
            do { _ = try Realm() } catch Realm.Error.invalidDatabase {} catch Realm.Error.incompatibleHistories {}
            print(Realm.Error.callFailed)
        }
        group(
            "Error.init(_:)",
            "Error.init(_:userInfo:)",
            "Error.Code",
            "Error.code",
            "Error.fileURL",
            "Error.userInfo",
            "Error.localizedDescription",
            "Error ==",
            "Error as NSError",
            "Error.errorDomain"
        ) {
            do {
                throw Realm.Error(.fail)
            } catch let error as Realm.Error where error.code == .fileAccess {
                expect(Realm.Error.Code.self, error.code)
                expect(URL?.self, error.fileURL)
                expect([String: Any].self, error.userInfo)
                expect(String.self, error.localizedDescription)
                expect(Bool.self, error == Realm.Error(.fail))
                expect(Int.self, error.code.rawValue)
            }
            // Throws nothing: the clause catches all.
            func opened() {
                do { _ = try Realm() } catch let error as NSError { print(error.code, error.domain, error.userInfo) }
            }
            expect(String.self, Realm.Error.errorDomain)
            _ = Realm.Error(.fail, userInfo: [NSLocalizedDescriptionKey: "why"])
            let sent: any Sendable = Realm.Error(.fail)
            print(sent)
            expect(Realm.Error.Code?.self, Realm.Error.Code(rawValue: 1))
            opened()
        }
        group(
            "Configuration.init",
            "Configuration.fileURL",
            "Configuration.inMemoryIdentifier",
            "Configuration.encryptionKey",
            "Configuration.readOnly",
            "Configuration.schemaVersion",
            "Configuration.migrationBlock",
            "Configuration.deleteRealmIfMigrationNeeded",
            "Configuration.shouldCompactOnLaunch",
            "Configuration.objectTypes",
            "Configuration.maximumNumberOfActiveVersions",
            "Configuration.seedFilePath",
            "Configuration.defaultConfiguration",
            "Configuration ==",
            "Configuration.description"
        ) {
            _ = Realm.Configuration()
            // Each parameter has a default.
            _ = [
                Realm.Configuration(fileURL: url), Realm.Configuration(inMemoryIdentifier: "names"),
                Realm.Configuration(encryptionKey: nil), Realm.Configuration(readOnly: true),
                Realm.Configuration(schemaVersion: 1),
                Realm.Configuration(schemaVersion: 1, migrationBlock: { _, _ in }),
                Realm.Configuration(deleteRealmIfMigrationNeeded: true),
                Realm.Configuration(shouldCompactOnLaunch: { _, _ in false }),
                Realm.Configuration(objectTypes: [Dog.self]),
                Realm.Configuration(seedFilePath: url),
            ]
            var configuration = Realm.Configuration(
                fileURL: url,
                inMemoryIdentifier: nil,
                encryptionKey: nil,
                readOnly: false,
                schemaVersion: 1,
                migrationBlock: { migration, oldSchemaVersion in print(migration, oldSchemaVersion as UInt64) },
                deleteRealmIfMigrationNeeded: false,
                shouldCompactOnLaunch: { total, used in total > 2 * used },
                objectTypes: [Dog.self, Address.self],
                seedFilePath: url
            )
            configuration.fileURL = configuration.fileURL?.deletingLastPathComponent()
            configuration.inMemoryIdentifier = "names"
            configuration.encryptionKey = Data(count: 64)
            configuration.readOnly = true
            configuration.schemaVersion = 2
            configuration.migrationBlock = nil
            configuration.deleteRealmIfMigrationNeeded = true
            configuration.shouldCompactOnLaunch = nil
            configuration.objectTypes = nil
            configuration.maximumNumberOfActiveVersions = 100
            configuration.seedFilePath = nil
            Realm.Configuration.defaultConfiguration = configuration
            let sent: any Sendable = configuration
            print(sent, configuration == .defaultConfiguration, configuration.description)
        }
        group("writeCopy(toFile:)", "writeCopy(toFile:encryptionKey:)", "writeCopy(configuration:)") {
            try realm.writeCopy(toFile: url)
            try realm.writeCopy(toFile: url, encryptionKey: Data(count: 64))
            try realm.writeCopy(configuration: Realm.Configuration(fileURL: url))
        }
        group("fileExists(for:)", "deleteFiles(for:)") {
            expect(Bool.self, Realm.fileExists(for: .defaultConfiguration))
            expect(Bool.self, try Realm.deleteFiles(for: .defaultConfiguration))
        }
        group("Logger.init(level:logFunction:)", "Logger.level", "Logger.shared") {
            let log: @Sendable (LogLevel, String) -> Void = { level, message in print(level, message) }
            let logger = Logger(level: .info, logFunction: log)
            _ = Logger(level: .info) { level, message in print(level, message) }
            Logger.shared = logger
            Logger.shared.level = .debug
        }
        group(
            "LogLevel.off",
            "LogLevel.fatal",
            "LogLevel.error",
            "LogLevel.warn",
            "LogLevel.info",
            "LogLevel.detail",
            "LogLevel.debug",
            "LogLevel.trace",
            "LogLevel.all"
        ) {
            expect([LogLevel].self, [.off, .fatal, .error, .warn, .info, .detail, .debug, .trace, .all])
        }
    }

    /// Section 1.11: migrations.
    mutating func migrations() {
        var migration: Migration { value() }
        group(
            "MigrationBlock",
            "MigrationObject",
            "MigrationObjectEnumerateBlock",
            "schemaVersionAtURL(_:encryptionKey:)"
        ) {
            let block: MigrationBlock = { _, _ in }
            // The block is sent to where the file is opened.
            let sent: @Sendable (Migration, UInt64) -> Void = block
            let compacts: (@Sendable (Int, Int) -> Bool)? = Realm.Configuration.defaultConfiguration
                .shouldCompactOnLaunch
            let each: MigrationObjectEnumerateBlock = { (old: MigrationObject?, new: MigrationObject?) in
                print(old as Any, new as Any)
            }
            expect(UInt64.self, try schemaVersionAtURL(URL(fileURLWithPath: "names.realm")))
            expect(UInt64.self, try schemaVersionAtURL(URL(fileURLWithPath: "names.realm"), encryptionKey: nil))
            migration.enumerateObjects(ofType: Dog.className(), each)
            print(sent, compacts as Any)
        }
        group(
            "Migration.oldSchema",
            "Migration.newSchema",
            "enumerateObjects(ofType:_:)",
            "Migration.create(_:)",
            "Migration.create(_:value:)",
            "Migration.delete(_:)",
            "deleteData(forType:)",
            "renameProperty(onType:from:to:)"
        ) {
            expect(Schema.self, migration.oldSchema)
            expect(Schema.self, migration.newSchema)
            migration.enumerateObjects(ofType: "Dog") { old, new in
                new?["name"] = old?["name"]
                new!["age"] = (old!["age"] as! Int) + 1
                if let new { migration.delete(new) }
            }
            let made: MigrationObject = migration.create("Dog")
            migration.create("Dog", value: ["name": made["name"] ?? ""])
            migration.deleteData(forType: "Dog")
            expect(Bool.self, migration.deleteData(forType: "Dog"))
            migration.renameProperty(onType: "Dog", from: "title", to: "name")
        }
    }
}
