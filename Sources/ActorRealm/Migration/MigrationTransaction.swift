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
        cancellation: OpeningCancellation?
    ) throws {
        self.stored = stored
        self.declared = declared
        self.cancellation = cancellation
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
        preparation.steps += stored.stepsWithoutUniqueness
        try new.model.changeSchema(preparation)
        try AddedDefaults(plan, in: new.registry.schema).write(to: new)
        new.migration = self
    }

    var isCancelled: Bool { cancellation?.isCancelled ?? false }

    /// Runs the block, finishes the schema, and seals the transaction.
    func run(_ block: (Migration) throws -> Void) throws -> PreparedCommit {
        try block(Migration(self))
        if isCancelled { throw CancellationError() }
        try new.throwWriteFailure()
        var plan = try SchemaReconciler.plan(stored: new.model.schema, declared: declared)
        plan.steps += removedClasses.map { .removeClass(className: $0) }
        try new.model.changeSchema(plan)
        let prepared = try new.model.prepareCommit()
        try new.model.endTransaction()
        return prepared
    }

    /// Ends the realms of the migration; rolls back what was not sealed.
    func close() {
        new.migration = nil
        if new.model.isInTransaction { new.model.rollback() }
        new.end(as: .closed)
        old.end(as: .closed)
    }

    // MARK: Objects

    /// Traps for a class that the program does not have.
    func requireDeclared(_ className: String) {
        if declaredClass(className) == nil { new.unknownClass(className) }
    }

    /// A class of the program, which may be given by the name that it has in the file.
    private func declaredClass(_ className: String) -> ClassSchema? {
        declared[className] ?? declared[new.registry.programName(of: className)]
    }

    /// Calls a block with the old and new objects of a class, until the migration has failed or is cancelled.
    func enumerate(_ className: String, _ block: (DynamicObject?, DynamicObject?) -> Void) {
        do {
            try enumerateThrowing(className, block)
        } catch is CancellationError {
            // The end of the block throws it.
        } catch {
            attemptAgain(error)
        }
    }

    /// Keeps a failure of the storage for the end of the block.
    private func attemptAgain(_ error: any Error) { new.attemptWrite { throw error } }

    /// Calls a block with the old and new objects of a class.
    func enumerateThrowing(_ className: String, _ block: (DynamicObject?, DynamicObject?) throws -> Void) throws {
        let before = old.registry.dynamicAccessor(className: className)
        let after = declaredClass(className) == nil ? nil : new.registry.dynamicAccessor(className: className)
        func object(_ accessor: TableAccessor, _ key: Int64) -> DynamicObject {
            unsafeDowncast(accessor.makeObject(key: key), to: DynamicObject.self)
        }
        func proceed() throws {
            if isCancelled { throw CancellationError() }
            try new.checkWriteFailure()
        }
        switch (before, after) {
        case (let before?, let after?):
            try before.table.forEachKey { key in
                try proceed()
                if try after.table.contains(key: key) { try block(object(before, key), object(after, key)) }
            }
        case (let before?, nil):
            try before.table.forEachKey { key in
                try proceed()
                try block(object(before, key), nil)
            }
        case (nil, let after?):
            try after.table.forEachKey { key in
                try proceed()
                if try after.table.contains(key: key) { try block(nil, object(after, key)) }
            }
        case (nil, nil): break
        }
    }

    func delete(_ object: DynamicObject) {
        guard object.core === new, let accessor = object.tableAccessor else {
            misuse("Can only delete an object from the Realm it belongs to: pass a new object of the migration.")
        }
        if object.isInvalidated {
            misuse("Object has been deleted or invalidated: it cannot be deleted again.")
        }
        new.attemptWrite { try accessor.table.delete(key: object.rowKey) }
        object.rowGeneration = 0
        new.noteWrite()
    }

    func deleteData(_ className: String) -> Bool {
        guard new.model.schema[className] != nil else { return false }
        new.attemptWrite { try new.model.table(named: className)?.deleteAll() }
        new.noteWrite()
        if declaredClass(className) == nil, !removedClasses.contains(className) { removedClasses.append(className) }
        return true
    }

    // MARK: Schema

    func rename(_ className: String, from oldName: String, to newName: String) {
        func refuse(_ reason: String) -> Never { misuse("Cannot rename \(reason)") }
        guard let after = declaredClass(className) else {
            refuse("properties for type '\(className)' because it has been removed from the Realm.")
        }
        guard let before = stored[className] else {
            refuse("properties for type '\(className)' because it does not exist in the file.")
        }
        let info = new.registry.schema[new.registry.programName(of: className)]
        let column = info?.property(newName)?.columnName ?? newName
        let property = "property '\(className).\(oldName)'"
        guard let source = before[oldName], new.model.schema[className]?[oldName] != nil else {
            refuse("\(property) because it does not exist.")
        }
        guard let target = after[column] else {
            refuse("\(property) to '\(newName)' because property '\(className).\(newName)' does not exist.")
        }
        if after[oldName] != nil { refuse("\(property) to '\(newName)' because the source property still exists.") }
        var comparable = source
        comparable.isOptional = target.isOptional
        if comparable.typeDescription != target.typeDescription || !source.isStored {
            refuse(
                "\(property) to '\(newName)' because it would change from type '\(source.typeDescription)' to "
                    + "'\(target.typeDescription)'."
            )
        }
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
    }

    /// Takes the primary key away until the block is done, so that it can be assigned to.
    func releasePrimaryKey(_ className: String) {
        guard new.model.schema[className]?.primaryKey != nil else { return }
        change(SchemaPlan(steps: [.removePrimaryKey(className: className)]))
    }

    private func change(_ plan: SchemaPlan) {
        new.attemptWrite {
            try new.model.changeSchema(plan)
            new.registry.schemaDidChange()
        }
        new.noteWrite()
    }
}

extension DatabaseSchema {
    /// What makes all unique properties plain ones: they are judged when the block of a migration is done.
    fileprivate var stepsWithoutUniqueness: [SchemaPlan.Step] {
        list.flatMap { schema in
            schema.properties.filter { $0.isUnique && !$0.isPrimaryKey }
                .map { SchemaPlan.Step.setUnique(className: schema.name, property: $0.name, false) }
                + schema.compoundIndexes.filter(\.isUnique)
                .map { .addCompoundIndex(className: schema.name, CompoundIndexSchema($0.properties)) }
        }
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
