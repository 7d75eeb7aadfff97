import Logging
import RealmModel
import RealmStorage

/// The realm's classes in the file, while their accessors see to every change of its schema.
extension AccessorRegistry: SchemaFollower {
    func checkSchema(_ next: DatabaseSchema, after current: DatabaseSchema) throws(StorageError) {
        try check(next, after: current)
    }

    func check(_ next: DatabaseSchema, after current: DatabaseSchema?) throws(StorageError) {
        let mapping = SchemaMapping(mappedClasses, isReadOnly: isReadOnly)
        if let fault = mapping.fault(in: next, after: current) { throw StorageError.schemaOutdated(fault) }
    }
}

/// What becomes of a realm when another process changes the schema of its file.
extension RealmCore {
    /// Takes the schema of its version as the one that its classes are mapped to, and sees to every later one.
    ///
    /// - Throws: `schemaOutdated` when the classes do not fit it.
    func followSchema() throws(StorageError) {
        try registry.check(model.schema, after: nil)
        model.follower = registry
    }

    /// Throws when the realm does not follow the file any more.
    func checkCurrentSchema() throws(StorageError) {
        if let reason = outdated.reason { throw reason }
    }

    /// Takes note of a failure that an observer met on its way to a later version.
    func noteFailure(_ error: any Error) {
        if let error = error as? StorageError { noteOutdated(error) }
    }

    /// Takes note of a failure to move that means that the realm is outdated.
    func noteOutdated(_ error: StorageError) {
        guard error.code == .schemaOutdated, outdated.reason == nil, !isFrozen, lifecycle == .open else { return }
        outdated.reason = error
        logger
            .warning(
                "A realm is outdated: the schema of its file was changed in what its classes declare.",
                metadata: [
                    "realm.path": "\(coordinator.path)", "realm.version": "\(version)", "error": "\(error.message)",
                    "realm.openedAt": "\(origin.map { "\($0)" } ?? "?")",
                ]
            )
        signals.raise()
    }
}

extension StorageError {
    /// The error of a realm whose classes the file does not have any more as they are declared.
    static func schemaOutdated(_ fault: SchemaDifference) -> StorageError {
        StorageError(
            .schemaOutdated,
            "The realm is outdated, because the schema of its file was changed by a later release of the program: \(fault) It "
                + "stays readable at its last version and takes no more writes. Close it, and open it with classes that fit.",
            subject: Subject(className: fault.className, propertyName: fault.propertyName)
        )
    }
}

extension StorageError {
    /// As `schemaOutdated`, of a realm that has no version of before either.
    static func schemaOutdatedUnread(_ subject: Subject?) -> StorageError {
        StorageError(
            .schemaOutdated,
            "The realm is outdated and closed: the schema of its file was changed by a later release of the program while the realm "
                + "kept no version of it. Open it with classes that fit.",
            subject: subject
        )
    }
}

extension Realm {
    /// Whether the schema of the file was changed in what this realm's classes declare, by another process or a later opening.
    ///
    /// Such a realm stays at its last version, which it can read and which stays in the file as long as the realm is open.
    /// ``refresh()`` and ``asyncRefresh(isolation:)`` return false, and every write throws ``Error/schemaOutdated``. Close it, and
    /// open it anew with classes that fit the file: those of the release that changed it.
    ///
    /// A change that leaves every declared property as it was, such as new classes, properties and indexes, makes no realm
    /// outdated.
    public var isOutdated: Bool {
        core.checkAccess()
        return core.outdated.reason != nil || core.outdated.unreadableReason != nil
    }
}
