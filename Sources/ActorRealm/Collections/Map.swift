import RealmModel

/// A collection of named objects or values that a property holds.
///
/// A map belongs to the object whose property it is. While that is unmanaged, the map is like a dictionary; once it is
/// managed, the map reads from and writes to the realm, and writing needs a write transaction. The entries of a managed
/// map ascend by the bytes of their names. Objects are optional values: the deletion of one leaves its name with nil. In a map
/// whose objects are not optional it takes the name away.
///
/// ```swift
/// class Person: Object {
///     @Persisted var scores: Map<String, Int>
///     @Persisted var pets: Map<String, Dog?>
/// }
/// person.scores["chess"] = 1_600
/// ```
/// Looking for a name costs O(log n). Names may not contain a dot, begin with `$`
/// or have more than 65,535 bytes.
public final class Map<Key: _MapKey, Value: RealmCollectionValue>: RealmKeyedCollection {
    /// One entry.
    public typealias Element = (key: Key, value: Value)

    /// The entries of an unmanaged map, whose names differ by their bytes as those of a managed one do.
    private var unmanaged: [TextKey: Value] = [:]
    /// Where a managed map is.
    private(set) var place: ListPlace?
    /// Set on maps of recording instances.
    let isRecording: Bool

    /// Creates an unmanaged, empty map.
    public init() { isRecording = false }

    init(recording: Bool) { isRecording = recording }

    init(_ place: ListPlace) {
        self.place = place
        isRecording = false
    }

    /// Makes the map read from a row that now has its entries.
    func manage(_ place: ListPlace) {
        self.place = place
        unmanaged = [:]
    }

    /// What stands behind a managed collection, its values; nil for an unmanaged one.
    public var _backing: _CollectionBacking? { place?.backing }

    func managed(_ operation: String) -> _CollectionBacking {
        guard let place else {
            misuse("\(operation) is only supported on managed collections. Add the object to a Realm first.")
        }
        return place.backing
    }

    // MARK: Entries

    /// The number of entries.
    ///
    /// There are none where the owner was deleted. Damage ends the process here: `requireReadable()` throws both before.
    public var count: Int { place?.mapCount ?? unmanaged.count }

    /// Whether there are no entries.
    public var isEmpty: Bool { count == 0 }

    /// The names, ascending as bytes in a managed map.
    public var keys: [Key] {
        guard let place else { return unmanaged.keys.map { Key._key(named: $0.text) } }
        return place.entries().map { Key._key(named: $0.key) }
    }

    /// The values, in the order of the names.
    public var values: [Value] {
        guard place != nil else { return Array(unmanaged.values) }
        return entries().map(\.value)
    }

    private func entries() -> [Element] {
        guard let place else { return unmanaged.map { (Key._key(named: $0.key.text), $0.value) } }
        let backing = place.backing
        return place.entries()
            .map { entry in
                let step = _NestedStep(.name(entry.key))
                return (Key._key(named: entry.key), Value._element(_Stored(entry.value), in: backing, step: step))
            }
    }

    /// The value of a name; nil when there is none, and set to nil to remove it.
    ///
    /// - Precondition: A write transaction is open, and the owner exists: look at ``Realm/isInWriteTransaction`` and
    ///   ``isInvalidated``. A name from outside has no dot in it, does not begin with `$`, and has at most 65,535
    ///   bytes; ``ObjectBase/setValues(_:ignoringUnknownKeys:)`` of the owner throws.
    public subscript(_ key: Key) -> Value? {
        get {
            guard let place else {
                if isRecording { return PathRecorder.element(Value.self, .name(Key._name(key))) }
                return unmanaged[TextKey(Key._name(key))]
            }
            let name = Key._name(key)
            return place.value(forName: name)
                .map { Value._element(_Stored($0), in: place.backing, step: _NestedStep(.name(name))) }
        }
        set {
            if let newValue { updateValue(newValue, forKey: key) } else { removeObject(for: key) }
        }
    }

    /// The value of a name as a dynamically typed one.
    public func object(forKey key: Key) -> Any? { self[key].flatMap { Value._boxedElement($0) } }

    /// The value of a name as a dynamically typed one; nil when there is none.
    public func value(forKey key: String) -> Any? { object(forKey: Key._key(named: key)) }

    /// The value at the end of a path that begins with a name; or what an operator makes of the values: `@count`, `@min.age`,
    /// `@max.age`, `@sum.age`, `@avg.age`, `@allKeys` and `@allValues`.
    ///
    /// - Precondition: The objects have such properties.
    ///   For names from outside ``requireReadable(properties:)`` throws.
    public func value(forKeyPath keyPath: String) -> Any? {
        let names = ValuePath.names(keyPath)
        let rest = names.dropFirst()
        guard let first = names.first, first.hasPrefix("@") else {
            return ValuePath.value(of: names.first.flatMap { value(forKey: $0) }, along: rest)
        }
        if let operation = ValuePath.aggregate(first) {
            return ValuePath.result(aggregate(operation, rest.joined(separator: ".")), of: operation)
        }
        switch first {
        case "@count": return count
        case "@allKeys": return keys.map { Key._name($0) }
        case "@allValues": return values.map { Value._boxedElement($0) } as [Any?]
        default:
            let message =
                "Unsupported collection operation '\(first)' of a map: use @count, @min, @max, @sum, @avg, @allKeys or @allValues."
            guard let place else { misuse(message) }
            place.mistake(message)
            return nil
        }
    }

    /// Sets the value of a name to a dynamically typed one; nil removes it.
    ///
    /// - Precondition: The value is of the map's type.
    ///   A write transaction is open, and the owner exists: look at ``Realm/isInWriteTransaction`` and
    ///   ``isInvalidated``. A name from outside has no dot in it, does not begin with `$`, and has at most 65,535
    ///   bytes; ``ObjectBase/setValues(_:ignoringUnknownKeys:)`` of the owner throws.
    public func setValue(_ value: Any?, forKey key: String) {
        let name = Key._key(named: key)
        guard let value = ValueReader.unwrap(value) else { return removeObject(for: name) }
        guard let value = Value._unboxedElement(value) else {
            let message =
                "Invalid value '\(InputCheck.text(of: value))' of type '\(type(of: value))' for Map<String, \(Value.self)>."
            guard let place else { misuse(message) }
            return place.mistake(message)
        }
        updateValue(value, forKey: name)
    }

    /// Sets the value of a name.
    ///
    /// - Precondition: A write transaction is open, and the owner exists: look at ``Realm/isInWriteTransaction`` and
    ///   ``isInvalidated``. A name from outside has no dot in it, does not begin with `$`, and has at most 65,535
    ///   bytes; ``ObjectBase/setValues(_:ignoringUnknownKeys:)`` of the owner throws.
    public func updateValue(_ value: Value, forKey key: Key) {
        let name = Key._name(key)
        if let problem = Self.problem(of: name) {
            guard let place else { misuse(problem) }
            return place.core.isClosed ? () : place.mistake(problem)
        }
        guard let place else {
            unmanaged[TextKey(name)] = value
            return
        }
        guard let writer = place.writer() else { return }
        guard let stored = Value._encodeElement(value, writer) else { return }
        place.set(stored.value, forName: name)
        writer.finish()
    }

    /// Why a name is refused, if it is.
    static func problem(of name: String) -> String? {
        if name.utf8.count > MapFormat.keyByteLimit {
            return "A key of a Map has at most \(MapFormat.keyByteLimit) bytes, and this one has \(name.utf8.count)."
        }
        if name.contains(".") || name.hasPrefix("$") {
            return
                "Invalid key '\(name)' for Map: a key may not contain '.' nor begin with '$', because key paths could not "
                + "name it. Use another spelling."
        }
        return nil
    }

    /// The name of an entry that is being written; nil after a failure of the writer's operation.
    private static func name(_ key: Key, _ writer: _RowWriter) -> String? {
        let name = Key._name(key)
        guard let problem = problem(of: name) else { return name }
        if let context = writer.context { context.refuse(problem) } else { writer.accessor.core.mistake(problem) }
        return nil
    }

    /// An entry as it is stored; nil after a failure of the writer's operation.
    static func entry(_ key: Key, _ value: _Stored, _ writer: _RowWriter) -> StoredEntry? {
        name(key, writer).map { StoredEntry(key: $0, value: value.value) }
    }

    /// Removes an entry, if it is there.
    ///
    /// The object itself stays in the realm, unless it is embedded.
    ///
    /// - Precondition: A write transaction is open, and the owner exists: look at ``Realm/isInWriteTransaction`` and
    ///   ``isInvalidated``.
    public func removeObject(for key: Key) {
        guard let place else {
            unmanaged[TextKey(Key._name(key))] = nil
            return
        }
        guard let writer = place.writer() else { return }
        place.remove(name: Key._name(key))
        writer.finish()
    }

    /// Removes all entries.
    ///
    /// - Precondition: A write transaction is open, and the owner exists: look at ``Realm/isInWriteTransaction`` and
    ///   ``isInvalidated``.
    public func removeAll() {
        guard let place else {
            unmanaged.removeAll()
            return
        }
        guard let writer = place.writer() else { return }
        place.removeAll()
        writer.finish()
    }

    /// Puts entries in, asking what to keep for names that are there already.
    ///
    /// When the closure throws, nothing has changed.
    ///
    /// - Precondition: A write transaction is open, and the owner exists: look at ``Realm/isInWriteTransaction`` and
    ///   ``isInvalidated``. A name from outside has no dot in it, does not begin with `$`, and has at most 65,535
    ///   bytes; ``ObjectBase/setValues(_:ignoringUnknownKeys:)`` of the owner throws.
    public func merge<Entries: Sequence>(
        _ entries: Entries,
        uniquingKeysWith combine: (Value, Value) throws -> Value
    ) rethrows where Entries.Element == (key: Key, value: Value) {
        var merged: [Element] = []
        var positions: [TextKey: Int] = [:]
        for (key, value) in entries {
            let name = TextKey(Key._name(key))
            if let position = positions[name] {
                merged[position].value = try combine(merged[position].value, value)
            } else if let old = self[key] {
                positions[name] = merged.count
                merged.append((key: key, value: try combine(old, value)))
            } else {
                positions[name] = merged.count
                merged.append((key: key, value: value))
            }
        }
        if merged.isEmpty { return }
        guard let place else {
            for (key, value) in merged { updateValue(value, forKey: key) }
            return
        }
        // What lies in this map, and what objects have of it, is read before the first entry is written.
        guard let writer = place.writer(), let stored = Self.encoded(merged, writer) else { return }
        for entry in stored { place.set(entry.value, forName: entry.key) }
        writer.finish()
    }

    /// Puts the entries of a dictionary in, asking what to keep for names that are there already.
    ///
    /// When the closure throws, nothing has changed.
    ///
    /// - Precondition: A write transaction is open, and the owner exists: look at ``Realm/isInWriteTransaction`` and
    ///   ``isInvalidated``. A name from outside has no dot in it, does not begin with `$`, and has at most 65,535
    ///   bytes; ``ObjectBase/setValues(_:ignoringUnknownKeys:)`` of the owner throws.
    public func merge(_ other: [Key: Value], uniquingKeysWith combine: (Value, Value) throws -> Value) rethrows {
        try merge(other.map { (key: $0.key, value: $0.value) }, uniquingKeysWith: combine)
    }

    /// Whether a condition holds for an entry.
    public func contains(where predicate: (_ key: Key, _ value: Value) throws -> Bool) rethrows -> Bool {
        for (key, value) in entries() where try predicate(key, value) { return true }
        return false
    }

    /// The entries, for a loop that takes name and value apart.
    public func asKeyValueSequence() -> [Element] { entries() }

    /// Iterates over the entries as they are now, in spite of writes made in the loop.
    ///
    /// There are none where the owner was deleted. Damage ends the process here: `requireReadable()` throws both before.
    public func makeIterator() -> IndexingIterator<[Element]> { entries().makeIterator() }

    /// Makes the map hold exactly the entries of another, which may be itself.
    func assign(_ other: Map) {
        if isSame(as: other) { return }
        let entries = other.entries()
        if entries.isEmpty { other.place?.checkContents() }
        guard let place else {
            unmanaged = Dictionary(entries.map { (TextKey(Key._name($0.key)), $0.value) }) { $1 }
            return
        }
        guard let writer = place.writer() else { return }
        guard let stored = Self.encoded(entries, writer) else { return }
        if place.path.isEmpty { writer.setMap(stored) } else { place.assign(stored) }
        writer.finish()
    }

    // MARK: Belonging

    /// The realm that the map belongs to; nil while it is unmanaged.
    public var realm: Realm? { place?.core.realm() }
    /// Whether the object that holds the map was deleted.
    public var isInvalidated: Bool { place?.isInvalidated ?? false }
    /// Whether the map stands on one version for good.
    public var isFrozen: Bool { place?.core.isFrozen ?? false }
    /// The map as of the version that the realm stands on.
    ///
    /// - Precondition: The value is managed and has not been deleted, nor created in the write transaction that is
    ///   open: look at ``realm`` and ``isInvalidated``.
    public func freeze() -> Map { frozenThroughReference("Map") }
    /// The live map of a frozen one.
    ///
    /// - Precondition: The value is managed: look at ``realm``. Its file can be read: `try Realm(configuration:)`
    ///   throws instead.
    public func thaw() -> Map? { thawedThroughReference("Map") }

    /// The value as a description that does not belong to an isolation.
    public var _reference: _ConfinedReference {
        _ConfinedReference(place.map { .collection($0.backing.descriptor) } ?? .unmanaged)
    }
    /// The value that a description stands for in a realm.
    public static func _resolve(_ reference: _ConfinedReference, in realm: Realm) -> Map? {
        guard case .collection(let descriptor) = reference.content else { return nil }
        return ListPlace.find(descriptor, of: _shape, in: realm.core, named: "Map").map { Map($0) }
    }

    /// A listing of the first hundred entries.
    public var description: String { ObjectDescription.describe(map: self) }
}

@available(
    *,
    unavailable,
    message: "A map belongs to its realm's isolation. Send `map.frozen` or `ThreadSafeReference(to: map)` instead."
)
extension Map: Sendable {}

extension Map: Equatable {
    /// Whether both are the map of the same object, or unmanaged maps with equal values for the same names.
    ///
    /// Complexity: O(n) for unmanaged maps.
    public static func == (left: Map, right: Map) -> Bool {
        if left === right { return true }
        return left.place == nil && right.place == nil ? left.unmanaged == right.unmanaged : left.isSame(as: right)
    }

    /// Whether both are one map.
    func isSame(as other: Map) -> Bool {
        guard let one = place, let two = other.place else { return self === other }
        return one.isSame(as: two)
    }
}

extension Map {
    /// The stored forms of entries; nil after a failure of the writer's operation.
    static func encoded(_ entries: [Element], _ writer: _RowWriter) -> [StoredEntry]? {
        var stored: [StoredEntry] = []
        stored.reserveCapacity(entries.count)
        let rows = writer.reusedEntries()
        for (key, value) in entries {
            if !rows.isEmpty { writer.reuse(rows[TextKey(Key._name(key))]) }
            guard let value = Value._encodeElement(value, writer), let entry = entry(key, value, writer) else {
                return nil
            }
            stored.append(entry)
        }
        if !rows.isEmpty { writer.reuse(nil) }
        return stored
    }
}

extension Map: Decodable where Key: Decodable, Value: Decodable {
    /// Decodes an unmanaged map from a dictionary.
    ///
    /// A decoder takes names that differ as bytes only (`é` in one character and in two) for one, and gives one of their values. The library's
    /// own ways in, such as `try realm.insert(Person.self, json: data)`, keep both.
    public convenience init(from decoder: any Decoder) throws {
        self.init()
        let entries = try decoder.singleValueContainer().decode([String: Value].self)
        for (name, value) in entries {
            if let problem = Self.problem(of: name) {
                throw DecodingError.dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: problem))
            }
            updateValue(value, forKey: Key._key(named: name))
        }
    }
}

extension Map: Encodable where Key: Encodable, Value: Encodable {
    /// Encodes the entries as a dictionary.
    ///
    /// - Throws: What the encoder throws, and what `requireReadable()` does; `EncodingError` where two names differ as bytes only
    ///   (`é` in one character and in two): dictionaries, and those that read them, take them for one.
    public func encode(to encoder: any Encoder) throws {
        try requireReadable()
        var container = encoder.singleValueContainer()
        var entries: [String: Value] = [:]
        for (key, value) in self {
            let name = Key._name(key)
            if entries.updateValue(value, forKey: name) == nil { continue }
            throw EncodingError.invalidValue(
                self,
                EncodingError.Context(
                    codingPath: encoder.codingPath,
                    debugDescription:
                        "Two names of the map are spellings of one text, '\(name)': a dictionary has room for one."
                )
            )
        }
        try container.encode(entries)
    }
}
