import RealmModel

/// Copies objects out of their realm, with what they link to.
///
/// Objects are copied from work lists, so that neither long chains nor cycles of links recurse; an object that is
/// reached twice has one copy. All objects so many links away are filled before those that are farther away: each is met
/// first on the shortest way to it, which leaves it the greatest depth.
final class Detacher {
    /// A row of one table of one version, in one realm.
    private struct Identity: Hashable {
        let table: ObjectIdentifier
        let key: Int64
    }

    private struct Pending {
        let source: ObjectBase
        let copy: ObjectBase
    }

    private var managed: [Identity: ObjectBase] = [:]
    private var unmanaged: [ObjectIdentifier: ObjectBase] = [:]
    /// What is as far away as what is being filled: embedded objects are a part of their owner.
    private var pending: [Pending] = []
    /// What is one link farther away.
    private var farther: [Pending] = []
    /// How many links more are followed from what is being filled.
    private var depth = 0

    /// Copies objects, and what can be reached from one of them by at most so many links.
    func copies<Copied: ObjectBase>(of objects: some Sequence<Copied>, depth: Int) -> [Copied] {
        self.depth = depth
        let copies = objects.map { unsafeDowncast(start($0), to: Copied.self) }
        while !pending.isEmpty {
            var next = 0
            while next < pending.count {
                fill(pending[next])
                next += 1
            }
            pending = farther
            farther = []
            self.depth -= 1
        }
        return copies
    }

    private func start(_ object: ObjectBase) -> ObjectBase {
        if object is DynamicObject {
            misuse(
                "A `DynamicObject` has no form outside of its realm: read it as an object of its class to detach it."
            )
        }
        // The copy of what a closed realm held is empty.
        if object.isInvalidated, !(object.core?.isClosed ?? false) {
            misuse("Object has been deleted or invalidated: it cannot be detached.")
        }
        return register(object, in: &pending)
    }

    private func register(_ object: ObjectBase, in list: inout [Pending]) -> ObjectBase {
        if let accessor = object.tableAccessor {
            let identity = Identity(table: ObjectIdentifier(accessor.table), key: object.rowKey)
            if let known = managed[identity] { return known }
            let copy = type(of: object).init()
            managed[identity] = copy
            list.append(Pending(source: object, copy: copy))
            return copy
        }
        if let known = unmanaged[ObjectIdentifier(object)] { return known }
        let copy = type(of: object).init()
        unmanaged[ObjectIdentifier(object)] = copy
        list.append(Pending(source: object, copy: copy))
        return copy
    }

    /// The copy of a link's target; nil beyond the depth.
    private func target(_ object: ObjectBase) -> ObjectBase? {
        if object is EmbeddedObject { return register(object, in: &pending) }
        return depth > 0 ? register(object, in: &farther) : nil
    }

    private func fill(_ item: Pending) {
        for property in item.source.modelClass.properties where !property.isComputed {
            let value = property.value(in: item.source)
            if let any = value as? AnyRealmValue {
                property.assign(copied(any), to: item.copy)
                continue
            }
            guard property.shape.target != nil || property.shape.kind == .any else {
                property.assign(value, to: item.copy)
                continue
            }
            if let object = value as? ObjectBase {
                property.assign(target(object), to: item.copy)
            } else if let value, let entries = ValueReader.entries(of: value) {
                let copies = entries.map { (name: $0.name, value: element($0.value)) }
                // Where nil is no value, what lies beyond the depth has no entry.
                let kept = property.shape.isOptional ? copies : copies.filter { $0.value != nil }
                property.assign(ValueReader.Entries(kept), to: item.copy)
            } else if let value, let elements = ValueReader.elements(of: value) {
                let isAny = property.shape.kind == .any
                let copies = elements.map { element($0) }
                property.assign(isAny ? copies : copies.filter { $0 != nil }, to: item.copy)
            } else if value != nil {
                // A type of the program's own that is stored as an embedded object.
                property.assign(value, to: item.copy)
            }
        }
    }

    private func element(_ value: Any?) -> Any? {
        switch value {
        case let object as ObjectBase: target(object)
        case let any as AnyRealmValue: copied(any)
        default: value
        }
    }

    private func copied(_ map: Map<String, AnyRealmValue>) -> Map<String, AnyRealmValue> {
        if map.isEmpty { map.place?.checkContents() }
        let copy = Map<String, AnyRealmValue>()
        for (name, value) in map { copy[name] = copied(value) }
        return copy
    }

    /// A value of any kind with copies of the objects in it; none in the place of those beyond the depth.
    private func copied(_ value: AnyRealmValue) -> AnyRealmValue {
        switch value {
        case .object(let object): return (target(object) as? Object).map { .object($0) } ?? .none
        case .list(let list):
            if list.isEmpty { list.place?.checkContents() }
            return .fromArray(list.map { copied($0) })
        case .dictionary(let map): return .dictionary(copied(map))
        default: return value
        }
    }
}

extension ThreadConfined where Self: ObjectBase {
    /// An unmanaged copy of the object, with copies of what it links to.
    ///
    /// The copy can be changed freely, encoded, and added to any realm. Cycles stay cycles; an object that is linked to
    /// twice is copied once.
    ///
    /// - Parameter depth: How many links away objects are copied, on the shortest way to them; links beyond are nil, and lists
    ///   of them empty. Dictionaries keep the names of links beyond, with nil, where their objects are optional. Embedded objects
    ///   are always copied with their owner.
    /// - Returns: The copy.
    /// - Precondition: No object is deleted or dynamic, nor is the owner of a list or dictionary that one has in a value of any kind:
    ///   look at ``ThreadConfined/isInvalidated``.
    public func detached(depth: Int = .max) -> Self {
        Detacher().copies(of: CollectionOfOne(self), depth: depth)[0]
    }
}

extension RealmCollection where Element: ObjectBase {
    /// Unmanaged copies of the objects, with copies of what they link to; see `detached(depth:)` of an object.
    ///
    /// Each of them is copied with what lies within the depth of it; an object that is linked to by several is copied once.
    ///
    /// - Precondition: No object is deleted or dynamic, nor is the owner of a list or dictionary that one has in a value of any kind:
    ///   look at ``ThreadConfined/isInvalidated``.
    public func detached(depth: Int = .max) -> [Element] {
        Detacher().copies(of: self, depth: depth)
    }
}
