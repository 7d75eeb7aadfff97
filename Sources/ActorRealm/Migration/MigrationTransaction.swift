import RealmModel
import RealmStorage

/// The transaction that a migration block runs in: the version before it, and the one that it makes.
final class MigrationTransaction {
    /// The file's schema before the migration.
    let stored: DatabaseSchema
    let declared: DatabaseSchema
    /// The version before the migration, without the program's classes.
    let old: RealmCore
    /// The realm of the transaction.
    let new: RealmCore
    let finder: LossFinder
    /// Where objects of classes are that have no index over their primary keys at the moment.
    let keys = MigrationKeys()
    /// What the block has dropped, once it is done.
    private(set) var losses: [MigrationLoss] = []
    private let log: MigrationLog
    private let cancellation: OpeningCancellation?
    /// The classes that are to be removed from the file.
    private var removedClasses: [String] = []

    /// Brings the classes into the form that the block expects.
    ///
    /// - Throws: what the storage throws; the caller rolls the transaction back.
    init(
        _ transaction: WriteTransaction,
        from stored: DatabaseSchema,
        to declared: DatabaseSchema,
        coordinator: RealmCoordinator,
        configuration: Realm.Configuration,
        log: MigrationLog,
        cancellation: OpeningCancellation?
    ) throws {
        self.stored = stored
        self.declared = declared
        self.log = log
        self.cancellation = cancellation
        finder = LossFinder(from: stored, to: declared)
        let snapshot = try coordinator.file.beginRead()
        old = RealmCore(
            configuration: configuration,
            coordinator: coordinator,
            isolation: .everywhere,
            model: try ModelView(snapshot: snapshot, schema: stored)
        )
        old.accessorStorage = AccessorRegistry(core: old, schema: try ModelSchema(objectTypes: []))
        new = RealmCore(
            configuration: configuration,
            coordinator: coordinator,
            isolation: .current,
            model: try ModelView(snapshot: snapshot, schema: stored)
        )
        try new.model.begin(transaction)
        let plan = try SchemaReconciler.plan(stored: stored, declared: declared)
        var preparation = plan.preparation
        // What else is in the file is judged by nobody behind the block, and stays as it is.
        let names = Set(declared.list.compactMap { stored[$0.name]?.name })
        preparation.steps += stored.stepsWithoutUniqueness(of: names, before: plan)
        try new.model.changeSchema(preparation)
        try AddedDefaults(plan, in: new.registry.schema, of: stored).write(to: new)
        new.migration = self
        old.migration = self
        finder.follow(old)
    }

    var isCancelled: Bool { cancellation?.isCancelled ?? false }

    /// Runs the block, finishes the schema, and seals the transaction.
    ///
    /// `untilLast` says behind the block what the file is brought to: an index or a rule that somebody has come to declare stays.
    func run(
        untilLast declared: (DatabaseSchema?) -> DatabaseSchema,
        _ block: (Migration) throws -> Void
    ) throws -> PreparedCommit {
        log.lookForWaiting()
        try block(Migration(self))
        if isCancelled { throw CancellationError() }
        try new.throwWriteFailure()
        log.lookForWaiting()
        losses = try finder.losses(from: old, to: new)
        let refused = new.configuration.migrationLossPolicy == .refuse ? losses : losses.filter { $0.newType != nil }
        if !refused.isEmpty { throw MigrationLoss.refusal(of: refused, new) }
        log.changesSchema()
        var last: DatabaseSchema?
        // Once more behind what takes its time, which an index does.
        while case let next = declared(last), next != last {
            var plan = try SchemaReconciler.plan(stored: new.model.schema, declared: next)
            if last == nil { plan.steps += removedClasses.map { .removeClass(className: $0) } }
            try new.model.changeSchema(plan)
            last = next
        }
        let prepared = try new.model.prepareCommit()
        try new.model.endTransaction()
        return prepared
    }

    /// Ends the realms of the migration; rolls back what was not sealed.
    func close() {
        new.migration = nil
        old.migration = nil
        if new.model.isInTransaction { new.model.rollback() }
        new.end(as: .closed)
        old.end(as: .closed)
    }

    // MARK: Objects

    /// A class of the program, which may be given by the name that it has in the file.
    func declaredClass(_ className: String) -> ClassSchema? {
        declared[className] ?? declared[new.registry.programName(of: className)]
    }

    /// Calls a block with the old and new objects of a class, until the migration has failed or is cancelled.
    func enumerate(
        _ className: String,
        progress: ((MigrationProgress) -> Void)?,
        _ block: (DynamicObject?, DynamicObject?) -> Void
    ) {
        do {
            try enumerateThrowing(className, progress: progress, block)
        } catch is CancellationError {
            // The end of the block throws it.
        } catch {
            fail(error)
        }
    }

    /// Calls a block with the old and new objects of a class.
    func enumerateThrowing(
        _ className: String,
        progress report: ((MigrationProgress) -> Void)?,
        _ block: (DynamicObject?, DynamicObject?) throws -> Void
    ) throws {
        let before = old.registry.dynamicAccessor(className: className)
        let after = declaredClass(className) == nil ? nil : new.registry.dynamicAccessor(className: className)
        guard let table = before?.table ?? after?.table else { return }
        let total = table.count
        var visited = 0
        func progress() -> MigrationProgress {
            MigrationProgress(className: className, visitedCount: visited, totalCount: total)
        }
        func object(_ accessor: TableAccessor, _ key: Int64) -> DynamicObject {
            unsafeDowncast(accessor.makeObject(key: key), to: DynamicObject.self)
        }
        func check() throws {
            if isCancelled { throw CancellationError() }
            try new.checkWriteFailure()
        }
        try table.forEachKey { key in
            try check()
            if after == nil {
                try block(before.map { object($0, key) }, nil)
            } else if let after, try after.table.contains(key: key) {
                try block(before.map { object($0, key) }, object(after, key))
            }
            visited += 1
            if let report, visited % Self.reportStride == 0, visited != total { report(progress()) }
            if visited % MigrationLog.stride == 0 { log.goesOn(progress()) }
        }
        try check()
        report?(progress())
        log.didVisit(progress())
    }

    /// The number of objects between two reports of progress.
    private static let reportStride = 1_000

    func delete(_ object: DynamicObject) {
        if hasFailed { return }
        guard object.core === new, let accessor = object.tableAccessor else {
            return refuse("Can only delete an object from the Realm it belongs to: pass a new object of the migration.")
        }
        let className = accessor.info.name
        if object.isInvalidated {
            return refuse("Object has been deleted or invalidated: it cannot be deleted again.", className)
        }
        attempt(className) { try accessor.table.delete(key: object.rowKey) }
        object.rowGeneration = 0
        new.noteWrite()
    }

    func deleteData(_ className: String) -> Bool {
        guard !hasFailed, new.model.schema[className] != nil else { return false }
        attempt(className) { try new.model.table(named: className)?.deleteAll() }
        new.noteWrite()
        if declaredClass(className) == nil, !removedClasses.contains(className) { removedClasses.append(className) }
        return true
    }

    // MARK: Schema

    func rename(_ className: String, from oldName: String, to newName: String) {
        if hasFailed { return }
        // What is noted of the class has the program's name, whichever is given.
        let className = declaredClass(className)?.name ?? className
        func refuse(_ reason: String) { self.refuse("Cannot rename \(reason)", className, oldName) }
        guard let after = declaredClass(className) else {
            return refuse("properties for type '\(className)' because it has been removed from the Realm.")
        }
        guard let before = stored[className] else {
            return refuse("properties for type '\(className)' because it does not exist in the file.")
        }
        let info = new.registry.schema[new.registry.programName(of: className)]
        let column = info?.property(newName)?.columnName ?? newName
        let property = "property '\(className).\(oldName)'"
        guard let source = before[oldName], new.model.schema[className]?[oldName] != nil else {
            return refuse("\(property) because it does not exist.")
        }
        guard let target = after[column] else {
            return refuse(
                "\(property) to '\(newName)' because property '\(className).\(newName)' does not exist."
            )
        }
        if after[oldName] != nil {
            return refuse("\(property) to '\(newName)' because the source property still exists.")
        }
        if !source.hasType(of: target, stored.name(of:)) || !source.isStored {
            return refuse(
                "\(property) to '\(newName)' because it would change from type '\(source.typeDescription)' to "
                    + "'\(target.typeDescription)'."
            )
        }
        finder.rename(className, from: oldName, to: column)
        var steps: [SchemaPlan.Step] = []
        if new.model.schema[className]?[column] != nil {
            steps.append(.removeProperty(className: className, name: column))
        }
        steps.append(.renameProperty(className: className, from: oldName, to: column))
        change(SchemaPlan(steps: steps))
        if source.isOptional != target.isOptional {
            var property = target
            property.isPrimaryKey = false
            property.isUnique = false
            property.isIndexed = source.isIndexed
            change(SchemaPlan(steps: [.replaceProperty(className: className, property, keepsValues: true)]))
        }
        keys.forget(className)
    }

    func discard(_ className: String, _ propertyName: String) {
        if hasFailed { return }
        let className = declaredClass(className)?.name ?? className
        // A file that is old enough has no such property, and a misspelt one keeps its values from nothing.
        let column = new.registry.schema[className]?.property(propertyName)?.columnName
        for name in [propertyName, column].compactMap({ $0 }) {
            finder.discard(LossFinder.Name(className: className, property: name))
        }
    }

    /// Takes the primary key away until the block is done, so that it can be assigned to.
    func releasePrimaryKey(_ className: String) {
        guard new.model.schema[className]?.primaryKey != nil else { return }
        change(SchemaPlan(steps: [.removePrimaryKey(className: className)]))
    }

    private func change(_ plan: SchemaPlan) {
        attempt {
            try new.model.changeSchema(plan)
            new.registry.schemaDidChange()
        }
        new.noteWrite()
    }
}

extension DatabaseSchema {
    /// What makes all unique properties of some classes plain ones: they are judged when the block of a migration is done.
    ///
    /// An index over several properties goes with the plan where that removes it, or gives one of them another column; what is declared
    /// of it is made behind the block.
    fileprivate func stepsWithoutUniqueness(of names: Set<String>, before plan: SchemaPlan) -> [SchemaPlan.Step] {
        var steps: [SchemaPlan.Step] = []
        for schema in list where names.contains(schema.name) {
            let className = schema.name
            for property in schema.properties where property.isUnique && !property.isPrimaryKey {
                steps.append(.setUnique(className: className, property: property.name, false))
            }
            let replaced = plan.steps.compactMap { step in
                if case .replaceProperty(className, let property, _) = step { return property.name }
                return nil
            }
            for index in schema.compoundIndexes where index.isUnique {
                if plan.steps.contains(.removeCompoundIndex(className: className, index)) { continue }
                if index.properties.contains(where: replaced.contains) { continue }
                steps.append(.addCompoundIndex(className: className, CompoundIndexSchema(index.properties)))
            }
        }
        return steps
    }
}

extension RealmCore {
    /// Makes a primary key assignable, which only a migration can.
    func releasePrimaryKey(of accessor: TableAccessor) -> Bool {
        guard let migration else { return false }
        migration.releasePrimaryKey(accessor.info.name)
        return true
    }
}
