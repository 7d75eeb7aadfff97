import RealmModel

/// Reads what lies in a realm out of the values that an operation is about to write there.
///
/// A list, a dictionary, a value that nests and an embedded object are read where they lie. Of several values that are written one
/// after the other the first may write over what is to be read for the second, as where two lists change places, or take it away,
/// as where an embedded object moves to another property. So all of them are read before the first write. Values that hold nothing
/// of this realm are left as they are.
struct LiveValues {
    unowned(unsafe) let core: RealmCore

    /// Reads what the properties of an object are given.
    func read(_ values: inout [Any??], of info: ModelClass) {
        for property in info.properties where property.ordinal < values.count && !property.isComputed {
            guard let given = values[property.ordinal], let value = given else { continue }
            var seen = Set<ObjectIdentifier>()
            if isLive(value, in: property, &seen) { values[property.ordinal] = .some(plain(value, in: property)) }
        }
    }

    /// Reads an element of a collection.
    func read<Value: RealmCollectionValue>(_ value: Value) -> Value {
        guard let mixed = value as? AnyRealmValue, mixed.isLive(in: core), let read = mixed.read() as? Value else {
            return value
        }
        return read
    }

    // MARK: What objects lead to

    /// A list or dictionary of the realm in a value of any kind, and what it held.
    struct Read {
        /// Kept, for it is known by its identity.
        let live: AnyRealmValue
        let plain: AnyRealmValue
    }

    private struct Found {
        /// Kept, for they are known by their identities, and a type of the program's own may make one each time that it is asked.
        var objects: [ObjectBase] = []
        var seen: Set<ObjectIdentifier> = []
        var values: [ObjectIdentifier: Read] = [:]

        mutating func meet(_ object: ObjectBase) {
            if object.core == nil, seen.insert(ObjectIdentifier(object)).inserted { objects.append(object) }
        }
    }

    /// What the lists and dictionaries of this realm hold that unmanaged objects have in values of any kind.
    ///
    /// The objects themselves are left as they are: an operation that fails leaves them to the program. What cannot be read is left out,
    /// and refused where it is to be written.
    ///
    /// - Parameter given: Objects, and what may lead to some.
    /// - Returns: What was read, by the identities of the lists and dictionaries.
    func values(ledToBy given: [Any]) -> [ObjectIdentifier: Read] {
        var found = Found()
        for value in given { visit(value, &found) }
        var next = 0
        while next < found.objects.count {
            let object = found.objects[next]
            next += 1
            for property in object.modelClass.properties where property.holdsValues {
                if let value = object.readableValue(of: property) { visit(value, &found) }
            }
        }
        return found.values
    }

    /// The same for what the properties of an object are given.
    func values(ledToBy given: [Any??], of info: ModelClass) -> [ObjectIdentifier: Read] {
        var held: [Any] = []
        for property in info.properties where property.holdsValues && property.ordinal < given.count {
            if let value = given[property.ordinal], let value { held.append(value) }
        }
        return values(ledToBy: held)
    }

    private func visit(_ given: Any, _ found: inout Found) {
        guard let value = ValueReader.unwrap(given), !ValueReader.isScalar(type(of: value)) else { return }
        if let object = ValueReader.object(value) { return found.meet(object) }
        if let mixed = value as? AnyRealmValue { return visit(mixed: mixed, &found, depth: 0) }
        if let stored = PredicateFormat.embedded(value) { return found.meet(stored) }
        /// Goes over all elements.
        func visitElement(_ element: Any) -> Bool {
            visit(element, &found)
            return false
        }
        if let elements = value as? any HeldElements {
            _ = elements.holds { visitElement($0) }
        } else {
            _ = holds(unmanaged: value) { visitElement($0) }
        }
    }

    private func visit(mixed: AnyRealmValue, _ found: inout Found, depth: Int) {
        // What nests deeper is refused.
        guard depth < MixedFormat.depthLimit else { return }
        switch mixed {
        case .object(let object): found.meet(object)
        case .list(let list):
            if let place = list.place {
                if isReadable(list, at: place) {
                    found.values[ObjectIdentifier(list)] = Read(live: mixed, plain: mixed.read())
                }
            } else {
                for element in list.unmanaged { visit(mixed: element, &found, depth: depth + 1) }
            }
        case .dictionary(let map):
            if let place = map.place {
                if isReadable(map, at: place) {
                    found.values[ObjectIdentifier(map)] = Read(live: mixed, plain: mixed.read())
                }
            } else {
                for element in map.values { visit(mixed: element, &found, depth: depth + 1) }
            }
        default: break
        }
    }

    private func isReadable(_ elements: some ReadableElements, at place: ListPlace) -> Bool {
        guard place.core === core else { return false }
        do {
            try elements.requireReadable()
            return true
        } catch { return false }
    }

    // MARK: Whether there is something to read

    /// Whether what a property is given lies in this realm, or holds what does.
    ///
    /// What was seen are unmanaged objects: they may lead back to themselves.
    private func isLive(_ given: Any, in property: ModelProperty, _ seen: inout Set<ObjectIdentifier>) -> Bool {
        guard property.holdsValues else {
            // Numbers and texts are what they are, and so are the elements of an array of them.
            return property.isCollection && liesInRealm(given)
        }
        guard property.isCollection, let value = ValueReader.unwrap(given) else {
            return isLive(element: given, of: property, &seen)
        }
        if let elements = value as? any HeldElements {
            return elements.holds { isLive(element: $0, of: property, &seen) }
        }
        return liesInRealm(value) || holds(unmanaged: value) { isLive(element: $0, of: property, &seen) }
    }

    /// The same for a value or an element of a property of objects, or of values of any kind.
    private func isLive(element given: Any, of property: ModelProperty, _ seen: inout Set<ObjectIdentifier>) -> Bool {
        if property.shape.kind == .any { return isLive(any: given) }
        guard let value = ValueReader.unwrap(given), !ValueReader.isScalar(type(of: value)) else { return false }
        if let object = ValueReader.object(value) { return isLive(object: object, &seen) }
        guard let target = target(of: property, for: value),
            let values = ValueReader.values(of: value, for: target)
        else { return false }
        return target.properties.contains { property in
            guard property.ordinal < values.count, let given = values[property.ordinal], let value = given else {
                return false
            }
            return isLive(value, in: property, &seen)
        }
    }

    /// The same for a value of any kind; an object is linked to there, and not read.
    private func isLive(any given: Any) -> Bool {
        guard let value = ValueReader.unwrap(given), !ValueReader.isScalar(type(of: value)) else { return false }
        if let mixed = value as? AnyRealmValue { return mixed.isLive(in: core) }
        if let elements = value as? any HeldElements { return elements.holds { isLive(any: $0) } }
        if ValueReader.isWhole(value) { return false }
        return liesInRealm(value) || holds(unmanaged: value) { isLive(any: $0) }
    }

    /// The class of the object that is made of a dictionary or an array; nil where none is made of a value.
    private func target(of property: ModelProperty, for value: Any) -> ModelClass? {
        // A type of the program's own may be an array.
        guard ValueReader.isComposite(value), !(value is any _Persistable) else { return nil }
        return property.declaredTarget ?? core.registry.dynamicAccessor(className: property.targetName)?.info
    }

    /// Whether an object is a part of another one of this realm, or an unmanaged one that leads to such a part.
    ///
    /// Other objects of a realm are linked to, and not read.
    private func isLive(object: ObjectBase, _ seen: inout Set<ObjectIdentifier>) -> Bool {
        if object.core != nil { return object.core === core && object.tableAccessor?.info.isEmbedded == true }
        guard seen.insert(ObjectIdentifier(object)).inserted else { return false }
        return object.modelClass.properties.contains { property in
            guard property.holdsValues, let value = object.readableValue(of: property) else { return false }
            return isLive(value, in: property, &seen)
        }
    }

    /// Whether a value is a collection that is read where it lies: one of this realm, or a sequence that may look into one.
    private func liesInRealm(_ value: Any) -> Bool {
        if value is any HeldElements { return false }
        if let collection = value as? any RealmCollection { return collection._backing?.core === core }
        if let map = value as? any RealmKeyedCollection { return map._backing?.core === core }
        // Texts, data and types of the program's own may be sequences, and are values.
        return value is any Sequence && !(value is any _Persistable)
    }

    /// Whether a condition holds for one of the elements of an unmanaged collection of the library's.
    private func holds(unmanaged value: Any, _ condition: (Any) -> Bool) -> Bool {
        func holdsOne<Elements: Sequence>(_ elements: Elements) -> Bool { elements.contains { condition($0) } }
        func holdsInValues<Entries: RealmKeyedCollection>(_ map: Entries) -> Bool { holdsOne(map.values) }
        if let collection = value as? any RealmCollection { return collection._backing == nil && holdsOne(collection) }
        if let map = value as? any RealmKeyedCollection { return map._backing == nil && holdsInValues(map) }
        return false
    }

    // MARK: Reading

    /// What a property is given, with what lies in this realm read: names and values for objects and dictionaries, arrays for lists.
    private func plain(_ given: Any?, in property: ModelProperty) -> Any? {
        guard let value = ValueReader.unwrap(given) else { return nil }
        if !property.isCollection { return plain(element: value, of: property) }
        let reads = property.holdsValues
        if let entries = ValueReader.copiedEntries(of: value) {
            if !reads { return ValueReader.Entries(entries) }
            return ValueReader.Entries(entries.map { (name: $0.name, value: plain(element: $0.value, of: property)) })
        }
        guard let elements = ValueReader.copiedElements(of: value) else { return value }
        let plainElements: [Any?] = reads ? elements.map { plain(element: $0, of: property) } : elements
        return plainElements
    }

    private func plain(element given: Any?, of property: ModelProperty) -> Any? {
        if property.shape.kind == .any { return plain(any: given) }
        guard let value = ValueReader.unwrap(given) else { return nil }
        var seen = Set<ObjectIdentifier>()
        if let object = ValueReader.object(value) {
            return isLive(object: object, &seen) ? entries(of: object) : object
        }
        guard let target = target(of: property, for: value), isLive(element: value, of: property, &seen),
            let values = ValueReader.values(of: value, for: target)
        else { return value }
        // A name that no property has is no part of an object.
        let entries = target.properties.compactMap { property -> (name: String, value: Any?)? in
            guard property.ordinal < values.count, let given = values[property.ordinal] else { return nil }
            return (name: property.name, value: plain(given, in: property))
        }
        return ValueReader.Entries(entries, className: ValueReader.className(of: value))
    }

    private func plain(any given: Any?) -> Any? {
        guard let value = ValueReader.unwrap(given) else { return nil }
        if let mixed = value as? AnyRealmValue { return mixed.read() }
        if ValueReader.isWhole(value) { return value }
        if let entries = ValueReader.copiedEntries(of: value) {
            return ValueReader.Entries(entries.map { (name: $0.name, value: plain(any: $0.value)) })
        }
        guard let elements = ValueReader.copiedElements(of: value) else { return value }
        let plainElements: [Any?] = elements.map { plain(any: $0) }
        return plainElements
    }

    /// The values of an object that is copied, with its class, which still has to be that of the property.
    private func entries(of object: ObjectBase) -> ValueReader.Entries {
        let info = object.modelClass
        let entries = info.properties.filter { !$0.isComputed }
            .map { (name: $0.name, value: plain($0.value(in: object), in: $0)) }
        return ValueReader.Entries(entries, className: info.name)
    }
}

extension ModelProperty {
    /// Whether a value, or an element, can be something that lies in a realm, or leads to it.
    fileprivate var holdsValues: Bool { !isComputed && (shape.kind == .object || shape.kind == .any) }
}

extension AnyRealmValue {
    /// Whether it is a list or dictionary of a realm, or holds one.
    fileprivate func isLive(in core: RealmCore, depth: Int = 0) -> Bool {
        // What nests deeper is refused.
        guard depth < MixedFormat.depthLimit else { return false }
        switch self {
        case .list(let list):
            if let place = list.place { return place.core === core }
            return list.unmanaged.contains { $0.isLive(in: core, depth: depth + 1) }
        case .dictionary(let map):
            if let place = map.place { return place.core === core }
            return map.values.contains { $0.isLive(in: core, depth: depth + 1) }
        default: return false
        }
    }

    /// The same with unmanaged lists and dictionaries.
    fileprivate func read(depth: Int = 0) -> AnyRealmValue {
        guard depth < MixedFormat.depthLimit else { return self }
        switch self {
        case .list(let list):
            let elements = Array(list)
            if elements.isEmpty { list.place?.checkContents() }
            return .fromArray(elements.map { $0.read(depth: depth + 1) })
        case .dictionary(let map):
            if map.isEmpty { map.place?.checkContents() }
            let copy = Map<String, AnyRealmValue>()
            for (name, value) in map { copy.updateValue(value.read(depth: depth + 1), forKey: name) }
            return .dictionary(copy)
        default: return self
        }
    }
}

extension AnyRealmValue {
    /// The value with what was read in the place of lists and dictionaries of a realm.
    func replacing(_ read: [ObjectIdentifier: LiveValues.Read], depth: Int = 0) -> AnyRealmValue {
        guard depth < MixedFormat.depthLimit else { return self }
        switch self {
        case .list(let list):
            if list.place != nil { return read[ObjectIdentifier(list)]?.plain ?? self }
            return .fromArray(list.unmanaged.map { $0.replacing(read, depth: depth + 1) })
        case .dictionary(let map):
            if map.place != nil { return read[ObjectIdentifier(map)]?.plain ?? self }
            let copy = Map<String, AnyRealmValue>()
            for (name, value) in map { copy.updateValue(value.replacing(read, depth: depth + 1), forKey: name) }
            return .dictionary(copy)
        default: return self
        }
    }
}

extension ModelClass {
    /// Whether an object of the class can lead to a value of any kind: by a property of its own, or across links.
    var leadsToValues: Bool {
        var seen: Set<ObjectIdentifier> = [ObjectIdentifier(self)]
        var classes: [ModelClass] = [self]
        while let info = classes.popLast() {
            for property in info.properties where property.holdsValues {
                if property.shape.kind == .any { return true }
                // What a dynamic class links to is not looked for.
                guard let target = property.declaredTarget else { return true }
                if seen.insert(ObjectIdentifier(target)).inserted { classes.append(target) }
            }
        }
        return false
    }
}

/// A value of the standard library that has its elements in itself.
private protocol HeldElements {
    /// Whether a condition holds for one of the elements.
    func holds(_ condition: (Any) -> Bool) -> Bool
}

extension Array: HeldElements {
    fileprivate func holds(_ condition: (Any) -> Bool) -> Bool { contains { condition($0) } }
}

extension Set: HeldElements {
    fileprivate func holds(_ condition: (Any) -> Bool) -> Bool { contains { condition($0) } }
}

extension Dictionary: HeldElements {
    fileprivate func holds(_ condition: (Any) -> Bool) -> Bool { values.contains { condition($0) } }
}

extension ValueReader.Entries: HeldElements {
    fileprivate func holds(_ condition: (Any) -> Bool) -> Bool {
        entries.contains { $0.value.map { condition($0) } ?? false }
    }
}
