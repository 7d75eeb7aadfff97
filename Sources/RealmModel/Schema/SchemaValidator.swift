import OrderedCollections

/// Checks that a declared schema makes sense in itself.
enum SchemaValidator {
    /// One sentence per fault.
    static func faults(in schema: DatabaseSchema) -> [String] {
        var faults: [String] = []
        for object in schema.classes.values { check(object, in: schema, &faults) }
        return faults
    }

    private static func check(_ object: ClassSchema, in schema: DatabaseSchema, _ faults: inout [String]) {
        if object.name.isEmpty || object.name.utf8.count > 255 {
            faults.append("Class name '\(object.name)' must have 1 to 255 bytes of UTF-8.")
        }
        var names: Set<String> = []
        for property in object.properties {
            if !names.insert(property.name).inserted {
                faults.append("Property '\(object.name).\(property.name)' has been declared more than once.")
            }
            check(property, of: object, in: schema, &faults)
        }
        let primaryKeys = object.properties.filter(\.isPrimaryKey)
        if primaryKeys.count > 1 {
            let list = primaryKeys.map { "'\($0.name)'" }.joined(separator: " and ")
            faults.append("Properties \(list) are both marked as the primary key of '\(object.name)'.")
        }
        checkCompoundIndexes(of: object, &faults)
        if object.isEmbedded, let key = primaryKeys.first {
            faults.append("Embedded class '\(object.name)' cannot have the primary key '\(key.name)'.")
        }
    }

    private static func checkCompoundIndexes(of object: ClassSchema, _ faults: inout [String]) {
        var known: Set<[String]> = []
        if object.compoundIndexes.count > 255 {
            faults.append("Class '\(object.name)' has more than 255 compound indexes.")
        }
        for index in object.compoundIndexes {
            let name = "Compound index \(index.description) of '\(object.name)'"
            if !CompoundIndexSchema.propertyCounts.contains(index.properties.count) {
                faults.append("\(name) must have two to eight properties.")
            }
            if Set(index.properties).count != index.properties.count {
                faults.append("\(name) names a property more than once.")
            }
            if !known.insert(index.properties).inserted { faults.append("\(name) has been declared more than once.") }
            for property in index.properties {
                guard let schema = object[property] else {
                    faults.append("\(name) names the property '\(property)', which does not exist.")
                    continue
                }
                if !schema.canBeIndexed {
                    faults.append(
                        "\(name) names the property '\(property)' of type '\(schema.typeDescription)', which cannot be "
                            + "indexed."
                    )
                }
            }
        }
    }

    private static func check(
        _ property: PropertySchema,
        of object: ClassSchema,
        in schema: DatabaseSchema,
        _ faults: inout [String]
    ) {
        let name = "Property '\(object.name).\(property.name)'"
        if property.name.isEmpty || property.name.utf8.count > 255 {
            faults.append("\(name) must have a name of 1 to 255 bytes of UTF-8.")
        }
        switch property.kind {
        case .object:
            guard let target = property.targetClass, let targetSchema = schema[target] else {
                faults.append(
                    "\(name) of type 'object' has unknown object type '\(property.targetClass ?? "")'. Add the class to "
                        + "the configuration's object types."
                )
                return
            }
            if property.collection != .none && property.isOptional && property.collection != .map {
                faults.append("\(name) is a collection of links to '\(targetSchema.name)', which cannot be optional.")
            }
        case .linkingObjects:
            checkOrigin(property, of: object, name, in: schema, &faults)
        default:
            break
        }
        if property.collection == .set, schema[property.targetClass ?? ""]?.isEmbedded == true {
            faults.append("\(name) is a set of embedded objects, which belong into lists and maps.")
        }
        if property.isPrimaryKey && (!property.kind.canBePrimaryKey || property.collection != .none) {
            faults.append(
                "\(name) cannot be made the primary key of '\(object.name)' because it is not a 'string', 'int', "
                    + "'objectId', or 'uuid' property."
            )
        }
        if property.isIndexed && !property.canBeIndexed {
            faults.append("\(name) of type '\(property.typeDescription)' cannot be indexed.")
        }
        if property.deleteRule != .nullify {
            if !property.isLink {
                faults.append("\(name) of type '\(property.typeDescription)' is no link and cannot have a delete rule.")
            } else if schema[property.targetClass ?? ""]?.isEmbedded == true {
                faults.append("\(name) holds embedded objects, which are always deleted with their owner.")
            }
        }
    }

    private static func checkOrigin(
        _ property: PropertySchema,
        of object: ClassSchema,
        _ name: String,
        in schema: DatabaseSchema,
        _ faults: inout [String]
    ) {
        guard let originClass = property.targetClass, let origin = schema[originClass] else {
            faults.append(
                "\(name) declared as origin of linking objects has unknown object type '\(property.targetClass ?? "")'."
            )
            return
        }
        let forward = property.originProperty ?? ""
        guard let link = origin[forward] else {
            faults.append(
                "Property '\(originClass).\(forward)' declared as origin of linking objects property "
                    + "'\(object.name).\(property.name)' does not exist."
            )
            return
        }
        if !link.isLink || link.targetClass != object.name {
            faults.append(
                "Property '\(originClass).\(forward)' declared as origin of linking objects property "
                    + "'\(object.name).\(property.name)' does not link to type '\(object.name)'."
            )
        }
    }
}
