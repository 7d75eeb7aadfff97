import RealmModel

/// The equality of embedded objects that values of the program's own are stored as: property by property, as predicates have it.
///
/// Numbers and strings are equal where they have one place in the order, collections where their elements are, embedded objects in
/// them likewise; other objects are those of the same row.
enum EmbeddedEquality {
    /// How deep embedded objects are compared; below that an object is equal to itself only, as in a ring of unmanaged ones.
    private static let depthLimit = 100
    /// How deep they are hashed, where objects that are shared below would be hashed again for each way to them.
    private static let hashedDepth = 4

    static func areEqual(_ left: ObjectBase, _ right: ObjectBase) -> Bool { areEqual(left, right, depth: 0) }

    /// Hashes what is the same for equal objects; of collections it is the number of their elements.
    static func hash(_ object: ObjectBase, into hasher: inout Hasher) { hash(object, into: &hasher, depth: 0) }

    private static func areEqual(_ left: ObjectBase, _ right: ObjectBase, depth: Int) -> Bool {
        if left === right { return true }
        let info = left.modelClass
        guard info.type == right.modelClass.type else { return false }
        if depth == depthLimit { return left.isSameObject(as: right) }
        return info.properties.allSatisfy { property in
            property.isComputed || areEqual(property.value(in: left), property.value(in: right), depth: depth + 1)
        }
    }

    private static func hash(_ object: ObjectBase, into hasher: inout Hasher, depth: Int) {
        if depth == hashedDepth { return hasher.combine(1) }
        for property in object.modelClass.properties where !property.isComputed {
            hash(property.value(in: object), into: &hasher, depth: depth + 1)
        }
    }

    private static func areEqual(_ left: Any?, _ right: Any?, depth: Int) -> Bool {
        switch (ValueReader.unwrap(left), ValueReader.unwrap(right)) {
        case (nil, nil): return true
        case (let left as EmbeddedObject, let right as EmbeddedObject):
            return areEqual(left as ObjectBase, right, depth: depth)
        case (let left as ObjectBase, let right as ObjectBase): return left.isSameObject(as: right)
        case (let left as any RealmKeyedCollection, let right as any RealmKeyedCollection):
            let (one, other) = (entries(of: left), entries(of: right))
            return one.count == other.count
                && one.allSatisfy { name, value in other[name].map { areEqual(value, $0, depth: depth) } ?? false }
        case (let left as any RealmCollection, let right as any RealmCollection):
            let (one, other) = (elements(of: left), elements(of: right))
            guard one.count == other.count else { return false }
            guard left is any Unordered else { return zip(one, other).allSatisfy { areEqual($0, $1, depth: depth) } }
            // An unmanaged set has its elements in the order of insertion.
            let (values, others) = (one.compactMap(element), other.compactMap(element))
            if values.count == one.count, others.count == other.count { return Set(values) == Set(others) }
            return one.allSatisfy { element in other.contains { areEqual(element, $0, depth: depth) } }
        case (let left?, let right?):
            guard let one = stored(left), let other = stored(right) else {
                return left as? AnyHashable == right as? AnyHashable
            }
            return one == other
        default: return false
        }
    }

    private static func hash(_ value: Any?, into hasher: inout Hasher, depth: Int) {
        switch ValueReader.unwrap(value) {
        case nil: hasher.combine(0)
        case let object as EmbeddedObject: hash(object as ObjectBase, into: &hasher, depth: depth)
        // An object that is added to a realm meanwhile stays the one that it was.
        case is ObjectBase: hasher.combine(1)
        case let map as any RealmKeyedCollection: hasher.combine(map.count)
        case let collection as any RealmCollection: hasher.combine(collection.count)
        case let value?: if let stored = stored(value) { hasher.combine(stored) } else { hasher.combine(2) }
        }
    }

    /// The stored form of an element of a set, null for nil; nil for objects.
    private static func element(_ element: Any?) -> StoredValue? {
        ValueReader.unwrap(element).map(stored) ?? .null
    }

    /// The stored form of a value; nil for objects, and for lists and dictionaries in values of any kind, which may hold one.
    private static func stored(_ value: Any) -> StoredValue? {
        if let value = value as? AnyRealmValue, value.isCollection { return nil }
        guard let value = value as? any _Persistable else { return nil }
        func stored<Value: _Persistable>(_ value: Value) -> StoredValue? { Value._sectionKey(value)?.value }
        return stored(value)
    }

    private static func elements(of collection: any RealmCollection) -> [Any?] {
        func boxed<Elements: RealmCollection>(_ elements: Elements) -> [Any?] {
            elements.map { Elements.Element._boxedElement($0) }
        }
        return boxed(collection)
    }

    private static func entries(of map: any RealmKeyedCollection) -> [TextKey: Any?] {
        func boxed<Entries: RealmKeyedCollection>(_ map: Entries) -> [TextKey: Any?] {
            var result: [TextKey: Any?] = [:]
            for (key, value) in zip(map.keys, map.values) {
                result.updateValue(Entries.Value._boxedElement(value), forKey: TextKey(Entries.Key._name(key)))
            }
            return result
        }
        return boxed(map)
    }
}

/// A collection whose order says nothing.
private protocol Unordered {}
extension MutableSet: Unordered {}
