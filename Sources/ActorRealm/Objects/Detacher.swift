import RealmModel

/// Copies objects out of their realm, with what they link to.
///
/// Objects are copied from a work list, so that neither long chains nor cycles of links recurse; an object that is
/// reached twice has one copy.
final class Detacher {
    private struct Identity: Hashable {
        let table: UInt32
        let key: Int64
    }

    private struct Pending {
        let source: ObjectBase
        let copy: ObjectBase
        let depth: Int
    }

    private var managed: [Identity: ObjectBase] = [:]
    private var unmanaged: [ObjectIdentifier: ObjectBase] = [:]
    private var pending: [Pending] = []

    /// Copies an object, and what can be reached from it by at most so many links.
    func copy(_ object: ObjectBase, depth: Int) -> ObjectBase {
        if object is DynamicObject {
            misuse(
                "A `DynamicObject` has no form outside of its realm: read it as an object of its class to detach it."
            )
        }
        // The copy of what a closed realm held is empty.
        if object.isInvalidated, !(object.core?.isClosed ?? false) {
            misuse("Object has been deleted or invalidated: it cannot be detached.")
        }
        let copy = register(object, depth: depth)
        var next = 0
        while next < pending.count {
            fill(pending[next])
            next += 1
        }
        return copy
    }

    private func register(_ object: ObjectBase, depth: Int) -> ObjectBase {
        if let accessor = object.tableAccessor {
            let identity = Identity(table: accessor.table.id, key: object.rowKey)
            if let known = managed[identity] { return known }
            let copy = type(of: object).init()
            managed[identity] = copy
            pending.append(Pending(source: object, copy: copy, depth: depth))
            return copy
        }
        if let known = unmanaged[ObjectIdentifier(object)] { return known }
        let copy = type(of: object).init()
        unmanaged[ObjectIdentifier(object)] = copy
        pending.append(Pending(source: object, copy: copy, depth: depth))
        return copy
    }

    /// The copy of a link's target; nil beyond the depth.
    ///
    /// Embedded objects are a part of their owner.
    private func target(_ object: ObjectBase, depth: Int) -> ObjectBase? {
        if object is EmbeddedObject { return register(object, depth: depth) }
        return depth > 0 ? register(object, depth: depth - 1) : nil
    }

    private func fill(_ item: Pending) {
        for property in item.source.modelClass.properties where !property.isComputed {
            let value = property.value(in: item.source)
            if let any = value as? AnyRealmValue {
                property.assign(copied(any, depth: item.depth), to: item.copy)
                continue
            }
            guard property.shape.target != nil || property.shape.kind == .any else {
                property.assign(value, to: item.copy)
                continue
            }
            if let object = value as? ObjectBase {
                property.assign(target(object, depth: item.depth), to: item.copy)
            } else if let value, let entries = ValueReader.entries(of: value) {
                let copies = entries.map { (name: $0.name, value: element($0.value, depth: item.depth)) }
                property.assign(ValueReader.Entries(copies), to: item.copy)
            } else if let value, let elements = ValueReader.elements(of: value) {
                let isAny = property.shape.kind == .any
                let copies = elements.map { element($0, depth: item.depth) }
                property.assign(isAny ? copies : copies.filter { $0 != nil }, to: item.copy)
            } else if value != nil {
                // A type of the program's own that is stored as an embedded object.
                property.assign(value, to: item.copy)
            }
        }
    }

    private func element(_ value: Any?, depth: Int) -> Any? {
        switch value {
        case let object as ObjectBase: target(object, depth: depth)
        case let any as AnyRealmValue: copied(any, depth: depth)
        default: value
        }
    }

    private func copied(_ map: Map<String, AnyRealmValue>, depth: Int) -> Map<String, AnyRealmValue> {
        let copy = Map<String, AnyRealmValue>()
        for (name, value) in map { copy[name] = copied(value, depth: depth) }
        return copy
    }

    /// A value of any kind with copies of the objects in it; none in the place of those beyond the depth.
    private func copied(_ value: AnyRealmValue, depth: Int) -> AnyRealmValue {
        switch value {
        case .object(let object): (target(object, depth: depth) as? Object).map { .object($0) } ?? .none
        case .list(let list): .fromArray(list.map { copied($0, depth: depth) })
        case .dictionary(let map): .dictionary(copied(map, depth: depth))
        default: value
        }
    }
}

extension ThreadConfined where Self: ObjectBase {
    /// An unmanaged copy of the object, with copies of what it links to.
    ///
    /// The copy can be changed freely, encoded, and added to any realm. Cycles stay cycles; an object that is linked to
    /// twice is copied once.
    ///
    /// - Parameter depth: How many links away objects are copied; links beyond are nil, and lists of them empty. Embedded
    ///   objects are always copied with their owner.
    /// - Returns: The copy.
    /// - Precondition: No object is deleted or dynamic: look at ``ThreadConfined/isInvalidated``.
    public func detached(depth: Int = .max) -> Self {
        unsafeDowncast(Detacher().copy(self, depth: depth), to: Self.self)
    }
}

extension RealmCollection where Element: ObjectBase {
    /// Unmanaged copies of the objects, with copies of what they link to; see `detached(depth:)` of an object.
    ///
    /// - Precondition: No object is deleted or dynamic: look at ``ThreadConfined/isInvalidated``.
    public func detached(depth: Int = .max) -> [Element] {
        let detacher = Detacher()
        return map { unsafeDowncast(detacher.copy($0, depth: depth), to: Element.self) }
    }
}
