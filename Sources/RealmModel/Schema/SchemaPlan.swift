/// What makes a file's schema fit the declared one.
package struct SchemaPlan: Sendable, Equatable {
    package enum Step: Sendable, Equatable {
        /// A class that the file does not have.
        case addClass(ClassSchema)
        case addProperty(className: String, PropertySchema)
        case removeProperty(className: String, name: String)
        /// A computed property whose origin changed.
        case replaceComputedProperty(className: String, PropertySchema)
        case addIndex(className: String, property: String)
        case removeIndex(className: String, property: String)
        case setVersion(UInt64)
    }

    package var steps: [Step] = []

    package init() {}

    /// Whether there is nothing to do.
    package var isEmpty: Bool { steps.isEmpty }
}
