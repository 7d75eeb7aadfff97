/// What makes a file's schema fit the declared one.
package struct SchemaPlan: Sendable, Equatable {
    package enum Step: Sendable, Equatable {
        /// A class that the file does not have.
        case addClass(ClassSchema)
        /// The file keeps its name of a class, and says by which one programs know it from here on.
        case recordName(className: String, storedName: String)
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
                case .addClass, .recordName, .addProperty, .replaceProperty, .replaceComputedProperty,
                    .removePrimaryKey,
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

extension SchemaPlan.Step {
    /// The step with its class as a schema of the file calls it.
    func called(asIn schema: DatabaseSchema) -> Self {
        func name(_ className: String) -> String { schema.name(of: className) }
        func called(_ property: PropertySchema) -> PropertySchema {
            var property = property
            property.targetClass = property.targetClass.map(name)
            return property
        }
        return switch self {
        case .addClass(let object): .addClass(object.renamed(object.name, name))
        case .recordName, .setVersion: self
        case .removeClass(let object): .removeClass(className: name(object))
        case .addProperty(let object, let property): .addProperty(className: name(object), called(property))
        case .removeProperty(let object, let property): .removeProperty(className: name(object), name: property)
        case .replaceProperty(let object, let property, let keepsValues):
            .replaceProperty(className: name(object), called(property), keepsValues: keepsValues)
        case .renameProperty(let object, let old, let new): .renameProperty(className: name(object), from: old, to: new)
        case .replaceComputedProperty(let object, let property):
            .replaceComputedProperty(className: name(object), called(property))
        case .addIndex(let object, let property): .addIndex(className: name(object), property: property)
        case .removeIndex(let object, let property): .removeIndex(className: name(object), property: property)
        case .setUnique(let object, let property, let isUnique):
            .setUnique(className: name(object), property: property, isUnique)
        case .addCompoundIndex(let object, let index): .addCompoundIndex(className: name(object), index)
        case .removeCompoundIndex(let object, let index): .removeCompoundIndex(className: name(object), index)
        case .setDeleteRule(let object, let property, let rule):
            .setDeleteRule(className: name(object), property: property, rule)
        case .removePrimaryKey(let object): .removePrimaryKey(className: name(object))
        case .setPrimaryKey(let object, let property): .setPrimaryKey(className: name(object), property: property)
        case .setEmbedded(let object, let isEmbedded): .setEmbedded(className: name(object), isEmbedded)
        }
    }
}
