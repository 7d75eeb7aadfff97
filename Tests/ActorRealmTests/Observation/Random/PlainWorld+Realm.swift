import Foundation
import RealmModel
import RealmStorage
import RealmTestSupport

@testable import ActorRealm

/// A plain world in a file, through the dynamic API.
extension PlainWorld {
    /// Makes a file with the classes, which no program has.
    func makeFile(_ path: String) throws {
        let schema = DatabaseSchema(
            classes: classes.map { type in
                let id = PropertySchema(name: "id", kind: .int, isPrimaryKey: type.hasPrimaryKey)
                return ClassSchema(
                    name: type.name,
                    properties: [id]
                        + type.properties.map { property in
                            PropertySchema(
                                name: property.name,
                                kind: property.kind,
                                collection: property.collection,
                                isOptional: property.isOptional,
                                isIndexed: property.isIndexed,
                                targetClass: property.target.map { classes[$0].name },
                                originProperty: property.origin
                            )
                        },
                    isEmbedded: type.isEmbedded
                )
            }
        )
        let file = try StorageFile.open(path: path, options: StorageOptions())
        try file.lockForWriting()
        let transaction = try file.beginWrite()
        try SchemaReconciler.apply(try SchemaReconciler.plan(stored: nil, declared: schema), in: transaction)
        try file.publish([try transaction.prepareCommit()])
        file.unlockForWriting()
    }

    /// The object of a row.
    func object(_ address: PlainAddress, in realm: Realm) -> DynamicObject? {
        guard let row = row(address) else { return nil }
        return object(classes[address.type], row.id, in: realm)
    }

    private func object(_ type: PlainClass, _ id: Int, in realm: Realm) -> DynamicObject? {
        if type.hasPrimaryKey { return realm.dynamicObject(ofType: type.name, forPrimaryKey: id) }
        return realm.dynamicObjects(type.name).filter("id == %@", id).first
    }

    /// Does in a realm what is about to be done to the world.
    func perform(_ operation: PlainOperation, in realm: Realm) {
        switch operation {
        case .insert(let birth):
            let object = realm.dynamicCreate(classes[birth.address.type].name, value: ["id": birth.row.id])
            fill(object, birth, realm)
        case .set(let address, let name, let value):
            let property = classes[address.type].property(name)
            object(address, in: realm)![name] = external(value, property, realm)
        case .assign(let address, let name, let values):
            assign(values, to: object(address, in: realm)!, classes[address.type].property(name), realm)
        case .assignEntries(let address, let name, let entries):
            assign(entries, to: object(address, in: realm)!, classes[address.type].property(name), realm)
        case .assignEmbedded(let address, let name, let births): embed(births, address, name, realm)
        case .embed(let address, let name, let place, let birth): embed(birth, address, name, place, realm)
        case .delete(let address): realm.delete(object(address, in: realm)!)
        case .deleteAll: realm.deleteAll()
        case .insertElement(let address, let name, _, _), .replaceElement(let address, let name, _, _),
            .removeElement(let address, let name, _), .moveElement(let address, let name, _, _),
            .insertMember(let address, let name, _), .removeMember(let address, let name, _),
            .setEntry(let address, let name, _, _), .removeEntry(let address, let name, _),
            .removeAll(let address, let name):
            let property = classes[address.type].property(name)
            (object(address, in: realm)![name] as! any EditedCollection)
                .edit(operation) { external($0, property, realm) }
        }
    }

    private func external(_ value: PlainValue, _ property: PlainProperty, _ realm: Realm) -> Any? {
        switch value {
        case .null: nil
        case .link(let serial): object(PlainAddress(type: property.target!, serial: serial), in: realm)!
        case .value(let value): value.stored
        }
    }

    private func assign(_ values: [PlainValue], to object: DynamicObject, _ property: PlainProperty, _ realm: Realm) {
        object[property.name] = values.map { external($0, property, realm) }
    }

    private func assign(
        _ entries: [PlainText: PlainValue],
        to object: DynamicObject,
        _ property: PlainProperty,
        _ realm: Realm
    ) {
        object[property.name] = Dictionary(
            uniqueKeysWithValues: entries.map { ($0.key.string, external($0.value, property, realm)) }
        )
    }

    /// Gives a new object its values.
    private func fill(_ object: DynamicObject, _ birth: PlainBirth, _ realm: Realm) {
        for property in classes[birth.address.type].properties where property.origin == nil {
            // An embedded object is made with the property that holds it.
            if isEmbedded(property) { continue }
            switch property.collection {
            case .none: object[property.name] = external(birth.row.values[property.name]!, property, realm)
            case .list, .set: assign(birth.row.lists[property.name]!, to: object, property, realm)
            case .map: assign(birth.row.maps[property.name]!, to: object, property, realm)
            }
        }
    }

    private func embed(
        _ births: [(name: PlainText, PlainBirth)],
        _ address: PlainAddress,
        _ name: String,
        _ realm: Realm
    ) {
        let owner = object(address, in: realm)!
        if classes[address.type].property(name).collection == .map {
            owner[name] = Dictionary(uniqueKeysWithValues: births.map { ($0.name.string, ["id": $0.1.row.id]) })
        } else {
            owner[name] = births.map { ["id": $0.1.row.id] }
        }
        for (_, birth) in births { fill(object(classes[birth.address.type], birth.row.id, in: realm)!, birth, realm) }
    }

    private func embed(
        _ birth: PlainBirth,
        _ address: PlainAddress,
        _ name: String,
        _ place: PlainPlace,
        _ realm: Realm
    ) {
        let owner = object(address, in: realm)!
        switch place {
        case .single: owner[name] = ["id": birth.row.id]
        case .before(let index):
            let place = owner.dynamicList(name).place!
            place.insert(make(birth, place), at: index)
        case .at(let index):
            let place = owner.dynamicList(name).place!
            place.replace(at: index, with: make(birth, place))
        case .name(let key):
            let map: Map<String, DynamicObject?> = owner.dynamicMap(name)
            map.place!.set(make(birth, map.place!), forName: key.string)
        }
        fill(object(classes[birth.address.type], birth.row.id, in: realm)!, birth, realm)
    }

    /// Makes an embedded object for a list or a map: objects of unknown classes have no form to be put there with.
    private func make(_ birth: PlainBirth, _ place: ListPlace) -> StoredValue {
        let context = CreateContext(core: place.core, policy: .error)
        let key = context.linkKey(
            forValue: ["id": birth.row.id],
            of: DynamicObject.self,
            writer: place.writer(context: context)!
        )
        return .link(key!)
    }

    // MARK: Contents as text

    /// What is to be read of an object, and of those that it leads to.
    func text(_ address: PlainAddress, depth: Int) -> String {
        let row = row(address)!
        let parts = classes[address.type].properties
            .map { property -> String in
                if property.origin != nil { return "" }
                return text(property, row, depth: depth)
            }
        return "\(row.id) (\(parts.joined(separator: ", ")))"
    }

    /// What is to be read of a property of an object.
    private func text(_ property: PlainProperty, _ row: PlainRow, depth: Int) -> String {
        func text(_ value: PlainValue) -> String {
            guard case .link(let serial) = value else { return "\(value)" }
            let address = PlainAddress(type: property.target!, serial: serial)
            return depth > 0 ? self.text(address, depth: depth - 1) : "\(self.row(address)!.id)"
        }
        if property.collection != .map { return "\(elements(row, property).map(text))" }
        return Self.text(row.maps[property.name]!.mapValues(text))
    }

    /// What is to be read of a map.
    fileprivate static func text(_ entries: [PlainText: String]) -> String {
        entries.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: ", ")
    }

    /// The same of an object of a realm.
    static func text(_ object: DynamicObject, _ type: Int, _ classes: [PlainClass], depth: Int) -> String {
        let parts = classes[type].properties
            .map { property -> String in
                if property.origin != nil { return "" }
                func text(_ value: Any?) -> String {
                    guard let object = ValueReader.unwrap(value) as? DynamicObject else {
                        return "\(PlainProperty.plain(value))"
                    }
                    return depth > 0
                        ? self.text(object, property.target!, classes, depth: depth - 1)
                        : "\(object["id"] as? Int ?? -1)"
                }
                func texts<Collection: RealmCollection>(_ collection: Collection) -> String {
                    "\(Array(collection).map { text($0) })"
                }
                switch object[property.name] {
                case let map as any ReadMap: return Self.text(map.plainEntries(text))
                case let collection as any RealmCollection: return texts(collection)
                case let value: return "\([text(value)])"
                }
            }
        return "\(object["id"] as? Int ?? -1) (\(parts.joined(separator: ", ")))"
    }
}

/// A collection of any element type, which operations edit.
private protocol EditedCollection {
    func edit(_ operation: PlainOperation, _ external: (PlainValue) -> Any?)
}

extension List: EditedCollection {
    fileprivate func edit(_ operation: PlainOperation, _ external: (PlainValue) -> Any?) {
        func element(_ value: PlainValue) -> Element { Element._unboxedElement(external(value))! }
        switch operation {
        case .insertElement(_, _, let value, let index): insert(element(value), at: index)
        case .replaceElement(_, _, let value, let index): self[index] = element(value)
        case .removeElement(_, _, let index): remove(at: index)
        case .moveElement(_, _, let from, let to): move(from: from, to: to)
        default: removeAll()
        }
    }
}

extension MutableSet: EditedCollection {
    fileprivate func edit(_ operation: PlainOperation, _ external: (PlainValue) -> Any?) {
        switch operation {
        case .insertMember(_, _, let value): insert(Element._unboxedElement(external(value))!)
        case .removeMember(_, _, let value): remove(Element._unboxedElement(external(value))!)
        default: removeAll()
        }
    }
}

/// A map of any value type.
protocol ReadMap {
    /// Its entries, with the text of each value.
    func plainEntries(_ text: (Any?) -> String) -> [PlainText: String]

    func plainChanges(_ keyPaths: [String]?, _ text: @escaping @Sendable (Any?) -> String) -> PlainChanges
}

extension Map: EditedCollection, ReadMap where Key == String {
    fileprivate func edit(_ operation: PlainOperation, _ external: (PlainValue) -> Any?) {
        switch operation {
        case .setEntry(_, _, let key, let value):
            updateValue(Value._unboxedElement(external(value))!, forKey: key.string)
        case .removeEntry(_, _, let key): self[key.string] = nil
        default: removeAll()
        }
    }

    func plainEntries(_ text: (Any?) -> String) -> [PlainText: String] {
        Dictionary(uniqueKeysWithValues: map { (PlainText($0.key), text($0.value)) })
    }

    func plainChanges(_ keyPaths: [String]?, _ text: @escaping @Sendable (Any?) -> String) -> PlainChanges {
        PlainChanges(keyPaths.map { changes(keyPaths: $0) } ?? changes(), text)
    }
}
