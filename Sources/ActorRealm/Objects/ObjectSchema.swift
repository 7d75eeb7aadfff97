import RealmModel

/// A property of a model class, as the schema shows it.
public struct Property: Hashable, Sendable, CustomStringConvertible {
    /// The name in the class.
    public let name: String
    /// The name in the file.
    public let columnName: String
    /// The type of the value, or of the elements.
    public let type: PropertyType
    /// Whether the property is a `List`, or the objects that link here.
    public let isArray: Bool
    /// Whether the property is a `MutableSet`.
    public let isSet: Bool
    /// Whether the property is a `Map`.
    public let isMap: Bool
    /// Whether there is an index.
    public let isIndexed: Bool
    /// Whether no two objects may have the same value; the primary key is so by itself.
    public let isUnique: Bool
    /// What becomes of the linked objects when the object is deleted.
    public let deleteRule: DeleteRule
    /// Whether the value, or an element, may be nil.
    public let isOptional: Bool
    /// The class that is linked to.
    public let objectClassName: String?
    // For the description.
    private let linkOriginPropertyName: String?
    private let isPrimaryKey: Bool

    init(_ property: ModelProperty) {
        name = property.name
        columnName = property.columnName
        type = PropertyType(rawValue: Int(property.shape.kind.rawValue)) ?? .any
        isArray = property.shape.collection == .list || property.shape.kind == .linkingObjects
        isSet = property.shape.collection == .set
        isMap = property.shape.collection == .map
        isIndexed = property.isIndexed || property.isPrimaryKey
        isUnique = property.isUnique || property.isPrimaryKey
        deleteRule = property.deleteRule
        isOptional = property.shape.isOptional
        objectClassName = property.shape.target == nil ? nil : property.targetName
        linkOriginPropertyName = property.originProperty
        isPrimaryKey = property.isPrimaryKey
    }

    /// A listing of the fields.
    public var description: String {
        func word(_ value: Bool) -> String { value ? "YES" : "NO" }
        var text = "\(name) {\n\ttype = \(type);\n"
        if let objectClassName {
            text += "\tobjectClassName = \(objectClassName);\n"
            text += "\tlinkOriginPropertyName = \(linkOriginPropertyName ?? "(null)");\n"
        }
        return text
            + "\tcolumnName = \(columnName);\n\tindexed = \(word(isIndexed));\n\tisPrimary = \(word(isPrimaryKey));\n"
            + "\tarray = \(word(isArray));\n\tset = \(word(isSet));\n\tdictionary = \(word(isMap));\n"
            + "\toptional = \(word(isOptional));\n}"
    }
}

/// A model class, as the schema shows it.
public struct ObjectSchema: Hashable, Sendable, CustomStringConvertible {
    /// The class's name.
    public let className: String
    /// The stored properties, those of superclasses first, in declaration order.
    public let properties: [Property]
    /// The properties that are computed from links of other objects: `LinkingObjects`.
    public let computedProperties: [Property]
    /// The primary key.
    public let primaryKeyProperty: Property?
    /// Whether objects exist only as parts of others.
    public let isEmbedded: Bool
    /// Always false: there is no synchronisation.
    public var isAsymmetric: Bool { false }
    /// The indexes over several properties.
    public let compoundIndexes: [CompoundIndex]
    /// The class itself.
    public let objectClass: ObjectBase.Type

    init(_ info: ModelClass) {
        className = info.name
        properties = info.properties.filter { !$0.isComputed }.map { Property($0) }
        computedProperties = info.properties.filter(\.isComputed).map { Property($0) }
        primaryKeyProperty = info.primaryKeyProperty.map { Property($0) }
        isEmbedded = info.isEmbedded
        compoundIndexes = info.compoundIndexes
        objectClass = info.type
    }

    /// The property of a name, stored or computed; nil when there is none.
    public subscript(propertyName: String) -> Property? {
        properties.first { $0.name == propertyName } ?? computedProperties.first { $0.name == propertyName }
    }

    /// Whether both describe the same properties under the same name.
    public static func == (left: ObjectSchema, right: ObjectSchema) -> Bool {
        left.className == right.className && left.properties == right.properties
            && left.computedProperties == right.computedProperties
            && left.primaryKeyProperty == right.primaryKeyProperty && left.isEmbedded == right.isEmbedded
            && left.compoundIndexes == right.compoundIndexes
    }

    /// Hashes what `==` compares.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(className)
        hasher.combine(properties)
    }

    /// A listing of the properties.
    public var description: String {
        let lines = (properties + computedProperties)
            .map { "\t" + $0.description.split(separator: "\n").joined(separator: "\n\t") + "\n" }
        return "\(className) \(isEmbedded ? "(embedded) " : ""){\n\(lines.joined())}"
    }
}

/// The model classes of a realm.
public struct Schema: Hashable, Sendable, CustomStringConvertible {
    /// The classes.
    public let objectSchema: [ObjectSchema]

    init(_ schema: ModelSchema) { objectSchema = schema.classes.map { ObjectSchema($0) } }

    /// The schema of a file.
    init(_ schema: DatabaseSchema) {
        objectSchema = schema.list.map { ObjectSchema(ModelClass(dynamic: $0)) }
    }

    /// The class of a name; nil when there is none.
    public subscript(className: String) -> ObjectSchema? { objectSchema.first { $0.className == className } }

    /// A listing of the classes.
    public var description: String {
        "Schema {\n"
            + objectSchema.map { "\t" + $0.description.split(separator: "\n").joined(separator: "\n\t") + "\n" }
            .joined()
            + "}"
    }
}
