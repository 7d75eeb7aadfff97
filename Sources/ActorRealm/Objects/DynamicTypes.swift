import FoundationEssentials
import RealmModel

/// The types with which dynamic objects read and write properties.
enum DynamicTypes {
    /// The type that reads what a shape stores.
    static func type(of shape: _PropertyShape) -> any _Persistable.Type {
        switch shape.kind {
        case .int: scalar(Int.self, shape)
        case .bool: scalar(Bool.self, shape)
        case .string: scalar(String.self, shape)
        case .data: scalar(Data.self, shape)
        case .date: scalar(Date.self, shape)
        case .float: scalar(Float.self, shape)
        case .double: scalar(Double.self, shape)
        case .objectId: scalar(ObjectId.self, shape)
        case .uuid: scalar(UUID.self, shape)
        case .object:
            switch shape.collection {
            case .none: DynamicObject?.self
            case .list: List<DynamicObject>.self
            case .set: MutableSet<DynamicObject>.self
            case .map: Map<String, DynamicObject?>.self
            }
        case .linkingObjects: LinkingObjects<DynamicObject>.self
        case .decimal128: scalar(Decimal128.self, shape)
        case .any:
            switch shape.collection {
            case .none: AnyRealmValue.self
            case .list: List<AnyRealmValue>.self
            case .set: MutableSet<AnyRealmValue>.self
            case .map: Map<String, AnyRealmValue>.self
            }
        }
    }

    private static func scalar<Value: _Scalar & _RealmCollectionValueInsideOptional>(
        _ type: Value.Type,
        _ shape: _PropertyShape
    ) -> any _Persistable.Type {
        switch shape.collection {
        case .none: shape.isOptional ? Value?.self : Value.self
        case .list: shape.isOptional ? List<Value?>.self : List<Value>.self
        case .set: shape.isOptional ? MutableSet<Value?>.self : MutableSet<Value>.self
        case .map: shape.isOptional ? Map<String, Value?>.self : Map<String, Value>.self
        }
    }
}

extension ModelProperty {
    /// The property of a dynamic object that stands for one of the program's classes.
    convenience init(dynamic property: ModelProperty) {
        self.init(
            name: property.name,
            columnName: property.columnName,
            ordinal: property.ordinal,
            shape: property.shape.dynamic,
            isPrimaryKey: property.isPrimaryKey,
            isIndexed: property.isIndexed,
            isUnique: property.isUnique,
            deleteRule: property.deleteRule,
            originProperty: property.originProperty,
            targetName: property.targetName
        )
    }

    /// The property of a dynamic object, as the file has it.
    convenience init(dynamic property: PropertySchema, ordinal: Int) {
        self.init(
            name: property.name,
            columnName: property.name,
            ordinal: ordinal,
            shape: _PropertyShape(
                property.kind,
                collection: property.collection,
                isOptional: property.isOptional,
                target: property.targetClass == nil ? nil : DynamicObject.self
            ),
            isPrimaryKey: property.isPrimaryKey,
            isIndexed: property.isIndexed,
            isUnique: property.isUnique,
            deleteRule: DeleteRule(property.deleteRule),
            originProperty: property.originProperty,
            targetName: property.targetClass
        )
    }

    private convenience init(
        name: String,
        columnName: String,
        ordinal: Int,
        shape: _PropertyShape,
        isPrimaryKey: Bool,
        isIndexed: Bool,
        isUnique: Bool,
        deleteRule: DeleteRule,
        originProperty: String?,
        targetName: String?
    ) {
        self.init(
            name: name,
            columnName: columnName,
            ordinal: ordinal,
            offset: -1,
            valueType: DynamicTypes.type(of: shape),
            shape: shape,
            isPrimaryKey: isPrimaryKey,
            isIndexed: isIndexed,
            isUnique: isUnique,
            deleteRule: deleteRule,
            originProperty: originProperty,
            targetName: targetName
        )
    }
}

extension _PropertyShape {
    /// The shape with dynamic objects in the place of those of a class.
    fileprivate var dynamic: _PropertyShape {
        var shape = self
        if shape.target != nil { shape.target = DynamicObject.self }
        shape.isConverted = false
        return shape
    }
}

extension ModelClass {
    /// One of the program's classes, for dynamic objects.
    convenience init(dynamic info: ModelClass) {
        self.init(
            dynamic: info.name,
            properties: info.properties.map { ModelProperty(dynamic: $0) },
            compoundIndexes: info.compoundIndexes,
            isEmbedded: info.isEmbedded
        )
    }

    /// A class of a file, for dynamic objects.
    convenience init(dynamic schema: ClassSchema) {
        self.init(
            dynamic: schema.name,
            properties: schema.properties.enumerated().map { ModelProperty(dynamic: $1, ordinal: $0) },
            compoundIndexes: schema.compoundIndexes.map {
                CompoundIndex(properties: $0.properties, isUnique: $0.isUnique)
            },
            isEmbedded: schema.isEmbedded
        )
    }
}
