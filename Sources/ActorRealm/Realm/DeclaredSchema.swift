import RealmModel

/// The classes that a configuration declares.
enum DeclaredSchema {
    /// Finds the classes of a configuration.
    static func make(for configuration: Realm.Configuration) throws -> DatabaseSchema {
        DatabaseSchema(classes: [], version: configuration.schemaVersion)
    }
}
