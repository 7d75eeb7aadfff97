/// What a stored schema has otherwise than a declared one.
package struct SchemaDifference: Sendable, Equatable, CustomStringConvertible {
    /// The class that differs.
    package let className: String
    /// The property that does; nil where it is the class as a whole, or several of its properties.
    package let propertyName: String?
    /// The difference, in a sentence.
    package let description: String

    /// Describes a difference in one property of a class.
    package init(_ className: String, _ propertyName: String?, _ description: String) {
        self.className = className
        self.propertyName = propertyName
        self.description = description
    }

    /// Describes a difference in a class as a whole.
    package init(_ className: String, _ description: String) { self.init(className, nil, description) }
}
