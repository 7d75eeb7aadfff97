import FoundationEssentials
import RealmModel

/// Where a value of any kind lies, for the lists and dictionaries in it.
struct AnyValuePlace {
    unowned(unsafe) let accessor: TableAccessor
    let key: Int64
    let declared: Int
    var path: [NestedStep]

    func stepping(_ step: NestedStep) -> AnyValuePlace {
        var place = self
        place.path.append(step)
        return place
    }

    func nested(named name: String) -> NestedPlace {
        NestedPlace(accessor: accessor, key: key, declared: declared, path: path, named: name)
    }
}

extension AnyRealmValue {
    /// Makes a value from its stored form; lists and dictionaries are live where a place is known, else unmanaged copies.
    init(_ stored: StoredValue, in core: RealmCore, at place: AnyValuePlace?) {
        switch stored {
        case .null, .link: self = .none
        case .int(let value): self = .int(Int(value))
        case .bool(let value): self = .bool(value)
        case .float(let value): self = .float(value)
        case .double(let value): self = .double(value)
        case .string(let value): self = .string(value)
        case .data(let value): self = .data(Data(value))
        case .date(let value): self = .date(Date(timeIntervalSinceReferenceDate: value))
        case .objectId(let value): self = .objectId(ObjectId(bytes: value))
        case .uuid(let value): self = .uuid(UUID(value))
        case .decimal(let value): self = .decimal128(Decimal128(value.number))
        case .anyLink(let table, let key):
            guard let name = core.model.schema.schema(of: table)?.name,
                let accessor = core.accessor(className: name) ?? core.registry.dynamicAccessor(className: name),
                let object = accessor.makeObject(key: key) as? Object
            else {
                misuse(
                    "A value links to an object of a class that the configuration's `objectTypes` do not contain: add "
                        + "'\(core.model.schema.schema(of: table)?.name ?? "")' to them."
                )
            }
            self = .object(object)
        case .list(let values):
            if let place {
                self = .list(List(place.nested(named: "List")))
            } else {
                self = .fromArray(values.map { AnyRealmValue($0, in: core, at: nil) })
            }
        case .dictionary(let entries):
            if let place {
                self = .dictionary(Map(place.nested(named: "Map")))
            } else {
                let map = Map<String, AnyRealmValue>()
                for entry in entries {
                    map.updateValue(AnyRealmValue(entry.value, in: core, at: nil), forKey: entry.key)
                }
                self = .dictionary(map)
            }
        }
    }

    /// The stored form.
    ///
    /// - Parameters:
    ///   - depth: How deep the value lies in others.
    ///   - link: Gives the stored form of an object; nil after a failure.
    ///   - refuse: Called with the reason why the value cannot be stored.
    /// - Returns: nil after a failure.
    func stored(
        depth: Int = 0,
        _ link: (Object) -> StoredValue?,
        refuse: (String) -> Void
    ) -> StoredValue? {
        switch self {
        case .list where depth >= MixedFormat.depthLimit, .dictionary where depth >= MixedFormat.depthLimit:
            refuse(Self.depthMessage)
            return nil
        case .none: return .null
        case .int(let value): return .int(Int64(value))
        case .bool(let value): return .bool(value)
        case .float(let value): return .float(value)
        case .double(let value): return .double(value)
        case .string(let value): return .string(value)
        case .data(let value): return .data([UInt8](value))
        case .date(let value): return .date(value.timeIntervalSinceReferenceDate)
        case .object(let value): return link(value)
        case .objectId(let value): return .objectId(value.bytes)
        case .decimal128(let value): return .decimal(DecimalBytes(value.number))
        case .uuid(let value): return .uuid(UUIDBytes(value))
        case .list(let list):
            guard Self.canRead(list, refuse: refuse) else { return nil }
            var values: [StoredValue] = []
            for element in list {
                guard let value = element.stored(depth: depth + 1, link, refuse: refuse) else { return nil }
                values.append(value)
            }
            return .list(values)
        case .dictionary(let map):
            guard Self.canRead(map, refuse: refuse) else { return nil }
            var entries: [StoredEntry] = []
            for (name, element) in map {
                if let problem = Map<String, AnyRealmValue>.problem(of: name) {
                    refuse(problem)
                    return nil
                }
                guard let value = element.stored(depth: depth + 1, link, refuse: refuse) else { return nil }
                entries.append(StoredEntry(key: name, value: value))
            }
            return .dictionary(entries.sortedAndUnique())
        }
    }

    /// Whether a list or dictionary can be gone over; what lies in a realm may have ended, or be another isolation's.
    private static func canRead(_ elements: some ReadableElements, refuse: (String) -> Void) -> Bool {
        guard let place = elements.place, !place.outlivesOwner else { return true }
        do {
            try elements.requireReadable()
            return true
        } catch {
            refuse((error as? Realm.Error)?.message ?? "\(error)")
            return false
        }
    }

    /// Why lists and dictionaries that nest deeper are refused.
    static var depthMessage: String {
        "Lists and dictionaries in an `AnyRealmValue` may nest \(MixedFormat.depthLimit) levels deep."
    }

    /// Why a set does not hold lists and dictionaries.
    static var setMessage: String { "a set of values of any kind holds no lists and dictionaries" }

    /// Whether the value is a list or a dictionary.
    var isCollection: Bool {
        switch self {
        case .list, .dictionary: true
        default: false
        }
    }

    /// The stored form, for a row that is being written: unmanaged objects are added.
    fileprivate func stored(for writer: _RowWriter) -> StoredValue? {
        writer.adding { context in
            if isCollection, writer.isOfSet {
                context.refuse(
                    "\(InputCheck.describe(self)) cannot be an element of '\(writer.propertyDescription)': \(Self.setMessage). "
                        + "Keep it in a List or a Map. For input use `try realm.insert(Person.self, value: values)`, which "
                        + "throws."
                )
                return nil
            }
            let value = context.readValues.isEmpty ? self : replacing(context.readValues)
            return value.stored { object in
                guard let key = context.linkKey(to: object, writer: writer), let accessor = object.tableAccessor
                else { return nil }
                return .anyLink(table: accessor.table.id, key: key)
            } refuse: {
                context.refuse($0)
            }
        }
    }

    /// The stored form of what is there already; nil for objects of another realm or of none.
    func stored(in core: RealmCore) -> StoredValue? {
        stored { object in
            guard object.core === core, let accessor = object.tableAccessor else { return nil }
            return .anyLink(table: accessor.table.id, key: object.rowKey)
        } refuse: { _ in
            // What cannot be stored is nowhere.
        }
    }
}

extension AnyRealmValue: _Persistable {
    /// What the type looks like in the schema.
    public static var _shape: _PropertyShape { _PropertyShape(.any, isOptional: true) }
    /// The value that a property without a default of its own starts with.
    public static func _defaultValue() -> AnyRealmValue { .none }

    /// What tells sections with different keys apart; nil for objects, and for lists and dictionaries that hold one: their places are those of
    /// a file, which only the collection knows.
    ///
    /// Other lists and dictionaries are known by what they hold now.
    public static func _sectionKey(_ value: AnyRealmValue) -> _Stored? {
        value.stored { _ in
            nil
        } refuse: { _ in
            // What cannot be stored is told apart by Swift's equality.
        }
        .map { _Stored($0) }
    }

    /// A key of sections as it is now.
    public static func _keptKey(_ value: AnyRealmValue) -> AnyRealmValue {
        let core: RealmCore?
        switch value {
        case .list(let list): core = list.place?.core
        case .dictionary(let map): core = map.place?.core
        default: return value
        }
        guard let core, let stored = value.stored(in: core) else { return value }
        return AnyRealmValue(stored, in: core, at: nil)
    }

    /// The stored form of a key that is or holds objects of a collection's file; nil for keys without any.
    public static func _linkingKey(_ value: AnyRealmValue, of backing: _CollectionBacking) -> _Stored? {
        switch value {
        case .object, .list, .dictionary: break
        default: return nil
        }
        let file = backing.core.coordinator
        var isLinking = false
        let stored = value.stored { object in
            guard let other = object.core?.coordinator, let accessor = object.tableAccessor,
                other === file || other.isOfSamePath(as: file)
            else { return nil }
            isLinking = true
            return .anyLink(table: accessor.table.id, key: object.rowKey)
        } refuse: { _ in
            // What cannot be stored is in no file.
        }
        return isLinking ? stored.map { _Stored($0) } : nil
    }

    /// The key with such a stored form in the realm of a collection; nil where that does not have the objects' classes.
    public static func _key(linking stored: _Stored, in backing: _CollectionBacking) -> AnyRealmValue? {
        let core = backing.core
        func isKnown(_ value: StoredValue) -> Bool {
            switch value {
            case .anyLink(let table, _): return core.model.schema.schema(of: table) != nil
            case .list(let values): return values.allSatisfy { isKnown($0) }
            case .dictionary(let entries): return entries.allSatisfy { isKnown($0.value) }
            default: return true
            }
        }
        return isKnown(stored.value) ? AnyRealmValue(stored.value, in: core, at: nil) : nil
    }

    /// Reads the property of a managed object.
    public static func _get(_ object: ObjectBase, _ key: UInt32) -> AnyRealmValue {
        let accessor = object.checkedAccessor()
        let declared = Int(key) - 1
        // Nothing of a closed realm is there any more.
        if accessor.core.isClosed, !accessor.mayHave(object.rowKey) { return .none }
        let stored = accessor.core.attempt(or: .null) {
            try accessor.table.value(accessor.ordinals[declared], key: object.rowKey)
        }
        let place = AnyValuePlace(accessor: accessor, key: object.rowKey, declared: declared, path: [])
        return AnyRealmValue(stored, in: accessor.core, at: place)
    }

    /// Writes a value into a row.
    public static func _store(_ value: AnyRealmValue, _ writer: _RowWriter) {
        if let stored = value.stored(for: writer) { writer.setStored(stored) }
    }

    /// The value of a dynamically typed read.
    public static func _boxed(_ value: AnyRealmValue) -> Any? { value }

    /// Converts a dynamically typed value; nil when it does not fit.
    public static func _unboxed(_ value: Any?) -> AnyRealmValue? {
        guard let given = ValueReader.unwrap(value) else { return AnyRealmValue.none }
        let value = ValueReader.foundationValue(given) ?? given
        switch value {
        case let value as AnyRealmValue: return value
        case let value as Bool: return .bool(value)
        case let value as Int: return .int(value)
        case let value as Float: return .float(value)
        case let value as Double: return .double(value)
        case let value as String: return .string(value)
        case let value as Data: return .data(value)
        case let value as Date: return .date(value)
        case let value as Object: return .object(value)
        case let value as ObjectId: return .objectId(value)
        case let value as Decimal128: return .decimal128(value)
        case let value as UUID: return .uuid(value)
        default: break
        }
        if let decimal = ValueReader.decimal(value) { return .decimal128(decimal) }
        if let integer = ValueReader.integer(value) { return Int(exactly: integer).map { .int($0) } }
        if let entries = ValueReader.copiedEntries(of: value) {
            let dictionary = Map<String, AnyRealmValue>()
            for entry in entries {
                guard let element = _unboxed(entry.value) else { return nil }
                dictionary[entry.name] = element
            }
            return .dictionary(dictionary)
        }
        guard let elements = ValueReader.copiedElements(of: value) else { return nil }
        var array: [AnyRealmValue] = []
        for element in elements {
            guard let element = _unboxed(element) else { return nil }
            array.append(element)
        }
        return .fromArray(array)
    }
}

extension AnyRealmValue: RealmCollectionValue {
    /// What an element looks like in the schema.
    public static var _elementShape: _PropertyShape { _shape }
    /// What tells the elements of an unmanaged set apart; nil for objects.
    ///
    /// Lists and dictionaries are known by what they hold when they are put in, as a managed set keeps it, and objects in them by themselves.
    public static func _setKey(_ value: AnyRealmValue) -> _Stored? {
        if case .object = value { return nil }
        return
            value.stored { object in
                .anyLink(table: .max, key: Int64(Int(bitPattern: Unmanaged.passUnretained(object).toOpaque())))
            } refuse: { _ in
                // What cannot be stored is told apart by Swift's equality.
            }
            .map { _Stored($0) }
    }

    /// Makes an element from its stored form.
    public static func _element(_ stored: _Stored, in backing: _CollectionBacking) -> AnyRealmValue {
        AnyRealmValue(stored.value, in: backing.core, at: nil)
    }

    /// Makes an element from its stored form, where a list or dictionary in it lies at the given step.
    public static func _element(
        _ stored: _Stored,
        in backing: _CollectionBacking,
        step: _NestedStep
    ) -> AnyRealmValue {
        AnyRealmValue(stored.value, in: backing.core, at: backing.anyValuePlace?.stepping(step.step))
    }

    /// The element at a position of a managed collection.
    public static func _element(at index: Int, in backing: _CollectionBacking) -> AnyRealmValue {
        _element(backing.stored(at: index), in: backing, step: _NestedStep(.index(index)))
    }

    /// The next element of an iteration.
    public static func _next(_ cursor: _CollectionCursor) -> AnyRealmValue? {
        guard let stored = cursor.nextValue() else { return nil }
        return _element(stored, in: cursor.backing, step: _NestedStep(.index(cursor.valuePosition)))
    }

    /// The stored form of an element; an unmanaged object is added.
    public static func _encodeElement(_ value: AnyRealmValue, _ writer: _RowWriter) -> _Stored? {
        value.stored(for: writer).map { _Stored($0) }
    }

    /// The stored form of an element that is there already; nil for an object of another realm or of none.
    public static func _storedElement(_ value: AnyRealmValue, in backing: _CollectionBacking) -> _Stored? {
        value.stored(in: backing.core).map { _Stored($0) }
    }

    /// Converts a dynamically typed element; nil when it does not fit.
    public static func _unboxedElement(_ value: Any?) -> AnyRealmValue? { _unboxed(value) }
    /// The element of a recording instance's collection.
    public static func _recordingElement() -> AnyRealmValue? { _defaultValue() }
}

extension _CollectionBacking {
    /// Where the elements of a collection of values of any kind lie, while they are not sorted or thinned out.
    var anyValuePlace: AnyValuePlace? {
        guard shape.kind == .any, descriptor.steps.isEmpty else { return nil }
        switch source {
        case .list(let accessor, let key, let property):
            guard let declared = accessor.ordinals.firstIndex(of: property) else { return nil }
            return AnyValuePlace(accessor: accessor, key: key, declared: declared, path: [])
        case .nested(let accessor, let key, let property, let path, _):
            guard let declared = accessor.ordinals.firstIndex(of: property) else { return nil }
            return AnyValuePlace(accessor: accessor, key: key, declared: declared, path: path)
        case .table, .backlinks: return nil
        }
    }
}
