import RealmModel

/// What a migration brings a database to, and what it says of the way there.
struct RandomMigration {
    var declared: [ClassSchema] = []
    /// Properties that get another name before all else.
    var renames: [(className: String, from: String, to: String)] = []
    /// A class that gets another name; the declared one says which it had.
    var renamedClass: (from: String, to: String)?
    /// A class that goes with its rows after all else.
    var removedClass: String?

    /// The steps before the database is compared with what is declared.
    var firstSteps: [SchemaPlan.Step] {
        renames.map { .renameProperty(className: $0.className, from: $0.from, to: $0.to) }
    }

    /// The steps behind all that the comparison gives.
    var lastSteps: [SchemaPlan.Step] {
        if let removedClass { [.removeClass(className: removedClass)] } else { [] }
    }
}

extension ClassSchema {
    /// The class with other properties and compound indexes, under another name where one is given.
    func with(
        name: String? = nil,
        _ properties: [PropertySchema],
        _ compoundIndexes: [CompoundIndexSchema],
        formerNames: [String] = []
    ) -> ClassSchema {
        ClassSchema(
            name: name ?? self.name,
            properties: properties,
            compoundIndexes: compoundIndexes,
            isEmbedded: isEmbedded,
            formerNames: formerNames + self.formerNames
        )
    }

    /// The class with a property under another name.
    func renaming(_ old: String, to new: String) -> ClassSchema {
        with(
            properties.map { property in
                var property = property
                if property.name == old { property.name = new }
                return property
            },
            compoundIndexes.map { index in
                CompoundIndexSchema(index.properties.map { $0 == old ? new : $0 }, isUnique: index.isUnique)
            }
        )
    }

    /// The class with other names of the classes that it has to do with.
    func retargeting(_ name: (String) -> String) -> ClassSchema {
        with(
            properties.map { property in
                var property = property
                property.targetClass = property.targetClass.map(name)
                return property
            },
            compoundIndexes
        )
    }
}
