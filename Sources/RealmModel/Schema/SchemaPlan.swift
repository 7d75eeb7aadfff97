/// What makes a file's schema fit the declared one.
package struct SchemaPlan: Sendable, Equatable {
    package enum Step: Sendable, Equatable {
        /// A class that the file does not have.
        case addClass(ClassSchema)
        /// A class goes with all its objects, and with the properties of other classes that link to it.
        case removeClass(className: String)
        case addProperty(className: String, PropertySchema)
        case removeProperty(className: String, name: String)
        /// A property gets another type: its values start at the default, or are kept where only null comes or goes.
        case replaceProperty(className: String, PropertySchema, keepsValues: Bool)
        case renameProperty(className: String, from: String, to: String)
        /// A computed property whose origin changed.
        case replaceComputedProperty(className: String, PropertySchema)
        case addIndex(className: String, property: String)
        case removeIndex(className: String, property: String)
        /// No two objects may have the same value of a property from here on, or they may again.
        case setUnique(className: String, property: String, Bool)
        /// An index over several properties, which takes the place of one over the same properties.
        case addCompoundIndex(className: String, CompoundIndexSchema)
        case removeCompoundIndex(className: String, CompoundIndexSchema)
        case setDeleteRule(className: String, property: String, DeleteRule)
        /// The class is without a primary key from here on.
        case removePrimaryKey(className: String)
        /// A property becomes the primary key: no two objects may have the same value.
        case setPrimaryKey(className: String, property: String)
        /// Embedded objects need exactly one owner each.
        case setEmbedded(className: String, Bool)
        case setVersion(UInt64)
    }

    package var steps: [Step] = []

    package init(steps: [Step] = []) { self.steps = steps }

    /// Whether there is nothing to do.
    package var isEmpty: Bool { steps.isEmpty }

    /// The part of a plan that comes before a program changes the objects: what is new is there, and what goes is still
    /// there, except for what stands in the way.
    package var preparation: SchemaPlan {
        SchemaPlan(
            steps: steps.filter { step in
                switch step {
                case .addClass, .addProperty, .replaceProperty, .replaceComputedProperty, .removePrimaryKey,
                    .setEmbedded(_, false), .setUnique(_, _, false), .removeCompoundIndex, .setDeleteRule:
                    true
                case .removeClass, .removeProperty, .renameProperty, .addIndex, .removeIndex, .setPrimaryKey,
                    .setEmbedded, .setVersion, .setUnique, .addCompoundIndex:
                    false
                }
            }
        )
    }
}
