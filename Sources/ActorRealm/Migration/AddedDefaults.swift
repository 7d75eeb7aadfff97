import RealmModel

/// The declared defaults of properties that a migration adds, for the objects that exist already.
///
/// RealmSwift leaves such properties at zero, so that an enum holds what is none of its cases.
struct AddedDefaults {
    private struct Item {
        let className: String
        let property: ModelProperty
        let type: ObjectBase.Type
        let value: StoredValue
        /// Whether each object gets a value of its own.
        let isGenerated: Bool
    }

    private var items: [Item] = []

    init(_ plan: SchemaPlan, in schema: ModelSchema) {
        for step in plan.steps {
            switch step {
            case .addProperty(let className, let property), .replaceProperty(let className, let property, false):
                guard property.collection == .none, property.isStored, !property.makesLinks,
                    let info = schema[className],
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
        guard property.hasDeclaredDefault(in: sample) || property.valueType is any PersistableEnum.Type else { return }
        let value = property.storedValue(in: sample).value
        if value.isNull || value.isZero { return }
        items.append(
            Item(
                className: info.name,
                property: property,
                type: info.type,
                value: value,
                isGenerated: property.shape.kind == .uuid || property.shape.kind == .objectId
            )
        )
    }

    /// Gives every object the defaults.
    func write(to model: ModelView) throws {
        for item in items {
            guard let table = try model.table(named: item.className),
                let ordinal = table.ordinal(of: item.property.columnName)
            else { continue }
            try table.forEachKey { key in
                let value = item.isGenerated ? item.property.storedValue(in: item.type.init()).value : item.value
                try table.set(ordinal, key: key, to: value)
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
    /// Whether the declaration gives the property a default of its own.
    func hasDeclaredDefault(in object: ObjectBase) -> Bool {
        valueType.hasValue(at: Unmanaged.passUnretained(object).toOpaque() + offset)
    }
}

extension _Persistable {
    /// Whether a wrapper holds a value that was declared, or assigned in an initializer.
    fileprivate static func hasValue(at wrapper: UnsafeMutableRawPointer) -> Bool {
        let wrapper = wrapper.assumingMemoryBound(to: Persisted<Self>.self).pointee
        return wrapper.value != nil && !(_isDefaultGenerated && wrapper.address == PersistedKey.generated)
    }
}
