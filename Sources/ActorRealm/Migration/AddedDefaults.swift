import Foundation
import RealmModel

/// The declared defaults of properties that a migration adds, for the objects that exist already.
///
/// RealmSwift leaves such properties at zero, so that an enum holds what is none of its cases. A property of a type of the
/// program's own that is stored as an embedded object gets its object, so that all who read it see the same default.
struct AddedDefaults {
    fileprivate struct Item {
        let className: String
        let property: ModelProperty
        let type: ObjectBase.Type
        let source: Source
    }

    fileprivate enum Source {
        /// All objects get the same value.
        case value(StoredValue)
        /// Each object gets a value of its own.
        case generated
        /// Each object gets what adding a new one would write, which may make other rows.
        case added
    }

    private var items: [Item] = []

    /// - Parameters:
    ///   - plan: What becomes of the file, with the names that its schema has for the classes.
    ///   - schema: The classes of the program.
    ///   - stored: The schema of the file; nil for a file that has none.
    init(_ plan: SchemaPlan, in schema: ModelSchema, of stored: DatabaseSchema?) {
        func declaredClass(_ className: String) -> ModelClass? {
            schema[className] ?? stored?[className]?.storedName.flatMap { schema[$0] }
        }
        for step in plan.steps {
            switch step {
            case .addProperty(let className, let property), .replaceProperty(let className, let property, false):
                guard property.collection == .none, property.isStored, let info = declaredClass(className),
                    let declared = info.properties.first(where: { $0.columnName == property.name })
                else { continue }
                add(declared, of: info)
            default: continue
            }
        }
    }

    var isEmpty: Bool { items.isEmpty }

    private mutating func add(_ property: ModelProperty, of info: ModelClass) {
        let sample = info.type.init()
        func append(_ source: Source) {
            items.append(Item(className: info.name, property: property, type: info.type, source: source))
        }
        if property.schema.makesLinks {
            if property.hasValueToAdd(in: sample) { append(.added) }
            return
        }
        guard let value = property.declaredDefault(of: sample) else { return }
        append(property.shape.kind == .uuid || property.shape.kind == .objectId ? .generated : .value(value))
    }

    /// Gives every object the defaults.
    func write(to core: RealmCore) throws {
        for item in items {
            guard let table = try core.model.table(named: item.className),
                let ordinal = table.ordinal(of: item.property.columnName)
            else { continue }
            switch item.source {
            case .value(let value): try table.forEachKey { try table.set(ordinal, key: $0, to: value) }
            case .generated:
                try table.forEachKey { key in
                    try table.set(ordinal, key: key, to: item.property.storedValue(in: item.type.init()).value)
                }
            case .added: break
            }
        }
        // Last, because rows that are made here have all their defaults.
        for item in items {
            if case .added = item.source { try item.addValues(to: core) }
        }
    }
}

extension AddedDefaults.Item {
    /// Gives every object without a value a new one.
    fileprivate func addValues(to core: RealmCore) throws {
        let accessor = core.requiredAccessor(for: type)
        let ordinal = accessor.ordinals[property.ordinal]
        let context = AddContext(core: core, policy: .error)
        try accessor.table.forEachKey { key in
            if !(try accessor.table.value(ordinal, key: key).isNull) { return }
            let writer = _RowWriter(
                accessor: accessor,
                rowKey: key,
                declared: property.ordinal,
                context: context,
                isNewRow: true
            )
            property.store(from: type.init(), to: writer)
            try context.drain()
            try core.checkWriteFailure()
        }
    }
}

extension ModelSchema {
    /// A schema of these classes with the defaults that programs without the property are to give objects.
    func recordingDefaults(in schema: DatabaseSchema) -> DatabaseSchema {
        schema.mappingClasses { declared in
            guard let info = self[declared.name] else { return declared }
            let samples = (info.type.init(), info.type.init())
            return declared.mappingProperties { property in
                guard property.takesRecordedDefault,
                    let declared = info.properties.first(where: { $0.columnName == property.name }),
                    let value = declared.defaultToRecord(of: samples)
                else { return }
                property.record(default: value)
            }
        }
    }
}

extension StoredValue {
    /// Whether this is what a column holds before anything is written to it.
    fileprivate var isZero: Bool {
        switch self {
        case .int(0), .bool(false), .float(0), .double(0), .date(0), .string(""), .data([]): true
        default: false
        }
    }
}

extension ModelProperty {
    /// The default of a declaration, as a row stores it; nil where that is what a column holds anyway.
    fileprivate func declaredDefault(of sample: ObjectBase) -> StoredValue? {
        guard hasDeclaredDefault(in: sample) || valueType is any PersistableEnum.Type else { return nil }
        let value = storedValue(in: sample).value
        return value.isNull || value.isZero && !schema.isOptional ? nil : value
    }

    /// The default that programs without the property give objects: none that is another one for each, nor the present time, which two
    /// samples may have in common.
    fileprivate func defaultToRecord(of samples: (ObjectBase, ObjectBase)) -> StoredValue? {
        guard let value = declaredDefault(of: samples.0), let again = declaredDefault(of: samples.1) else { return nil }
        guard value.isIdentical(to: again) else { return nil }
        if case .date(let seconds) = value, abs(seconds - Date.now.timeIntervalSinceReferenceDate) < 86_400 {
            return nil
        }
        return value
    }

    /// Whether the declaration gives the property a default of its own.
    func hasDeclaredDefault(in object: ObjectBase) -> Bool {
        valueType.hasValue(at: Unmanaged.passUnretained(object).toOpaque() + offset, orGenerated: false)
    }

    /// Whether a new object would store an embedded object for a value of another type, or a value of any type.
    ///
    /// Links are left alone: where objects have a default, it is for new owners.
    fileprivate func hasValueToAdd(in object: ObjectBase) -> Bool {
        let wrapper = Unmanaged.passUnretained(object).toOpaque() + offset
        guard valueType.hasValue(at: wrapper, orGenerated: true), let value = value(in: object) else { return false }
        if let value = value as? AnyRealmValue { return value != .none }
        return !(value is ObjectBase)
    }
}

extension _Persistable {
    /// Whether a wrapper holds a value that was declared, or assigned in an initializer, or generated where nothing was.
    fileprivate static func hasValue(at wrapper: UnsafeMutableRawPointer, orGenerated: Bool) -> Bool {
        let wrapper = wrapper.assumingMemoryBound(to: Persisted<Self>.self).pointee
        if wrapper.value == nil { return false }
        return orGenerated || !(_isDefaultGenerated && wrapper.address == PersistedKey.generated)
    }
}
