import RealmModel
import RealmQuery

/// Where managed collections come from.
extension _CollectionBacking {
    /// All objects of a class.
    convenience init(table accessor: TableAccessor) {
        self.init(
            core: accessor.core,
            elements: accessor,
            shape: _PropertyShape(.object, target: accessor.type),
            source: .table
        )
    }

    /// The elements of a list property.
    convenience init(list accessor: TableAccessor, key: Int64, declared: Int) {
        let property = accessor.info.properties[declared]
        self.init(
            core: accessor.core,
            elements: property.shape.target.map { _ in accessor.target(of: declared) },
            shape: property.shape,
            source: .list(accessor, key: key, property: accessor.ordinals[declared])
        )
    }

    /// The elements of a list or dictionary in a value of any kind.
    convenience init(nested accessor: TableAccessor, key: Int64, declared: Int, path: [NestedStep], isMap: Bool) {
        self.init(
            core: accessor.core,
            elements: nil,
            shape: _PropertyShape(.any, isOptional: true),
            source: .nested(accessor, key: key, property: accessor.ordinals[declared], path: path, isMap: isMap)
        )
    }

    /// The objects of a class that link to a row through one of its properties, given by its stored ordinal.
    convenience init(backlinksTo accessor: TableAccessor, key: Int64, origin: TableAccessor, property: Int) {
        self.init(
            core: accessor.core,
            elements: origin,
            shape: _PropertyShape(.object, target: origin.type),
            source: .backlinks(accessor, key: key, property: property)
        )
    }

    /// The collection that a descriptor stands for in a realm.
    ///
    /// Nil when the object it belongs to does not exist there, or a property that is asked for, unless it outlives that; and when the
    /// realm's classes have no such collection: one with elements of the given shape.
    static func find(
        _ descriptor: CollectionDescriptor,
        of elements: _PropertyShape,
        in core: RealmCore
    ) -> _CollectionBacking? {
        attempt { () throws -> _CollectionBacking? in
            do {
                return try _CollectionBacking(descriptor, of: elements, in: core)
            } catch let error as QueryError {
                // A migration took the property, or made something else of it.
                if !descriptor.outlivesOwner || descriptor.className == nil { return nil }
                var bare = descriptor
                bare.predicate = nil
                bare.steps = []
                guard let source = try _CollectionBacking(bare, of: elements, in: core) else { return nil }
                // What was asked is kept: live ones have their elements again when the property is back.
                let found = _CollectionBacking(source, misfit: error, asked: descriptor)
                found.outlivesOwner = true
                return found
            }
        }
    }

    private convenience init?(
        _ descriptor: CollectionDescriptor,
        of wanted: _PropertyShape,
        in core: RealmCore
    ) throws {
        func find(_ name: String) -> TableAccessor? {
            core.accessor(className: name, isDynamic: descriptor.isDynamic)
        }
        func isThere(_ key: Int64, _ owner: TableAccessor) -> Bool {
            descriptor.outlivesOwner || owner.mayHave(key)
        }
        let base: _CollectionBacking
        switch descriptor.source {
        case .table:
            guard let name = descriptor.className, let accessor = find(name), accessor.type == wanted.target else {
                return nil
            }
            base = _CollectionBacking(table: accessor)
        case .list(let ownerClass, let key, let property):
            guard let accessor = find(ownerClass), isThere(key, accessor),
                let declared = accessor.info.property(columnNamed: property),
                declared.shape.collection != .none, declared.shape.hasElements(like: wanted)
            else { return nil }
            base = _CollectionBacking(list: accessor, key: key, declared: declared.ordinal)
        case .nested(let ownerClass, let key, let property, let path, let isMap):
            guard let accessor = find(ownerClass), isThere(key, accessor),
                let declared = accessor.info.property(columnNamed: property), declared.shape.hasElements(like: wanted)
            else { return nil }
            base = _CollectionBacking(
                nested: accessor,
                key: key,
                declared: declared.ordinal,
                path: path,
                isMap: isMap
            )
        case .backlinks(let targetClass, let key, let property):
            guard let accessor = find(targetClass), let name = descriptor.className,
                let origin = find(name), origin.type == wanted.target, isThere(key, accessor),
                let declared = origin.info.property(columnNamed: property),
                declared.shape.kind == .object, declared.shape.target == accessor.type
            else { return nil }
            base = _CollectionBacking(
                backlinksTo: accessor,
                key: key,
                origin: origin,
                property: origin.ordinals[declared.ordinal]
            )
        }
        try self.init(
            core: core,
            elements: base.elements,
            shape: base.shape,
            source: base.source,
            predicate: descriptor.predicate,
            steps: descriptor.steps,
            isDeferred: core.isDelivery
        )
        outlivesOwner = descriptor.outlivesOwner
    }
}
