import RealmModel
import RealmStorage

/// Makes a plan of what a migration would do, from one version of the file.
struct MigrationPlanner {
    private let configuration: Realm.Configuration
    private let cancellation: OpeningCancellation
    private let model: ModelView
    private let stored: DatabaseSchema?
    private let declared: DatabaseSchema
    private let classes: ModelSchema

    init(
        _ snapshot: Snapshot,
        _ configuration: Realm.Configuration,
        _ cancellation: OpeningCancellation
    ) throws {
        self.configuration = configuration
        self.cancellation = cancellation
        declared = try DeclaredSchema.make(for: configuration)
        stored = try SchemaReconciler.storedSchema(of: snapshot)?.called(asIn: declared)
        model = try ModelView(snapshot: snapshot, schema: stored)
        classes = try ModelSchema.cached(objectTypes: configuration.objectTypes)
    }

    func plan() throws -> MigrationPlan {
        let (steps, needsHigherVersion) = try steps()
        var changes: [MigrationPlan.Change] = []
        var cost = MigrationCost()
        for schema in declared.list {
            // The steps have the name that the schema of the file has for the class.
            let storedName = stored?[schema.name]?.name ?? schema.name
            let own = steps.steps.filter { $0.className == storedName }
            if own.isEmpty { continue }
            if cancellation.isCancelled { throw CancellationError() }
            guard let old = stored?[schema.name], let table = try model.table(named: schema.name) else {
                changes.append(change(.added, schema.name, nil, nil, 0))
                continue
            }
            let guesses = try RenameGuess(table, old, schema, classes[schema.name], own).guesses()
            for step in own {
                if let change = try change(step, schema.name, table, old, guesses) { changes.append(change) }
                cost.add(step, rowCount: table.count, hasDefault: hasDefault(step))
            }
        }
        return MigrationPlan(
            oldSchemaVersion: stored?.version,
            newSchemaVersion: declared.version,
            needsHigherVersion: needsHigherVersion,
            changes: changes,
            objectCount: cost.objectCount,
            estimatedDuration: cost.duration
        )
    }

    /// What there is to do, and whether a higher version is needed for that.
    private func steps() throws -> (SchemaPlan, needsHigherVersion: Bool) {
        do {
            return (try SchemaReconciler.plan(stored: stored, declared: declared), false)
        } catch {
            guard case .schemaMismatch = error, stored?.version == declared.version else { throw error }
        }
        // Behind the highest version there is none, so that the one before stands for what is stored.
        let (stored, declared) =
            declared.version == .max
            ? (stored?.with(version: .max - 1), declared) : (stored, declared.with(version: declared.version + 1))
        return (try SchemaReconciler.plan(stored: stored, declared: declared), true)
    }

    private func hasDefault(_ step: SchemaPlan.Step) -> Bool {
        !AddedDefaults(SchemaPlan(steps: [step]), in: classes, of: stored).isEmpty
    }

    private func change(
        _ kind: MigrationPlan.Change.Kind,
        _ className: String,
        _ propertyName: String?,
        _ type: String?,
        _ objectCount: Int,
        _ valueCount: Int = 0
    ) -> MigrationPlan.Change {
        MigrationPlan.Change(
            kind: kind,
            className: className,
            propertyName: propertyName,
            type: type,
            objectCount: objectCount,
            valueCount: valueCount
        )
    }

    /// What a step means to whoever reads the plan; nil for what follows from another step.
    private func change(
        _ step: SchemaPlan.Step,
        _ className: String,
        _ table: TableView,
        _ old: ClassSchema,
        _ guesses: [String: String]
    ) throws -> MigrationPlan.Change? {
        /// A change of a property that the file has.
        func known(_ kind: MigrationPlan.Change.Kind, _ name: String) throws -> MigrationPlan.Change? {
            guard let property = old[name], let ordinal = old.ordinal(of: name) else { return nil }
            let values = property.isStored ? try table.valueCount(of: ordinal) : 0
            return change(kind, className, name, property.typeDescription, table.count, values)
        }
        func rule(_ name: String?) -> MigrationPlan.Change {
            change(.ruleChanged, className, name, name.flatMap { old[$0]?.typeDescription }, table.count)
        }
        switch step {
        case .removeProperty(_, let name):
            return try known(guesses[name].map { .renamed(to: $0) } ?? .removed, name)
        case .addProperty(_, let property):
            if guesses.values.contains(property.name) { return nil }
            return change(.added, className, property.name, property.typeDescription, table.count)
        case .replaceProperty(_, let property, let keepsValues):
            if !keepsValues { return try known(.retyped(to: property.typeDescription), property.name) }
            return try known(property.isOptional ? .madeOptional : .madeRequired, property.name)
        case .removePrimaryKey: return try old.primaryKey.flatMap { try known(.keyChanged, $0.name) }
        case .setPrimaryKey(_, let name):
            return change(.keyChanged, className, name, old[name]?.typeDescription, table.count)
        case .setEmbedded: return change(.embeddednessChanged, className, nil, nil, table.count)
        case .setUnique(_, let name, _), .addIndex(_, let name), .removeIndex(_, let name),
            .setDeleteRule(_, let name, _):
            return rule(name)
        case .replaceComputedProperty(_, let property): return rule(property.name)
        case .addCompoundIndex(_, let index), .removeCompoundIndex(_, let index):
            return rule(index.properties.joined(separator: ", "))
        case .addClass, .recordName, .removeClass, .renameProperty, .setVersion: return nil
        }
    }
}

extension DatabaseSchema {
    /// The same classes at another version.
    fileprivate func with(version: UInt64) -> DatabaseSchema { DatabaseSchema(classes: list, version: version) }
}

extension SchemaPlan.Step {
    /// The class that the step changes; nil for the version.
    fileprivate var className: String? {
        switch self {
        case .addClass(let schema): schema.name
        case .removeClass(let name), .recordName(let name, _), .addProperty(let name, _), .removeProperty(let name, _),
            .replaceProperty(let name, _, _), .renameProperty(let name, _, _), .replaceComputedProperty(let name, _),
            .addIndex(let name, _), .removeIndex(let name, _), .setUnique(let name, _, _),
            .addCompoundIndex(let name, _), .removeCompoundIndex(let name, _), .setDeleteRule(let name, _, _),
            .removePrimaryKey(let name), .setPrimaryKey(let name, _), .setEmbedded(let name, _):
            name
        case .setVersion: nil
        }
    }
}
