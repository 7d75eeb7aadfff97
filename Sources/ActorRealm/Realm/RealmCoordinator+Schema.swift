import Foundation
import RealmModel
import RealmStorage

extension RealmCoordinator {
    /// Makes the file fit the declared classes.
    ///
    /// Blocks: for writers, and in the device.
    ///
    /// `key` names the isolation whose thread this blocks.
    func reconcile(
        with declared: DatabaseSchema,
        configuration: Realm.Configuration,
        blocking key: RealmIsolation.Key,
        deadline: ContinuousClock.Instant? = nil
    ) throws {
        if isReconciled(with: declared) { return }
        do {
            let stored = try SchemaReconciler.storedSchema(of: file.beginRead())
            let plan = try SchemaReconciler.plan(stored: stored, declared: declared)
            if !plan.isEmpty {
                if configuration.readOnly {
                    try Self.checkReadable(plan, configuration)
                } else {
                    try apply(declared, configuration: configuration, blocking: key, deadline: deadline)
                }
            }
            setReconciled(with: declared)
        } catch let error as ModelError {
            throw Realm.Error(model: error, fileURL: configuration.fileURL)
        } catch {
            throw Realm.Error.wrap(error, path: path)
        }
    }

    /// A read-only file need not have all classes and indexes, but those that it has must fit.
    private static func checkReadable(_ plan: SchemaPlan, _ configuration: Realm.Configuration) throws(Realm.Error) {
        for step in plan.steps {
            switch step {
            case .addClass, .addIndex, .removeIndex, .replaceComputedProperty, .setVersion: continue
            case .addProperty(let className, let property):
                if !property.isStored { continue }
                throw Realm.Error(
                    .schemaMismatch,
                    "The read-only file has no property '\(className).\(property.name)': open it for writing once.",
                    fileURL: configuration.fileURL
                )
            case .removeProperty(let className, let name):
                throw Realm.Error(
                    .schemaMismatch,
                    "The read-only file has a property '\(className).\(name)' that the class lacks: open it for writing "
                        + "once.",
                    fileURL: configuration.fileURL
                )
            }
        }
    }

    /// Compares again under the write lock, since another process may have been faster, and commits what is missing.
    private func apply(
        _ declared: DatabaseSchema,
        configuration: Realm.Configuration,
        blocking key: RealmIsolation.Key,
        deadline: ContinuousClock.Instant?
    ) throws {
        let turn: WriteScheduler.Ticket
        do {
            turn = try writes.acquireBlocking(for: key, deadline: deadline)
        } catch let timeout as WriteScheduler.TurnTimeout {
            throw Realm.Error(timeout, "Opening the realm, which has to bring its schema up to date,", path: path)
        }
        let prepared: PreparedCommit
        do {
            writes.transactionBegins()
            let transaction = try file.beginWrite()
            do {
                let stored = try SchemaReconciler.storedSchema(of: transaction)
                let plan = try SchemaReconciler.plan(stored: stored, declared: declared)
                if plan.isEmpty {
                    transaction.rollback()
                    writes.finish(turn)
                    return
                }
                try SchemaReconciler.apply(plan, in: transaction)
                if let stored, stored.version < declared.version {
                    configuration.migrationBlock?(Migration(), stored.version)
                }
                prepared = try transaction.prepareCommit()
            } catch {
                transaction.rollback()
                throw error
            }
        } catch {
            writes.finish(turn)
            throw error
        }
        try writes.commitBlocking(prepared, ending: turn).get()
    }
}

extension Realm.Error {
    /// The public form of what the model layer refuses.
    init(model error: ModelError, fileURL: URL?) {
        let code: Code =
            switch error {
            case .schemaMismatch, .schemaVersionTooLow: .schemaMismatch
            case .invalidSchema, .invalidValue, .duplicatePrimaryKey, .noSuchRow, .noSuchTarget: .invalidInput
            }
        self.init(code, error.description, fileURL: fileURL, underlyingError: error)
    }
}
