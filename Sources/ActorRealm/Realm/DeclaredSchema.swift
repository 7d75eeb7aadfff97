import Foundation
import RealmModel

/// The classes that a configuration declares.
enum DeclaredSchema {
    /// Finds the classes of a configuration.
    static func make(for configuration: Realm.Configuration) throws -> DatabaseSchema {
        do {
            return try ModelSchema.cached(objectTypes: configuration.objectTypes)
                .databaseSchema(version: configuration.schemaVersion)
        } catch let error as ModelError {
            throw Realm.Error(model: error, fileURL: configuration.fileURL)
        }
    }
}
