import RealmModel
import RealmStorage

/// Reads embedded objects whole, of which the program makes values of its own: what these are made of, it reads where nothing can throw.
///
/// Objects are gone over one after the other, each once, so that a long chain of them takes no stack. One that two others have, or that leads
/// back to itself, is damage: making a value of it might not end. Values are then made as the program makes them, of each part with all that
/// is inside it, so that parts inside parts are made again for each of those around them. Other objects that they link to are not read.
struct EmbeddedParts {
    private struct Row: Hashable {
        let table: ObjectIdentifier
        let key: Int64
    }

    private var objects: [ObjectBase] = []
    private var seen: Set<Row> = []
    /// What makes values of those objects, the outer ones first.
    private var conversions: [() throws -> Void] = []

    /// - Throws: What reading a part of the object, or making a value of one, would end the process for.
    static func requireReadable(_ object: ObjectBase) throws {
        var parts = EmbeddedParts()
        try parts.add(object)
        var next = 0
        while next < parts.objects.count {
            try parts.read(parts.objects[next])
            next += 1
        }
        // A value is made of those inside it.
        for conversion in parts.conversions.reversed() { try conversion() }
    }

    private mutating func add(_ object: ObjectBase) throws {
        guard let accessor = object.tableAccessor else { return }
        guard seen.insert(Row(table: ObjectIdentifier(accessor.table), key: object.rowKey)).inserted else {
            let damage = StorageError(
                .corrupt,
                "Two objects have one embedded object of class '\(accessor.info.name)': row \(object.rowKey)"
            )
            throw Realm.Error(storage: damage, path: accessor.core.coordinator.path)
        }
        objects.append(object)
    }

    private mutating func read(_ object: ObjectBase) throws {
        for property in object.modelClass.properties where !property.isComputed {
            let isEmbedded = property.shape.target is EmbeddedObject.Type
            guard isEmbedded, property.isCollection || property.shape.isConverted else {
                try object.requireReadable(property)
                if isEmbedded {
                    if let part = try object.linked(by: property) { try add(part) }
                } else if property.isCollection {
                    try (property.value(in: object) as? any ReadableElements)?.requireReadable()
                }
                continue
            }
            try object.requireStored(property)
            if property.isLink {
                if let part = try object.linked(by: property) { try add(part) }
                conversions.append { try object.requireReadableValue(of: property) }
            } else if let elements = property.value(in: object) as? any ReadableElements {
                for part in try elements.parts() { try add(part) }
                conversions.append { try elements.requireReadable(withParts: false) }
            }
        }
    }
}

/// A collection that may be a property of an object, and whose elements can be read where nothing traps.
protocol ReadableElements {
    var place: ListPlace? { get }
    func requireReadable() throws
    /// Reads the elements, with all of the embedded objects that they are made of or without.
    func requireReadable(withParts: Bool) throws
}

extension ReadableElements {
    /// The embedded objects that the elements are, or are made of.
    fileprivate func parts() throws -> [ObjectBase] {
        guard let backing = try place?.readableBacking(), let elements = backing.elements else { return [] }
        do {
            return try backing.freshKeys().map { elements.makeObject(key: $0) }
        } catch let error as StorageError {
            throw Realm.Error(storage: error, path: backing.core.coordinator.path)
        }
    }
}

extension List: ReadableElements {}
extension Map: ReadableElements {}
extension MutableSet: ReadableElements {}
extension AnyRealmCollection: ReadableElements {}
