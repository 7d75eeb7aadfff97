import Foundation
import RealmModel
import RealmStorage

extension Realm {
    /// Says what opening a file with a configuration would do to it, without doing it.
    ///
    /// It reads one version of the file, takes no write lock and runs no block, so that it may be asked of a file that is in use:
    /// before a release, or by a program that is to decide when it migrates. An index or a rule that the configuration does not declare is
    /// among what is removed, though opening keeps it as long as another process declares it.
    ///
    /// ```swift
    /// let plan = try await Realm.migrationPlan(for: configuration)
    /// if !plan.isEmpty { print(plan) }
    /// ```
    ///
    /// - Returns: What is added, removed, renamed and retyped, of how many objects, and how long about that takes.
    /// - Throws: `Realm.Error`: `fileNotFound` when there is no file, `schemaMismatch` when it has a higher version than the
    ///   configuration; `CancellationError`.
    /// - Complexity: O(*n*) for *n* objects of the classes that change, a nanosecond or so for each and property.
    @concurrent
    public static func migrationPlan(for configuration: Configuration) async throws -> MigrationPlan {
        try Task.checkCancellation()
        let cancellation = OpeningCancellation()
        return try await withTaskCancellationHandler {
            // The device may block for as long as it likes, which threads of the concurrent pool must not.
            try await withUnsafeThrowingContinuation { continuation in
                do {
                    try DedicatedThread.detach(name: "realm-plan") {
                        continuation.resume(with: Swift.Result { try plan(for: configuration, cancellation) })
                    }
                } catch {
                    continuation.resume(throwing: Error.wrap(error, path: configuration.fileURL?.path))
                }
            }
        } onCancel: {
            cancellation.cancel()
        }
    }

    private static func plan(
        for configuration: Configuration,
        _ cancellation: OpeningCancellation
    ) throws -> MigrationPlan {
        var reading = configuration
        reading.readOnly = true
        reading.deleteRealmIfMigrationNeeded = false
        reading.shouldCompactOnLaunch = nil
        let settings = try OpenSettings(reading)
        do {
            // The one that is open in this process, if one is.
            let file = try StorageFile.open(path: settings.path, options: settings.options)
            return try MigrationPlanner(file.beginRead(), configuration, cancellation).plan()
        } catch let error as ModelError {
            throw Error(model: error, fileURL: configuration.fileURL)
        } catch {
            throw Error.wrap(error, path: settings.path)
        }
    }
}
