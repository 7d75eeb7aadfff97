import CRealmShims
import RealmModel
import Synchronization

/// The model classes of a configuration.
struct ModelSchema: Sendable {
    let classes: [ModelClass]
    private let byName: [String: ModelClass]
    private let types: Set<ObjectIdentifier>
    /// The classes as the model layer declares them: each opening asks a few times.
    private let declared: DatabaseSchema
    /// Whether some property has another name in the file.
    let hasMappings: Bool

    /// The classes that a configuration names with those that they link to, or all model classes of the process.
    ///
    /// - Throws: `ModelError.invalidSchema` when two classes have one name or a class cannot be stored.
    init(objectTypes: [ObjectBase.Type]?) throws {
        var found: [ModelClass] = []
        var seen: Set<ObjectIdentifier> = []
        if let objectTypes {
            // Linked classes come along: a link to a class that the file does not know could not be stored.
            var pending = Array(objectTypes.reversed())
            while let type = pending.popLast() {
                guard seen.insert(ObjectIdentifier(type)).inserted else { continue }
                let info = ModelClass.of(type)
                found.append(info)
                pending.append(contentsOf: info.properties.compactMap(\.shape.target).reversed())
            }
        } else {
            found = Self.discover().map(ModelClass.of).filter { !$0.properties.isEmpty }
            found.sort { $0.name < $1.name }
            seen = Set(found.map { ObjectIdentifier($0.type) })
        }
        var byName: [String: ModelClass] = [:]
        var problems: [String] = []
        for info in found {
            if info.properties.isEmpty {
                problems.append(
                    "No properties are defined for '\(info.name)'. Did you remember to mark them with '@Persisted' in "
                        + "your model?"
                )
            }
            if let other = byName[info.name] {
                problems.append(
                    "Two classes are named '\(info.name)': \(String(reflecting: other.type)) and "
                        + "\(String(reflecting: info.type)). Rename one, override `_realmObjectName()` in it, or name "
                        + "the classes of this realm in `configuration.objectTypes`."
                )
            }
            byName[info.name] = info
        }
        if !problems.isEmpty { throw ModelError.invalidSchema(problems) }
        classes = found
        declared = DatabaseSchema(classes: found.map(\.schema))
        self.byName = byName
        types = seen
        hasMappings = found.contains(where: \.hasMapping)
    }

    private struct Key: Hashable {
        let types: [ObjectIdentifier]?
        /// The number of images loaded so far: another one may bring more classes.
        let imageCount: UInt64
    }

    private static let known = Mutex<[Key: ModelSchema]>([:])

    /// The classes of a configuration, looked up once for each list of types.
    static func cached(objectTypes: [ObjectBase.Type]?) throws -> ModelSchema {
        let key = Key(
            types: objectTypes.map { $0.map { ObjectIdentifier($0) } },
            imageCount: objectTypes == nil ? crealm_loaded_image_count() : 0
        )
        if let found = known.withLock({ $0[key] }) { return found }
        let made = try ModelSchema(objectTypes: objectTypes)
        known.withLock { $0[key] = made }
        return made
    }

    /// The class of a name.
    subscript(className: String) -> ModelClass? { byName[className] }

    /// Whether the class takes part.
    func contains(_ type: ObjectBase.Type) -> Bool { types.contains(ObjectIdentifier(type)) }

    /// The classes as the model layer declares them.
    func databaseSchema(version: UInt64) -> DatabaseSchema {
        var schema = declared
        schema.version = version
        return schema
    }

    /// Every model class of the process, found in the type metadata of its images; generic ones excepted.
    static func discover() -> [ObjectBase.Type] {
        final class Box { var types: [ObjectBase.Type] = [] }
        let box = Box()
        crealm_for_each_subclass(
            unsafeBitCast(ObjectBase.self, to: UnsafeRawPointer.self),
            { metadata, context in
                let box = Unmanaged<Box>.fromOpaque(context!).takeUnretainedValue()
                box.types.append(unsafeBitCast(metadata!, to: ObjectBase.Type.self))
            },
            Unmanaged.passUnretained(box).toOpaque()
        )
        return box.types.filter {
            $0 != ObjectBase.self && $0 != Object.self && $0 != EmbeddedObject.self && $0 != DynamicObject.self
                && $0.shouldIncludeInDefaultSchema()
        }
    }
}
