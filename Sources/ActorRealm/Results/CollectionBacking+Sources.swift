import RealmModel
import RealmQuery

/// Where managed collections come from.
extension _CollectionBacking {
    /// All objects of a class.
    convenience init(table accessor: TableAccessor) throws {
        try self.init(
            core: accessor.core,
            descriptor: CollectionDescriptor(
                source: .table,
                className: accessor.info.name,
                isDynamic: accessor.info.isDynamic
            ),
            elements: accessor,
            shape: _PropertyShape(.object, target: accessor.type),
            source: .table
        )
    }

    /// The elements of a list property.
    convenience init(list accessor: TableAccessor, key: Int64, declared: Int) throws {
        let property = accessor.info.properties[declared]
        let target = property.shape.target.map { _ in accessor.target(of: declared) }
        try self.init(
            core: accessor.core,
            descriptor: CollectionDescriptor(
                source: .list(ownerClass: accessor.info.name, ownerKey: key, property: property.columnName),
                className: target?.info.name,
                isDynamic: accessor.info.isDynamic
            ),
            elements: target,
            shape: property.shape,
            source: .list(accessor, key: key, property: accessor.ordinals[declared])
        )
    }

    /// The elements of a list or dictionary in a value of any kind.
    convenience init(nested accessor: TableAccessor, key: Int64, declared: Int, path: [NestedStep]) throws {
        try self.init(
            core: accessor.core,
            descriptor: CollectionDescriptor(
                source: .nested(
                    ownerClass: accessor.info.name,
                    ownerKey: key,
                    property: accessor.info.properties[declared].columnName,
                    path: path
                ),
                className: nil,
                isDynamic: accessor.info.isDynamic
            ),
            elements: nil,
            shape: _PropertyShape(.any, isOptional: true),
            source: .nested(accessor, key: key, property: accessor.ordinals[declared], path: path)
        )
    }

    /// The objects of a class that link to a row.
    convenience init(backlinksTo accessor: TableAccessor, key: Int64, origin: TableAccessor, property: String) throws {
        guard let declared = origin.info.property(property), declared.targetName == accessor.info.name
        else {
            throw QueryError(
                "Property '\(origin.info.name).\(property)' declared as origin of linking objects property of "
                    + "'\(accessor.info.name)' does not link to it."
            )
        }
        try self.init(
            core: accessor.core,
            descriptor: CollectionDescriptor(
                source: .backlinks(
                    targetClass: accessor.info.name,
                    targetKey: key,
                    property: declared.columnName
                ),
                className: origin.info.name,
                isDynamic: accessor.info.isDynamic
            ),
            elements: origin,
            shape: _PropertyShape(.object, target: origin.type),
            source: .backlinks(
                accessor,
                key: key,
                originTable: origin.table.id,
                originProperty: origin.ordinals[declared.ordinal]
            )
        )
    }

    /// The collection that a descriptor stands for in a realm; nil when the object it belongs to does not exist there.
    convenience init?(_ descriptor: CollectionDescriptor, in core: RealmCore) throws {
        func find(_ name: String) -> TableAccessor? {
            core.accessor(className: name, isDynamic: descriptor.isDynamic)
        }
        var base: _CollectionBacking
        switch descriptor.source {
        case .table:
            guard let name = descriptor.className, let accessor = find(name) else { return nil }
            base = try _CollectionBacking(table: accessor)
        case .list(let ownerClass, let key, let property):
            guard let accessor = find(ownerClass), try accessor.table.contains(key: key),
                let declared = accessor.info.property(columnNamed: property)
            else { return nil }
            base = try _CollectionBacking(list: accessor, key: key, declared: declared.ordinal)
        case .nested(let ownerClass, let key, let property, let path):
            guard let accessor = find(ownerClass), try accessor.table.contains(key: key),
                let declared = accessor.info.property(columnNamed: property)
            else { return nil }
            base = try _CollectionBacking(nested: accessor, key: key, declared: declared.ordinal, path: path)
        case .backlinks(let targetClass, let key, let property):
            guard let accessor = find(targetClass), let name = descriptor.className,
                let origin = find(name), try accessor.table.contains(key: key),
                let declared = origin.info.property(columnNamed: property)
            else { return nil }
            base = try _CollectionBacking(backlinksTo: accessor, key: key, origin: origin, property: declared.name)
        }
        try self.init(
            core: core,
            descriptor: descriptor,
            elements: base.elements,
            shape: base.shape,
            source: base.source
        )
    }
}
