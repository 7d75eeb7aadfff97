import RealmModel
import Synchronization

/// A persisted property of a model class: what its declaration says and where its wrapper lies in an instance.
final class ModelProperty: Sendable {
    let name: String
    /// The name in the file.
    let columnName: String
    let ordinal: Int
    /// The wrapper's distance from the start of an instance; negative for properties of dynamic objects, which have none.
    let offset: Int
    let valueType: any _Persistable.Type
    let shape: _PropertyShape
    let isPrimaryKey: Bool
    let isIndexed: Bool
    let isUnique: Bool
    let deleteRule: DeleteRule
    let originProperty: String?
    private let dynamicTargetName: String?
    /// Whether managed wrappers know their object, so that they can be encoded.
    private let knowsOwner: Bool
    /// Whether objects cannot be made without a value: 0 while nobody has asked, 1 for no, 2 for yes.
    private let requirement = Atomic<UInt8>(0)

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
        isUnique: Bool,
        deleteRule: DeleteRule,
        originProperty: String?,
        targetName: String? = nil,
        knowsOwner: Bool = false
    ) {
        self.name = name
        self.columnName = columnName
        self.ordinal = ordinal
        self.offset = offset
        self.valueType = valueType
        self.shape = shape
        self.isPrimaryKey = isPrimaryKey
        self.isIndexed = isIndexed
        self.isUnique = isUnique
        self.deleteRule = deleteRule
        self.originProperty = originProperty
        dynamicTargetName = targetName
        self.knowsOwner = knowsOwner
    }

    /// What a managed wrapper holds.
    var key: UInt32 { UInt32(ordinal + 1) }
    var isCollection: Bool { shape.collection != .none || shape.kind == .linkingObjects }
    var isComputed: Bool { shape.kind == .linkingObjects }
    /// Whether it leads to one object.
    var isLink: Bool { shape.kind == .object && shape.collection == .none }
    /// The class that the property links to, or from which it is linked to.
    var targetName: String { dynamicTargetName ?? shape.target?.className() ?? "" }
    /// That class as the program declares it; nil for a class of dynamic objects.
    var declaredTarget: ModelClass? {
        guard let target = shape.target, target != DynamicObject.self else { return nil }
        return ModelClass.of(target)
    }
    private var hasWrapper: Bool { offset >= 0 }

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
        if knowsOwner { remember(object) }
    }

    /// Drops what the wrapper holds and gives it a key.
    func reset(in object: ObjectBase, key: UInt32) {
        guard hasWrapper else { return }
        valueType._resetWrapper(at: wrapper(in: object), key: key)
        if knowsOwner, Int32(bitPattern: key) > 0 { remember(object) }
    }

    /// Makes the wrapper of an accessor that was pointed at another row drop what it holds of the last one.
    func move(in object: ObjectBase) {
        guard hasWrapper else { return }
        valueType._moveWrapper(at: wrapper(in: object), of: object, key: key)
        if knowsOwner { remember(object) }
    }

    /// Tells the managed wrapper which object it is a part of.
    func remember(_ object: ObjectBase) {
        OwnerAddress.store(object, key: key, at: wrapper(in: object))
    }

    /// The value, whether the object is managed or not.
    func value(in object: ObjectBase) -> Any? {
        if !hasWrapper { return valueType.managedValue(of: object, key) }
        return valueType._boxedWrapper(at: wrapper(in: object), of: object)
    }

    /// Assigns a dynamically typed value; traps when it does not fit.
    func assign(_ value: Any?, to object: ObjectBase) {
        if !hasWrapper { return write(value, to: object) }
        if !valueType._assignWrapper(at: wrapper(in: object), of: object, value) {
            invalidValue(value, className: object.modelClass.name)
        }
    }

    /// Assigns to a dynamic object; dictionaries and arrays make the objects that it links to.
    private func write(_ value: Any?, to object: ObjectBase) {
        if isComputed { misuse("Linking objects property '\(object.modelClass.name).\(name)' cannot be assigned to.") }
        guard var writer = object.writer(for: key) else { return }
        let context = CreateContext(core: writer.accessor.core, policy: .error)
        writer.context = context
        writer.accessor.core.migration?.wrote(self, ofRow: writer.rowKey, writer.accessor)
        storeBoxed(value, to: writer)
        writer.accessor.core.attemptWrite {
            if let failure = context.failure { throw failure }
            try context.drain()
        }
        writer.finish()
    }

    /// Writes a dynamically typed value into a row; traps when it does not fit.
    ///
    /// That a nested object cannot be made is the failure of the context.
    func storeBoxed(_ value: Any?, to writer: _RowWriter) {
        if valueType._storeBoxed(value, writer) { return }
        let className = writer.accessor.info.name
        guard let context = writer.context else { invalidValue(value, className: className) }
        if context.failure == nil { context.refuse(invalidValueMessage(value, className: className)) }
    }

    /// Traps for a value that does not fit.
    func invalidValue(_ value: Any?, className: String) -> Never {
        misuse(invalidValueMessage(value, className: className))
    }

    /// What the declaration gives the property of a new object, where its type is one of the program's own; nil for others.
    func declaredValue(in object: ObjectBase) -> Any? {
        guard let type = ownType else { return nil }
        return type.value(at: wrapper(in: object))
    }

    /// Whether the property of an unmanaged object has no value, nor its type one for the default of what it is stored as.
    func lacksValue(in object: ObjectBase) -> Bool {
        guard let type = ownType else { return false }
        return type.lacksValue(at: wrapper(in: object))
    }

    /// Whether an object can only be made with a value: the class declares none, nor has the type one for the default of what it is stored as.
    ///
    /// Asked where a value is missing, so that no type is asked for a default that no object needs.
    func isRequired(of info: ModelClass) -> Bool {
        guard shape.isConverted, !(isPrimaryKey && shape.isOptional) else { return false }
        let known = requirement.load(ordering: .relaxed)
        if known != 0 { return known == 2 }
        guard let type = ownType, type is any FailableCustomPersistable.Type else {
            requirement.store(1, ordering: .relaxed)
            return false
        }
        let isRequired = lacksValue(in: info.type.init())
        // One of many defaults says nothing about the others.
        if !type._isDefaultGenerated { requirement.store(isRequired ? 2 : 1, ordering: .relaxed) }
        return isRequired
    }

    /// The type, where it is one of the program's own that a wrapper holds.
    private var ownType: (any _CustomPersistable.Type)? {
        guard shape.isConverted, hasWrapper else { return nil }
        return valueType as? any _CustomPersistable.Type
    }

    /// Says that an object has no value for the property, nor its type a default.
    func missingValueMessage(className: String) -> String {
        "Missing value for '\(className).\(name)': \(valueType) has no value for the default of its stored type. Give one, declare a "
            + "default, or make the property optional."
    }

    /// Says that a value does not fit.
    func invalidValueMessage(_ value: Any?, className: String) -> String {
        let text = InputCheck.text(of: value)
        let typeName = value.map { "\(type(of: $0))" } ?? "nil"
        return "Invalid value '\(text)' of type '\(typeName)' for '\(schema.typeDescription)' property "
            + "'\(className).\(name)'."
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
            isUnique: isUnique,
            deleteRule: deleteRule.stored,
            targetClass: shape.target == nil ? nil : targetName,
            originProperty: originColumn
        )
    }

    /// The name in the file of the property that linking objects reverse.
    private var originColumn: String? {
        guard let originProperty, hasWrapper, let target = shape.target else { return originProperty }
        return ModelClass.of(target).property(originProperty)?.columnName ?? originProperty
    }
}

extension _Persistable {
    /// The value of a managed property as a dynamically typed one, without a wrapper.
    fileprivate static func managedValue(of object: ObjectBase, _ key: UInt32) -> Any? { _boxed(_get(object, key)) }
}
