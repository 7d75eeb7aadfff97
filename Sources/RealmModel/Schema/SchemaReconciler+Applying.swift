package import RealmStorage

extension SchemaReconciler {
    /// Carries out a plan in a transaction, which the caller commits.
    ///
    /// - Throws: `duplicatePrimaryKeys`, `duplicateValues` or `invalidOwnerCount` when the rows do not allow it, or the storage's error.
    package static func apply(_ plan: SchemaPlan, in transaction: WriteTransaction) throws {
        for stage in stages(of: plan) where !stage.isEmpty {
            var change = try SchemaChange(in: transaction)
            try change.apply(stage)
        }
        try convert(plan, in: transaction)
        for case .setPrimaryKey(let className, let property) in plan.steps {
            var change = try SchemaChange(in: transaction)
            do {
                try change.apply([.setPrimaryKey(className: className, property: property)])
            } catch let error as StorageError where error.code == .invalidArgument {
                throw ModelError.duplicatePrimaryKeys(
                    className: className,
                    property: property,
                    value: error.subject?.value
                )
            }
        }
        let last = plan.steps.filter { $0.isFinal && !$0.setsPrimaryKey }
        if last.isEmpty { return }
        var change = try SchemaChange(in: transaction)
        try change.apply(last)
    }

    /// What comes before the values are converted.
    private static func stages(of plan: SchemaPlan) -> [[SchemaPlan.Step]] {
        let names = plan.steps.filter(\.recordsName)
        let first = plan.steps.filter(\.isFirst)
        let second = plan.steps.filter { !$0.recordsName && !$0.isFirst && !$0.isFinal && !$0.keepsValues }
        return [names, first, second]
    }

    /// Gives the properties that get or lose null a column each, with the old one's values.
    ///
    /// The old property keeps its rows under a name that no program can declare, until they are copied.
    private static func convert(_ plan: SchemaPlan, in transaction: WriteTransaction) throws {
        for case .replaceProperty(let className, let property, true) in plan.steps {
            let hidden = "\u{0}"
            var change = try SchemaChange(in: transaction)
            try change.apply([
                .renameProperty(className: className, from: property.name, to: hidden),
                .addProperty(className: className, property),
            ])
            change = try SchemaChange(in: transaction)
            try change.copyValues(className, from: hidden, to: property.name)
            try change.apply([.removeProperty(className: className, name: hidden)])
        }
    }
}

extension SchemaPlan.Step {
    /// Whether the step only makes a class known by the name that the others use.
    fileprivate var recordsName: Bool {
        if case .recordName = self { return true }
        return false
    }

    /// Whether the step makes it possible to touch rows that others touch.
    fileprivate var isFirst: Bool {
        switch self {
        case .removePrimaryKey, .setEmbedded(_, false), .setUnique(_, _, false), .removeCompoundIndex: true
        default: false
        }
    }

    /// Whether the step judges the rows as they are when all else is done.
    fileprivate var isFinal: Bool {
        switch self {
        case .setPrimaryKey, .setEmbedded(_, true), .removeClass, .setVersion, .setUnique(_, _, true),
            .addCompoundIndex:
            true
        default: false
        }
    }

    fileprivate var setsPrimaryKey: Bool {
        if case .setPrimaryKey = self { return true }
        return false
    }

    fileprivate var keepsValues: Bool {
        if case .replaceProperty(_, _, true) = self { return true }
        return false
    }
}
