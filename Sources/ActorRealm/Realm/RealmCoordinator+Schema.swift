import Foundation
import Logging
import RealmModel
import RealmStorage

extension RealmCoordinator {
    /// Makes the file fit the declared classes.
    ///
    /// Blocks: for writers, and in the device.
    func reconcile(
        with declared: DatabaseSchema,
        configuration: Realm.Configuration,
        for opener: Opener
    ) throws {
        try opening { try fit(declared, configuration, opener) }
    }

    private func fit(
        _ declared: DatabaseSchema,
        _ configuration: Realm.Configuration,
        _ opener: Opener
    ) throws {
        do {
            if try isReconciled(with: declared) { return }
            // Before the file is looked at: what it has then stays, unless a commit may drop some of it that does not get on. Who makes
            // that commit has the write lock until it is done with it, so the file is looked at under the write lock then.
            var isInDoubt = !declareRules(of: declared)
            // Until the newest durable version fits: another process may have gone on meanwhile.
            var mayDropRules = true
            while true {
                let snapshot = try file.beginRead()
                var stored = try SchemaReconciler.storedSchema(of: snapshot)
                let plan: SchemaPlan
                if let stored, stored.isAsDeclared(in: declared) {
                    // The usual case: what follows would find just that.
                    plan = SchemaPlan()
                } else {
                    stored = try stored?.called(asIn: declared)
                    var rules: DeclaredRules? = mayDropRules ? nil : .every
                    let complete = declared.keepingRules(of: stored) { rule in
                        let known = rules ?? file.declaredRules
                        rules = known
                        return known.contains(rule)
                    }
                    plan = try SchemaReconciler.plan(stored: stored, declared: complete)
                }
                if let stored, stored.version != declared.version, !configuration.readOnly {
                    try checkVersionChange(from: stored.version, configuration)
                }
                if plan.isEmpty && !isInDoubt || configuration.readOnly {
                    if configuration.readOnly { try Self.checkReadable(plan, configuration) }
                    if let stored { setReadSchema(stored) }
                    // What is missing is left to who opens the file to write, which nobody does through one that is opened for reading.
                    if plan.isEmpty || isReadOnly {
                        setReconciled(with: declared, at: snapshot.version, stamp: stored?.stamp ?? 0)
                    }
                    return
                }
                let all = declared.keepingRules(of: stored) { _ in true }
                let isNeeded = try isInDoubt || !SchemaReconciler.plan(stored: stored, declared: all).isEmpty
                var opener = opener
                // For this wait: what an opening does itself beside it takes none of the time.
                opener.deadline = opener.deadline ?? configuration.writeTimeout.map(WriteRequest.deadline(after:))
                let soon = ContinuousClock.now + Self.patience
                if !isNeeded { opener.deadline = min(opener.deadline ?? soon, soon) }
                do {
                    // When nothing was left to do, somebody has come who may rely on what was to be dropped. In doubt nothing was to be:
                    // what nobody declares is dropped behind it, as by any opening, which does not fail for that.
                    mayDropRules = try apply(declared, configuration, for: opener, inDoubt: isInDoubt) || isInDoubt
                    isInDoubt = false
                } catch let error where !isNeeded && !(error is CancellationError) {
                    // Rules that nobody declares are no reason to wait for a writer, nor to fail: the next opening drops them.
                    mayDropRules = false
                    let logger = configuration.logger ?? Logger.shared
                    logger
                        .notice(
                            "Indexes or rules that nobody declares any more could not be dropped, and stay until the next opening.",
                            metadata: ["realm.path": "\(path)", "realm.error": "\(error)"]
                        )
                }
            }
        } catch let error as ModelError {
            throw Realm.Error(model: error, fileURL: configuration.fileURL)
        } catch {
            throw Realm.Error.wrap(error, path: path)
        }
    }

    /// Throws when what an opening has declared was put aside before its realm was there, by one that found none; it begins anew.
    ///
    /// For the last step of an opening, inside ``opening(_:)``: none finds itself alone behind it.
    func checkRulesAreDeclared(for configuration: Realm.Configuration) throws {
        let declared = try DeclaredSchema.make(for: configuration)
        guard file.hasDeclaredRules(declared.ruleNumbers) else {
            throw Realm.Error(
                .schemaOutdated,
                "Another opening has put the indexes and rules aside on which this one relies.",
                fileURL: configuration.fileURL
            )
        }
    }

    /// How long an opening that has nothing else to do waits for the turn to drop rules.
    private static var patience: Duration { .milliseconds(500) }

    /// Throws when the version of the file must not change under whoever uses it, or when it is to be made anew instead.
    private func checkVersionChange(from version: UInt64, _ configuration: Realm.Configuration) throws(Realm.Error) {
        if configuration.deleteRealmIfMigrationNeeded {
            throw Realm.Error(
                .schemaMismatch,
                "The file has the schema version \(version), and the program \(configuration.schemaVersion).",
                fileURL: configuration.fileURL
            )
        }
        if hasOpenRealms {
            throw Realm.Error(
                .incompatibleSession,
                "Realm at path '\(path)' already opened with different schema version: close it before it is migrated.",
                fileURL: configuration.fileURL
            )
        }
    }

    /// A read-only file need not have all classes and indexes, but those that it has must fit.
    private static func checkReadable(_ plan: SchemaPlan, _ configuration: Realm.Configuration) throws(Realm.Error) {
        func mismatch(_ text: String, _ className: String, _ propertyName: String? = nil) -> Realm.Error {
            Realm.Error(
                .schemaMismatch,
                "\(text): open it for writing once.",
                fileURL: configuration.fileURL,
                details: Realm.Error.Details(className: className, propertyName: propertyName)
            )
        }
        for step in plan.steps {
            switch step {
            case .addClass, .recordName, .addIndex, .removeIndex, .replaceComputedProperty, .setVersion, .removeClass,
                .renameProperty, .setUnique, .addCompoundIndex, .removeCompoundIndex, .setDeleteRule:
                continue
            case .replaceProperty(let className, let property, _):
                throw mismatch(
                    "The read-only file has another type for '\(className).\(property.name)'",
                    className,
                    property.name
                )
            case .removePrimaryKey(let className):
                throw mismatch("The read-only file has another primary key for '\(className)'", className)
            case .setPrimaryKey(let className, let name):
                throw mismatch("The read-only file has another primary key for '\(className)'", className, name)
            case .setEmbedded(let className, _):
                throw mismatch(
                    "The class '\(className)' is embedded either in the read-only file or in the program",
                    className
                )
            case .addProperty(let className, let property):
                throw mismatch(
                    "The read-only file has no property '\(className).\(property.name)'",
                    className,
                    property.name
                )
            case .removeProperty(let className, let name):
                throw mismatch(
                    "The read-only file has a property '\(className).\(name)' that the class lacks",
                    className,
                    name
                )
            }
        }
    }

    /// Compares again under the write lock, since another process may have been faster, and commits what is missing.
    ///
    /// In doubt an opening is here to learn what another one has dropped: where that is nothing that it declares, it drops nothing itself.
    ///
    /// - Returns: whether there was something to commit.
    private func apply(
        _ program: DatabaseSchema,
        _ configuration: Realm.Configuration,
        for opener: Opener,
        inDoubt isInDoubt: Bool
    ) throws -> Bool {
        let schema = try ModelSchema.cached(objectTypes: configuration.objectTypes)
        let program = schema.recordingDefaults(in: program)
        let turn: WriteScheduler.Ticket
        do {
            turn = try writes.acquireBlocking(
                for: opener.key,
                origin: opener.origin,
                deadline: opener.deadline,
                cancellation: opener.cancellation
            )
        } catch let timeout as WriteScheduler.TurnTimeout {
            let reason =
                isInDoubt
                ? "whose indexes and rules another opening is changing"
                : "which has to bring its schema up to date"
            throw Realm.Error(timeout, "Opening the realm, \(reason),", path: path)
        }
        var withdrawal: RuleWithdrawal?
        defer { file.endWithdrawingRules(withdrawal) }
        let prepared: PreparedCommit
        var log: MigrationLog?
        var losses: [MigrationLoss] = []
        do {
            // What others of this process have prepared is not there before it is durable: whoever finds nothing left to do stands
            // on it, and a migration reads it.
            writes.waitForFlushes()
            if opener.cancellation?.isCancelled == true { throw CancellationError() }
            // A migration's block may open or write the file, and would wait for itself.
            writes.transactionBegins(in: .current)
            let transaction = try file.beginWrite(from: opener.origin)
            do {
                let stored = try SchemaReconciler.storedSchema(of: transaction)?.called(asIn: program)
                let all = program.keepingRules(of: stored) { _ in true }
                /// What the file is brought to, unless that has changed since the last look. Whoever declares a rule behind the last look
                /// waits until those have gone that nobody declares, and adds its own anew; behind one before it nobody needs to wait,
                /// since there is another one.
                func withdrawing(_ last: DatabaseSchema?) -> DatabaseSchema {
                    guard all != program else { return program }
                    withdrawal = file.beginWithdrawingRules()
                    defer { didLookForRules?() }
                    let found = program.keepingRules(of: stored, where: file.declaredRules.contains)
                    if found != last { file.endWithdrawingRules(withdrawal) }
                    return found
                }
                let needsNothing = try isInDoubt && SchemaReconciler.plan(stored: stored, declared: all).isEmpty
                var declared = needsNothing ? all : withdrawing(nil)
                let plan = try SchemaReconciler.plan(stored: stored, declared: declared)
                if plan.isEmpty {
                    transaction.rollback()
                    writes.finish(turn)
                    return false
                }
                transaction.keepLittle()
                if let stored, stored.version < declared.version {
                    log = MigrationLog(
                        configuration.logger ?? Logger.shared,
                        path: path,
                        from: stored.version,
                        to: declared.version
                    ) { [weak file] in file?.waitingProcessCount ?? 0 }
                }
                if let stored, let log,
                    configuration.hasMigration || plan.dropsValues
                        || !AddedDefaults(plan, in: schema, of: stored).isEmpty
                {
                    // Nobody waits for a block: what is declared meanwhile stays.
                    let migration = try MigrationTransaction(
                        transaction,
                        from: stored,
                        to: declared,
                        coordinator: self,
                        configuration: configuration,
                        log: log,
                        cancellation: opener.cancellation
                    )
                    defer { migration.close() }
                    prepared = try migration.run(untilLast: withdrawing) {
                        try configuration.migrate($0, from: stored.version, log)
                    }
                    losses = migration.losses
                } else {
                    try SchemaReconciler.apply(plan, in: transaction)
                    // Once more behind what takes its time: an index takes as long as there are objects.
                    while case let next = withdrawing(declared), next != declared {
                        let changed = try SchemaReconciler.storedSchema(of: transaction)?.called(asIn: program)
                        let plan = try SchemaReconciler.plan(stored: changed, declared: next)
                        try SchemaReconciler.apply(plan, in: transaction)
                        declared = next
                    }
                    prepared = try transaction.prepareCommit()
                }
            } catch {
                transaction.rollback()
                throw error
            }
        } catch {
            writes.finish(turn)
            file.endWithdrawingRules(withdrawal)
            log?.fails(error)
            throw error
        }
        let result = writes.commitBlocking(prepared, ending: turn)
        // Not behind a logger, which is the program's own: whoever declares a rule waits for this.
        file.endWithdrawingRules(withdrawal)
        do {
            _ = try result.get()
        } catch {
            log?.fails(error)
            throw error
        }
        log?.ends(losses)
        return true
    }
}

extension Realm.Error {
    /// The public form of what the model layer refuses.
    init(model error: ModelError, fileURL: URL?) {
        let code: Code =
            switch error {
            case .schemaMismatch, .schemaVersionTooLow, .invalidOwnerCount: .schemaMismatch
            case .duplicatePrimaryKey, .duplicatePrimaryKeys: .duplicatePrimaryKey
            case .duplicateValue, .duplicateValues: .duplicateValue
            case .deletionDenied: .deletionDenied
            case .keyTooLong: .limitExceeded
            case .invalidSchema, .invalidValue, .noSuchRow, .noSuchTarget: .invalidInput
            }
        self.init(
            code,
            error.description,
            fileURL: fileURL,
            underlyingError: error,
            details: error.details
        )
    }
}

extension ModelError {
    /// The class, the property and the value that a refusal is about; of several differences, those of the first.
    fileprivate var details: Realm.Error.Details? {
        typealias Details = Realm.Error.Details
        switch self {
        case .duplicatePrimaryKey(let className, let property, let value, _):
            return Details(className: className, propertyName: property, value: value)
        case .duplicatePrimaryKeys(let className, let property, let value),
            .invalidValue(let className, let property, _, let value):
            return Details(className: className, propertyName: property, value: value)
        case .duplicateValue(let className, let properties, let value, _),
            .duplicateValues(let className, let properties, let value):
            return Details(
                className: className,
                propertyName: properties.count == 1 ? properties[0] : nil,
                value: value
            )
        case .deletionDenied(let className, let property, _), .noSuchTarget(let className, let property, _),
            .keyTooLong(let className, let property, _, _):
            return Details(className: className, propertyName: property)
        case .invalidOwnerCount(let className, _), .noSuchRow(let className, _): return Details(className: className)
        case .schemaMismatch(let differences):
            return differences.first.map { Details(className: $0.className, propertyName: $0.propertyName) }
        case .invalidSchema, .schemaVersionTooLow: return nil
        }
    }
}
