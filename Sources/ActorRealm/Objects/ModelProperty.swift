import RealmModel

/// A persisted property of a model class: what its declaration says and where its wrapper lies in an instance.
final class ModelProperty: Sendable {
    let name: String
    /// The name in the file.
    let columnName: String
    let ordinal: Int
    /// The wrapper's distance from the start of an instance.
    let offset: Int
    let valueType: any _Persistable.Type
    let shape: _PropertyShape
    let isPrimaryKey: Bool
    let isIndexed: Bool
    let originProperty: String?

    // A class, since the lists of properties are walked for each object that is added.
    init(
        name: String,
        columnName: String,
        ordinal: Int,
        offset: Int,
        valueType: any _Persistable.Type,
        shape: _PropertyShape,
        isPrimaryKey: Bool,
        isIndexed: Bool,
        originProperty: String?
    ) {
        self.name = name
        self.columnName = columnName
        self.ordinal = ordinal
        self.offset = offset
        self.valueType = valueType
        self.shape = shape
        self.isPrimaryKey = isPrimaryKey
        self.isIndexed = isIndexed
        self.originProperty = originProperty
    }

    /// What a managed wrapper holds.
    var key: UInt32 { UInt32(ordinal + 1) }
    var isCollection: Bool { shape.collection != .none || shape.kind == .linkingObjects }
    var isComputed: Bool { shape.kind == .linkingObjects }
    var targetName: String { shape.target?.className() ?? "" }

    private func wrapper(in object: ObjectBase) -> UnsafeMutableRawPointer {
        Unmanaged.passUnretained(object).toOpaque() + offset
    }

    /// Writes the unmanaged value into a row.
    func store(from object: ObjectBase, to writer: _RowWriter) {
        valueType._storeWrapper(at: wrapper(in: object), writer)
    }

    /// The unmanaged value of a scalar property, as a row stores it.
    func storedValue(in object: ObjectBase) -> _Stored { valueType._storedWrapper(at: wrapper(in: object)) }

    /// Makes the wrapper of an object that was just added read from the row.
    func manage(in object: ObjectBase) {
        valueType._manageWrapper(at: wrapper(in: object), of: object, key: key)
    }

    /// Drops what the wrapper holds and gives it a key.
    func reset(in object: ObjectBase, key: UInt32) {
        valueType._resetWrapper(at: wrapper(in: object), key: key)
    }

    /// The value, whether the object is managed or not.
    func value(in object: ObjectBase) -> Any? {
        valueType._boxedWrapper(at: wrapper(in: object), of: object)
    }

    /// Assigns a dynamically typed value; traps when it does not fit.
    func assign(_ value: Any?, to object: ObjectBase) {
        if !valueType._assignWrapper(at: wrapper(in: object), of: object, value) {
            invalidValue(value, className: ModelClass.of(type(of: object)).name)
        }
    }

    /// Writes a dynamically typed value into a row; traps when it does not fit.
    func storeBoxed(_ value: Any?, to writer: _RowWriter) {
        if !valueType._storeBoxed(value, writer) {
            invalidValue(value, className: writer.accessor.info.name)
        }
    }

    /// Traps for a value that does not fit.
    func invalidValue(_ value: Any?, className: String) -> Never {
        let text = value.map { "\($0)" } ?? "nil"
        let typeName = value.map { "\(type(of: $0))" } ?? "nil"
        misuse(
            "Invalid value '\(text)' of type '\(typeName)' for '\(schema.typeDescription)' property "
                + "'\(className).\(name)'."
        )
    }

    /// The property as the model layer declares it.
    var schema: PropertySchema {
        PropertySchema(
            name: columnName,
            kind: shape.kind,
            collection: shape.collection,
            isOptional: shape.isOptional,
            isPrimaryKey: isPrimaryKey,
            isIndexed: isIndexed,
            targetClass: shape.target.map { $0.className() },
            originProperty: originProperty
        )
    }
}
