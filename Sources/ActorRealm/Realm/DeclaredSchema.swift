import Foundation
import RealmModel

/// The classes that a configuration declares.
enum DeclaredSchema {
    /// Finds the classes of a configuration.
    ///
    /// `rescans` tells that libraries may have been loaded since the last time: when a file is opened first.
    static func make(for configuration: Realm.Configuration, rescans: Bool = false) throws -> DatabaseSchema {
        do {
            return try ModelSchema.cached(objectTypes: configuration.objectTypes, rescans: rescans)
                .databaseSchema(version: configuration.schemaVersion)
        } catch let error as ModelError {
            throw Realm.Error(model: error, fileURL: configuration.fileURL)
        }
    }
}
