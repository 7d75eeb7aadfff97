package import RealmStorage

/// One property of a class: as declared, or (with `column` set) as a file stores it.
package struct PropertySchema: Sendable, Hashable {
    package var name: String
    package var kind: PropertyKind
    package var collection: CollectionKind
    /// Whether the value, or each element of the collection, may be null.
    ///
    /// Always true for a link to one object and for values of any kind.
    package var isOptional: Bool
    package var isPrimaryKey: Bool
    package var isIndexed: Bool
    /// Whether no two objects may have the same value; null may occur any number of times.
    ///
    /// A unique property has an index.
    package var isUnique: Bool
    /// What becomes of the objects that the property links to when its own object is deleted.
    package var deleteRule: DeleteRule
    /// The class that an `object` property links to, or the origin class of `linkingObjects`.
    package var targetClass: String?
    /// For `linkingObjects`: the name of the forward property in `targetClass`.
    package var originProperty: String?
    /// The physical column in the table's clusters; -1 while not stored, and always for `linkingObjects`.
    package internal(set) var column: Int
    /// What objects get from programs that do not know the property.
    package private(set) var recordedDefault = RecordedDefault()

    package init(
        name: String,
        kind: PropertyKind,
        collection: CollectionKind = .none,
        isOptional: Bool = false,
        isPrimaryKey: Bool = false,
        isIndexed: Bool = false,
        isUnique: Bool = false,
        deleteRule: DeleteRule = .nullify,
        targetClass: String? = nil,
        originProperty: String? = nil
    ) {
        self.name = name
        self.kind = kind
        self.collection = collection
        self.isOptional = isOptional || (kind == .object && collection == .none) || kind == .any
        self.isPrimaryKey = isPrimaryKey
        self.isIndexed = isIndexed || isUnique
        self.isUnique = isUnique
        self.deleteRule = deleteRule
        self.targetClass = targetClass
        self.originProperty = originProperty
        self.column = -1
    }

    /// Whether the property has a column of its own (`linkingObjects` are computed from the forward links).
    package var isStored: Bool { kind != .linkingObjects }

    /// Whether an index tree is kept: for a declared index and for every primary key.
    package var hasIndex: Bool { isIndexed || isPrimaryKey }

    /// Whether the property can have an index, alone or together with others.
    package var canBeIndexed: Bool { collection == .none && kind.isIndexable }

    /// Whether this is a link, or a collection of links, to another class.
    package var isLink: Bool { kind == .object }

    /// Whether values can be or contain links.
    package var makesLinks: Bool { kind == .object || kind == .any }

    /// Whether this holds values of the type that a declared property has, but for null.
    ///
    /// By what the type consists of, and not by its description: a class may be named as a kind is. `storedTarget` gives what the schema of
    /// this property calls a class of the declared one.
    package func hasType(of declared: PropertySchema, _ storedTarget: (String) -> String = { $0 }) -> Bool {
        kind == declared.kind && collection == declared.collection
            && targetClass == declared.targetClass.map(storedTarget)
    }

    /// The column's layout in the table's clusters.
    package var layout: ColumnLayout {
        if collection != .none { return ColumnLayout(kind: .bytes, isNullable: false) }
        return ColumnLayout(kind: kind.columnKind, isNullable: isOptional)
    }

    /// The type as schema messages spell it: `int?`, `array<string>`, `<Dog>`.
    package var typeDescription: String {
        let element = targetClass ?? kind.name
        switch collection {
        case .none: return targetClass != nil ? "<\(element)>" : isOptional ? element + "?" : element
        case .list: return "array<\(element)\(isOptional ? "?" : "")>"
        case .set: return "set<\(element)\(isOptional ? "?" : "")>"
        case .map: return "dictionary<string, \(element)\(isOptional ? "?" : "")>"
        }
    }
}

extension PropertySchema {
    /// Records what objects get from programs that do not know the property, unless it is null or of another type.
    package mutating func record(default value: StoredValue) {
        guard takesRecordedDefault, !value.isNull, value.isOf(kind) else { return }
        recordedDefault = RecordedDefault(value)
    }

    /// Links would need objects, keys are given, and collections begin empty.
    package var takesRecordedDefault: Bool { collection == .none && isStored && !isPrimaryKey && !makesLinks }
}

extension PropertySchema {
    /// The number of bytes that a primary key or a unique string may have in a class whose indexes an earlier release has made: as many
    /// as stand in an index.
    package static var uniqueStringByteLimit: Int { IndexKey.stringByteLimit }
}
