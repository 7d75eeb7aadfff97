import CRealmShims
import RealmModel
@_spi(Reflection) import Swift
import Synchronization

/// What the library knows of a model class: found once per process by walking the stored properties of the type.
final class ModelClass: Sendable {
    let type: ObjectBase.Type
    let name: String
    /// The names that the class had in files before its name told what it is nested in, longest first.
    let formerNames: [String]
    /// In declaration order, those of superclasses first.
    let properties: [ModelProperty]
    /// The same properties, without counting references to them.
    let all: [Unmanaged<ModelProperty>]
    /// Those of `all` that are written after a row was made: neither the primary key, nor linking objects.
    let written: [Unmanaged<ModelProperty>]
    let primaryKey: Int?
    let isEmbedded: Bool
    /// Whether every stored property is persisted, so that instances may be copied bytewise from a template and an
    /// iterator may point one at the next row.
    let isClonable: Bool
    /// Whether a property has another name in the file.
    let hasMapping: Bool
    /// The ordinals of properties whose wrappers keep collection objects.
    let collections: [Int]
    private let collectionProperties: [Unmanaged<ModelProperty>]
    let instanceSize: Int
    let alignmentMask: Int
    /// Whether instances are `DynamicObject`s.
    let isDynamic: Bool
    /// Whether managed wrappers know their object, so that they can be encoded.
    let wrappersKnowOwner: Bool
    /// The compound indexes of a dynamic class; those of the program's classes are asked for.
    private let dynamicIndexes: [CompoundIndex]
    /// By name, whose bytes count.
    private let ordinals: [TextKey: Int]

    private static let known = Mutex<[ObjectIdentifier: ModelClass]>([:])

    private static func unmanaged(
        _ properties: [ModelProperty]
    ) -> (all: [Unmanaged<ModelProperty>], written: [Unmanaged<ModelProperty>]) {
        let written = properties.filter { !$0.isComputed && !$0.isPrimaryKey }
        return (properties.map { .passUnretained($0) }, written.map { .passUnretained($0) })
    }

    /// The description of a class.
    static func of(_ type: ObjectBase.Type) -> ModelClass {
        let identifier = ObjectIdentifier(type)
        if let found = known.withLock({ $0[identifier] }) { return found }
        let made = ModelClass(type)
        return known.withLock { classes in
            if let found = classes[identifier] { return found }
            classes[identifier] = made
            return made
        }
    }

    /// A class whose instances are `DynamicObject`s.
    init(dynamic name: String, properties: [ModelProperty], compoundIndexes: [CompoundIndex], isEmbedded: Bool) {
        dynamicIndexes = compoundIndexes
        type = DynamicObject.self
        self.name = name
        formerNames = []
        self.properties = properties
        (all, written) = ModelClass.unmanaged(properties)
        self.isEmbedded = isEmbedded
        isDynamic = true
        wrappersKnowOwner = false
        let metadata = unsafeBitCast(DynamicObject.self as ObjectBase.Type, to: UnsafeRawPointer.self)
        instanceSize = Int(crealm_instance_size(metadata))
        alignmentMask = Int(crealm_instance_align_mask(metadata))
        primaryKey = properties.firstIndex { $0.isPrimaryKey }
        isClonable = true
        // A dynamic object keeps no collections.
        collections = []
        collectionProperties = []
        hasMapping = false
        ordinals = Dictionary(
            properties.map { (TextKey($0.name), $0.ordinal) },
            uniquingKeysWith: { first, _ in first }
        )
    }

    private init(_ type: ObjectBase.Type) {
        self.type = type
        isDynamic = false
        dynamicIndexes = []
        let isEncodable = type is any Encodable.Type
        wrappersKnowOwner = isEncodable
        if let given = type._realmObjectName() {
            name = given
            formerNames = []
        } else {
            let path = ClassPath(of: type)
            name = path.name
            formerNames = path.formerNames
        }
        isEmbedded = type.isEmbeddedClass
        let metadata = unsafeBitCast(type, to: UnsafeRawPointer.self)
        instanceSize = Int(crealm_instance_size(metadata))
        alignmentMask = Int(crealm_instance_align_mask(metadata))
        let ownSize = Int(crealm_instance_size(unsafeBitCast(ObjectBase.self, to: UnsafeRawPointer.self)))

        let mapping = type.propertiesMapping()
        let primaryKeyName = (type as? Object.Type)?.primaryKey()
        let indexedNames = Set(type.indexedProperties())
        let ignoredNames = Set(type.ignoredProperties())
        var properties: [ModelProperty] = []
        var others = 0
        var instance: ObjectBase?
        _ = _forEachField(of: type, options: _EachFieldOptions(rawValue: 1)) { field, offset, fieldType, _ in
            if offset < ownSize { return true }
            guard let wrapperType = fieldType as? any PersistedWrapper.Type else {
                others += 1
                return true
            }
            var name = String(cString: field)
            if name.hasPrefix("_") { name.removeFirst() }
            if ignoredNames.contains(name) {
                others += 1
                return true
            }
            let sample = instance ?? type.init()
            instance = sample
            let valueType = wrapperType.persistableType
            let wrapper = Unmanaged.passUnretained(sample).toOpaque() + offset
            let flags = valueType._wrapperFlags(at: wrapper)
            let shape = valueType._shape
            // RealmSwift has indexes of values of any kind by this name only. Here there are none, which changes no answer.
            let isNamedIndexed = indexedNames.contains(name) && (shape.kind != .any || shape.collection != .none)
            properties.append(
                ModelProperty(
                    name: name,
                    columnName: mapping[name] ?? name,
                    ordinal: properties.count,
                    offset: offset,
                    valueType: valueType,
                    shape: shape,
                    isPrimaryKey: flags == PersistedKey.primaryKey || name == primaryKeyName,
                    isIndexed: flags == PersistedKey.indexed || flags == PersistedKey.unique || isNamedIndexed,
                    isUnique: flags == PersistedKey.unique,
                    deleteRule: flags == PersistedKey.cascade
                        ? .cascade : flags == PersistedKey.deny ? .deny : .nullify,
                    originProperty: valueType._wrapperOrigin(at: wrapper),
                    knowsOwner: isEncodable
                )
            )
            return true
        }
        self.properties = properties
        (all, written) = ModelClass.unmanaged(properties)
        primaryKey = properties.firstIndex { $0.isPrimaryKey }
        isClonable = others == 0
        let kept = properties.filter { $0.isCollection }
        collectionProperties = kept.map { Unmanaged.passUnretained($0) }
        collections = kept.map(\.ordinal)
        hasMapping = properties.contains { !TextBytes.areEqual($0.name, $0.columnName) }
        ordinals = Dictionary(
            properties.map { (TextKey($0.name), $0.ordinal) },
            uniquingKeysWith: { first, _ in first }
        )
    }

    /// Drops the collections that the wrappers of an accessor keep, before it is pointed at another row.
    func dropCollections(of object: ObjectBase) {
        for property in collectionProperties { property._withUnsafeGuaranteedRef { $0.move(in: object) } }
    }

    /// The property of a name.
    func property(_ name: String) -> ModelProperty? { ordinals[TextKey(name)].map { properties[$0] } }

    /// The name in the file under which a value may be given for a property as well; nil where that is the name of a property itself.
    func otherName(of property: ModelProperty) -> String? {
        let name = property.columnName
        return TextBytes.areEqual(name, property.name) || ordinals[TextKey(name)] != nil ? nil : name
    }

    /// What the path of a property says: its name in the file, or its own where that would name another property.
    func pathName(of property: ModelProperty) -> String {
        let name = property.columnName
        guard let other = ordinals[TextKey(name)], other != property.ordinal else { return name }
        return property.name
    }

    /// The property that a path names, by the name that it has in the class or in the file.
    func property(inPath name: String) -> ModelProperty? { property(name) ?? property(columnNamed: name) }

    /// The property of a name in the file.
    func property(columnNamed name: String) -> ModelProperty? {
        properties.first { TextBytes.areEqual($0.columnName, name) }
    }

    /// The property of a name that must exist.
    func requiredProperty(_ name: String) -> ModelProperty {
        guard let property = property(name) else {
            misuse(unknownPropertyMessage(name))
        }
        return property
    }

    /// Says that the class does not have a property.
    func unknownPropertyMessage(_ name: String) -> String {
        "Invalid property name '\(name)': property '\(name)' not found in object of type '\(self.name)'."
    }

    var primaryKeyProperty: ModelProperty? { primaryKey.map { properties[$0] } }

    /// The class as the model layer declares it.
    var schema: ClassSchema {
        ClassSchema(
            name: name,
            properties: properties.map(\.schema),
            compoundIndexes: compoundIndexes.map { index in
                CompoundIndexSchema(
                    index.properties.map { property($0)?.columnName ?? $0 },
                    isUnique: index.isUnique
                )
            },
            isEmbedded: isEmbedded,
            formerNames: formerNames
        )
    }

    /// The indexes over several properties, by the names of these in the class.
    ///
    /// Asked for when they are needed: what the class says may come from key paths, which need its description.
    var compoundIndexes: [CompoundIndex] {
        guard !isDynamic else { return dynamicIndexes }
        return ((type as? Object.Type)?.compoundIndexes() ?? [])
            .map { index in
                CompoundIndex(
                    properties: index.properties.map { name in
                        property(name) == nil ? property(columnNamed: name)?.name ?? name : name
                    },
                    isUnique: index.isUnique
                )
            }
    }
}

/// Any `Persisted`, for discovery.
protocol PersistedWrapper {
    static var persistableType: any _Persistable.Type { get }
}

extension Persisted: PersistedWrapper {
    static var persistableType: any _Persistable.Type { Value.self }
}
