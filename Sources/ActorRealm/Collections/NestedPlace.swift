import RealmModel

/// A list or dictionary inside a value of any kind.
///
/// It is addressed by the steps that lead to it, and written by writing the value that it lies in anew: each change costs as
/// much as the whole value is large.
final class NestedPlace: ListPlace {
    private let steps: [NestedStep]

    init(accessor: TableAccessor, key: Int64, declared: Int, path: [NestedStep], named name: String) {
        steps = path
        super.init(accessor: accessor, key: key, declared: declared, named: name)
    }

    override var path: [NestedStep] { steps }

    override func makeBacking() -> _CollectionBacking {
        _CollectionBacking(nested: accessor, key: key, declared: declared, path: steps, isMap: isMap)
    }

    private var isMap: Bool { name == "Map" }

    override var isThere: Bool {
        core.checkAccess()
        do { return try accessor.table.hasNested(property, key: key, steps, isMap: isMap) } catch { return true }
    }

    /// What lies at the end of the steps; nil when they lead nowhere.
    private func content() -> StoredValue? {
        core.checkAccess()
        return core.attempt(or: nil) { try accessor.table.nested(property, key: key, steps) }
    }

    private func values() -> [StoredValue] {
        guard case .list(let values)? = content() else {
            if !core.isClosed, !outlivesOwner { invalidated() }
            return []
        }
        return values
    }

    private func update(_ change: (inout [StoredValue]) -> Void) {
        var values = values()
        change(&values)
        write(.list(values))
    }

    private func write(_ value: StoredValue) {
        // The first step into a list or map of values leads to one of them, the others lead into it.
        let level = steps.count - (accessor.info.properties[declared].shape.collection == .none ? 0 : 1)
        if level + value.depth > MixedFormat.depthLimit {
            return mistake(AnyRealmValue.depthMessage)
        }
        core.attemptWrite { try accessor.table.setNested(property, key: key, steps, to: value) }
    }

    override var count: Int {
        switch content() {
        case .list(let values)?: isMap ? 0 : values.count
        case .dictionary(let entries)?: isMap ? entries.count : 0
        default: 0
        }
    }

    override func stored(at position: Int) -> _Stored {
        let values = values()
        guard values.indices.contains(position) else {
            refuseIndex(position, count: values.count, in: self)
            return backing.noElement
        }
        return _Stored(values[position])
    }

    override func append(_ value: StoredValue) { update { $0.append(value) } }
    override func append(_ values: [StoredValue]) { update { $0.append(contentsOf: values) } }
    override func insert(_ value: StoredValue, at index: Int) { update { $0.insert(value, at: index) } }
    override func insert(_ values: [StoredValue], at index: Int) {
        update { $0.insert(contentsOf: values, at: index) }
    }
    override func remove(in range: Range<Int>) { update { $0.removeSubrange(range) } }
    override func removeAll() { write(isMap ? .dictionary([]) : .list([])) }
    override func replace(at index: Int, with value: StoredValue) { update { $0[index] = value } }
    override func move(from source: Int, to destination: Int) {
        update { $0.insert($0.remove(at: source), at: destination) }
    }
    override func swap(_ first: Int, _ second: Int) { update { $0.swapAt(first, second) } }
    override func assign(_ values: [StoredValue]) { write(.list(values)) }

    override func entries() -> [StoredEntry] {
        guard case .dictionary(let entries)? = content() else { return [] }
        return entries
    }

    override func value(forName name: String) -> StoredValue? {
        entries().first { $0.key.utf8.elementsEqual(name.utf8) }?.value
    }

    override func set(_ value: StoredValue, forName name: String) {
        assign(entries() + [StoredEntry(key: name, value: value)])
    }

    override func remove(name: String) {
        assign(entries().filter { !$0.key.utf8.elementsEqual(name.utf8) })
    }

    override func assign(_ entries: [StoredEntry]) { write(.dictionary(entries.sortedAndUnique())) }
}

extension TableView {
    /// What steps into a property of values of any kind lead to; nil when they lead nowhere.
    func nested(_ property: Int, key: Int64, _ steps: [NestedStep]) throws -> StoredValue? {
        guard try contains(key: key) else { return nil }
        var rest = steps[...]
        var value: StoredValue
        switch collection(of: property) {
        case .none: value = try self.value(property, key: key)
        case .map:
            guard case .name(let name)? = rest.popFirst(), let entry = try map(property, key: key).value(for: name)
            else { return nil }
            value = entry
        case .list, .set:
            let list = try list(property, key: key)
            guard case .index(let index)? = rest.popFirst(), index < list.count else { return nil }
            value = try list.value(at: index)
        }
        for step in rest {
            guard let next = value.child(step) else { return nil }
            value = next
        }
        return value
    }

    /// The values of the list, or of the dictionary, that steps into a property of values of any kind lead to; nil when that is not
    /// there, or one of the other kind is.
    func nestedValues(_ property: Int, key: Int64, _ steps: [NestedStep], isMap: Bool) throws -> [StoredValue]? {
        switch try nested(property, key: key, steps) {
        case .list(let values) where !isMap: values
        case .dictionary(let entries) where isMap: entries.map(\.value)
        default: nil
        }
    }

    /// Whether steps into a property of values of any kind lead to a list, or to a dictionary.
    func hasNested(_ property: Int, key: Int64, _ steps: [NestedStep], isMap: Bool) throws -> Bool {
        switch try nested(property, key: key, steps) {
        case .list: !isMap
        case .dictionary: isMap
        default: false
        }
    }

    /// Writes what steps into a property of values of any kind lead to.
    func setNested(_ property: Int, key: Int64, _ steps: [NestedStep], to value: StoredValue) throws {
        func changed(_ root: StoredValue, _ rest: ArraySlice<NestedStep>) -> StoredValue {
            guard let step = rest.first else { return value }
            return root.replacing(step) { changed($0, rest.dropFirst()) }
        }
        switch (collection(of: property), steps.first) {
        case (.none, _):
            try set(property, key: key, to: changed(self.value(property, key: key), steps[...]))
        case (.map, .name(let name)):
            let old = try map(property, key: key).value(for: name) ?? .null
            try mapSet(property, key: key, name, to: changed(old, steps.dropFirst()))
        case (.list, .index(let index)):
            let old = try list(property, key: key).value(at: index)
            try listReplace(property, key: key, at: index, with: changed(old, steps.dropFirst()))
        default: misuse("A set cannot contain lists or dictionaries.")
        }
    }
}

extension StoredValue {
    fileprivate func child(_ step: NestedStep) -> StoredValue? {
        switch (step, self) {
        case (.index(let index), .list(let values)): values.indices.contains(index) ? values[index] : nil
        case (.name(let name), .dictionary(let entries)): entries.first { TextBytes.areEqual($0.key, name) }?.value
        default: nil
        }
    }

    fileprivate func replacing(_ step: NestedStep, _ change: (StoredValue) -> StoredValue) -> StoredValue {
        switch (step, self) {
        case (.index(let index), .list(var values)) where values.indices.contains(index):
            values[index] = change(values[index])
            return .list(values)
        case (.name(let name), .dictionary(var entries)):
            guard let index = entries.firstIndex(where: { TextBytes.areEqual($0.key, name) }) else { return self }
            entries[index].value = change(entries[index].value)
            return .dictionary(entries)
        default: return self
        }
    }
}
