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
                                collection: property.isList ? .list : .none,
                                isOptional: property.isOptional,
                                isIndexed: property.isIndexed,
                                targetClass: property.target.map { classes[$0].name },
                                originProperty: property.origin
                            )
                        }
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
        case .insert(let address, let row):
            let type = classes[address.type]
            let object = realm.dynamicCreate(type.name, value: ["id": row.id])
            for property in type.properties where property.origin == nil {
                if property.isList {
                    assign(row.lists[property.name]!, to: object, property, realm)
                } else {
                    object[property.name] = external(row.values[property.name]!, property, realm)
                }
            }
        case .set(let address, let name, let value):
            let property = classes[address.type].property(name)
            object(address, in: realm)![name] = external(value, property, realm)
        case .assign(let address, let name, let values):
            assign(values, to: object(address, in: realm)!, classes[address.type].property(name), realm)
        case .insertElement(let address, let name, let value, let index):
            edit(
                address,
                name,
                realm,
                { $0.insert($1, at: index) },
                { $0.insert($1, at: index) },
                { $0.insert($1, at: index) },
                value
            )
        case .removeElement(let address, let name, let index):
            edit(
                address,
                name,
                realm,
                { list, _ in list.remove(at: index) },
                { list, _ in list.remove(at: index) },
                { list, _ in list.remove(at: index) },
                nil
            )
        case .moveElement(let address, let name, let from, let to):
            edit(
                address,
                name,
                realm,
                { list, _ in list.move(from: from, to: to) },
                { list, _ in list.move(from: from, to: to) },
                { list, _ in list.move(from: from, to: to) },
                nil
            )
        case .delete(let address): realm.delete(object(address, in: realm)!)
        case .deleteAll: realm.deleteAll()
        }
    }

    private func external(_ value: PlainValue, _ property: PlainProperty, _ realm: Realm) -> Any? {
        switch value {
        case .null: nil
        case .link(let serial): object(PlainAddress(type: property.target!, serial: serial), in: realm)!
        default: property.external(value)
        }
    }

    private func assign(_ values: [PlainValue], to object: DynamicObject, _ property: PlainProperty, _ realm: Realm) {
        object[property.name] = values.map { external($0, property, realm)! }
    }

    /// Changes a list of objects, numbers or words.
    private func edit(
        _ address: PlainAddress,
        _ name: String,
        _ realm: Realm,
        _ objects: (List<DynamicObject>, DynamicObject) -> Void,
        _ numbers: (List<Int>, Int) -> Void,
        _ words: (List<String>, String) -> Void,
        _ value: PlainValue?
    ) {
        let owner = object(address, in: realm)!
        let property = classes[address.type].property(name)
        let value = value.map { external($0, property, realm)! }
        switch owner[name] {
        case let list as List<DynamicObject>: objects(list, value as? DynamicObject ?? owner)
        case let list as List<Int>: numbers(list, value as? Int ?? 0)
        case let list as List<String>: words(list, value as? String ?? "")
        default: fatalError("\(classes[address.type].name).\(name) is no list")
        }
    }

    // MARK: Contents as text

    /// What is to be read of an object, and of those that it leads to.
    func text(_ address: PlainAddress, depth: Int) -> String {
        let row = row(address)!
        let parts = classes[address.type].properties
            .map { property -> String in
                if property.origin != nil { return "" }
                if property.target != nil {
                    let targets = targets(address, property.name)
                    return "\(targets.map { depth > 0 ? text($0, depth: depth - 1) : "\(self.row($0)!.id)" })"
                }
                if property.isList { return "\(row.lists[property.name]!)" }
                return "\(row.values[property.name]!)"
            }
        return "\(row.id) (\(parts.joined(separator: ", ")))"
    }

    /// The same of an object of a realm.
    static func text(_ object: DynamicObject, _ type: Int, _ classes: [PlainClass], depth: Int) -> String {
        let parts = classes[type].properties
            .map { property -> String in
                if property.origin != nil { return "" }
                if let target = property.target {
                    let targets: [DynamicObject] =
                        property.isList
                        ? Array(object.dynamicList(property.name))
                        : [object[property.name] as? DynamicObject].compactMap { $0 }
                    return
                        "\(targets.map { depth > 0 ? text($0, target, classes, depth: depth - 1) : "\($0["id"] as? Int ?? -1)" })"
                }
                switch object[property.name] {
                case let list as List<Int>: return "\(Array(list).map { PlainProperty.plain($0) })"
                case let list as List<String>: return "\(Array(list).map { PlainProperty.plain($0) })"
                case let value: return "\(PlainProperty.plain(value))"
                }
            }
        return "\(object["id"] as? Int ?? -1) (\(parts.joined(separator: ", ")))"
    }
}
