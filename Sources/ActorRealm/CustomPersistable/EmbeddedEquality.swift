import RealmModel

/// The equality of embedded objects that values of the program's own are stored as: property by property, as predicates have it.
///
/// Numbers and strings are equal where they have one place in the order, collections where their elements are, embedded objects in
/// them likewise; other objects are those of the same row.
enum EmbeddedEquality {
    static func areEqual(_ left: ObjectBase, _ right: ObjectBase) -> Bool {
        if left === right { return true }
        let info = left.modelClass
        guard info.type == right.modelClass.type else { return false }
        return info.properties.allSatisfy { property in
            property.isComputed || areEqual(property.value(in: left), property.value(in: right))
        }
    }

    /// Hashes what is the same for equal objects; of collections it is the number of their elements.
    static func hash(_ object: ObjectBase, into hasher: inout Hasher) {
        for property in object.modelClass.properties where !property.isComputed {
            hash(property.value(in: object), into: &hasher)
        }
    }

    private static func areEqual(_ left: Any?, _ right: Any?) -> Bool {
        switch (ValueReader.unwrap(left), ValueReader.unwrap(right)) {
        case (nil, nil): return true
        case (let left as EmbeddedObject, let right as EmbeddedObject): return areEqual(left as ObjectBase, right)
        case (let left as ObjectBase, let right as ObjectBase): return left.isSameObject(as: right)
        case (let left as any RealmKeyedCollection, let right as any RealmKeyedCollection):
            let (one, other) = (entries(of: left), entries(of: right))
            return one.count == other.count
                && one.allSatisfy { name, value in other[name].map { areEqual(value, $0) } ?? false }
        case (let left as any RealmCollection, let right as any RealmCollection):
            let (one, other) = (elements(of: left), elements(of: right))
            guard one.count == other.count else { return false }
            // An unmanaged set has its elements in the order of insertion.
            if left is any Unordered {
                return one.allSatisfy { element in other.contains { areEqual(element, $0) } }
            }
            return zip(one, other).allSatisfy { areEqual($0, $1) }
        case (let left?, let right?):
            guard let one = stored(left), let other = stored(right) else {
                return left as? AnyHashable == right as? AnyHashable
            }
            return one == other
        default: return false
        }
    }

    private static func hash(_ value: Any?, into hasher: inout Hasher) {
        switch ValueReader.unwrap(value) {
        case nil: hasher.combine(0)
        case let object as EmbeddedObject: hash(object as ObjectBase, into: &hasher)
        // An object that is added to a realm meanwhile stays the one that it was.
        case is ObjectBase: hasher.combine(1)
        case let map as any RealmKeyedCollection: hasher.combine(map.count)
        case let collection as any RealmCollection: hasher.combine(elements(of: collection).count)
        // One number may be of several types.
        case is AnyRealmValue: hasher.combine(2)
        // As Swift has it: a type may bring an equality of its own, and take spellings of one text for the same.
        case let value?: hasher.combine(value as? AnyHashable)
        }
    }

    /// The stored form of a value; nil for objects, and for values of any kind that hold one.
    private static func stored(_ value: Any) -> StoredValue? {
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
