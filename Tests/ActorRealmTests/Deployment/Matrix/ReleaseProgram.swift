import Foundation
import RealmTestSupport

@testable import ActorRealm

/// A release of a program, with its classes.
struct ReleaseProgram {
    let shape: ReleaseShape
    let types: [String: any ShapedObject.Type]

    init(_ shape: ReleaseShape) {
        self.shape = shape
        types = ShapeMaker.types(of: shape)
    }

    func configuration(_ path: String, version: UInt64, _ block: MigrationBlock? = nil) -> Realm.Configuration {
        OutdatedRealmTests.configuration(path, ShapeMaker.objectTypes(types, of: shape), version: version, block)
    }

    /// The name that the program has for a property.
    func slot(_ property: String, of className: String) -> String { ShapeTable.slot(property, in: shape[className]!) }

    // MARK: Reading

    /// Everything that a realm holds of the classes.
    func world(of realm: Realm) -> ReleaseWorld {
        var world = ReleaseWorld()
        for declared in shape.classes where !declared.isEmbedded {
            world.classes[declared.name] = rows(declared, types[declared.name]!, realm)
        }
        world.classes.merge(ReleaseKeeper.rows(shape.rule, in: realm)) { $1 }
        guard shape["Part"]?.isEmbedded == true, let items = types["Item"] else { return world }
        world.classes["Part"] = parts(of: items, realm)
        return world
    }

    private func rows<Model: ShapedObject>(
        _ declared: ReleaseShape.Class,
        _ type: Model.Type,
        _ realm: Realm
    ) -> [Int: ReleaseWorld.Row] {
        var rows: [Int: ReleaseWorld.Row] = [:]
        for object in realm.objects(type) { rows[number(of: object, declared)] = row(object, declared) }
        return rows
    }

    private func parts<Model: ShapedObject>(of type: Model.Type, _ realm: Realm) -> [Int: ReleaseWorld.Row] {
        var rows: [Int: ReleaseWorld.Row] = [:]
        for item in realm.objects(type) {
            guard let part = item[slot("part", of: "Item")] as? ObjectBase, let declared = shape["Part"] else {
                continue
            }
            rows[number(of: part, declared)] = row(part, declared)
        }
        return rows
    }

    private func number(of object: ObjectBase, _ declared: ReleaseShape.Class) -> Int {
        object[ShapeTable.slot("n", in: declared)] as? Int ?? -1
    }

    func row(_ object: ObjectBase, _ declared: ReleaseShape.Class) -> ReleaseWorld.Row {
        var row: ReleaseWorld.Row = [:]
        for (place, property) in declared.properties.enumerated() {
            row[property.name] = plain(object["p\(place)"], property.kind)
        }
        return row
    }

    private func plain(_ value: Any?, _ kind: ReleaseShape.Kind) -> ReleaseValue {
        switch (kind, value) {
        case (.int, let value as Int), (.optionalInt, let value as Int): return .int(value)
        case (.string, let value as String), (.optionalString, let value as String): return .string(value)
        case (.double, let value as Double), (.optionalDouble, let value as Double): return .double(value)
        case (.bool, let value as Bool): return .bool(value)
        case (.ints, let value as List<Int>): return .ints(Array(value))
        case (.strings, let value as List<String>): return .strings(Array(value))
        case (.intSet, let value as MutableSet<Int>): return .ints(Array(value))
        case (.textSet, let value as MutableSet<String>): return .strings(Array(value))
        case (.intMap, let value as Map<String, Int>):
            var entries: [String: Int] = [:]
            for entry in value { entries[entry.key] = entry.value }
            return .map(entries)
        case (.textMap, let value as Map<String, String>):
            var entries: [String: String] = [:]
            for entry in value { entries[entry.key] = entry.value }
            return .texts(entries)
        case (.any, let value as AnyRealmValue): return plain(value)
        case (.link(let target), let value as ObjectBase):
            return .link(shape[target].map { number(of: value, $0) } ?? -1)
        default: return .null
        }
    }

    private func plain(_ value: AnyRealmValue) -> ReleaseValue {
        switch value {
        case .none: .null
        case .int(let value): .int(value)
        case .double(let value): .double(value)
        case .string(let value): .string(value)
        case .list(let values): .ints(values.map { $0.intValue ?? -1 })
        default: .string("another value: \(value)")
        }
    }

    // MARK: Writing

    /// Creates an object; what it links to is there, or is its own.
    func create(_ className: String, _ row: ReleaseWorld.Row, in realm: Realm) {
        guard let declared = shape[className], let type = types[className] as? Object.Type else { return }
        var values: [String: Any] = [:]
        for (place, property) in declared.properties.enumerated() {
            guard let value = row[property.name] else { continue }
            values["p\(place)"] = boxed(value, property.kind, in: realm)
        }
        realm.create(type, value: values)
    }

    private func boxed(_ value: ReleaseValue, _ kind: ReleaseShape.Kind, in realm: Realm) -> Any {
        switch value {
        case .int(let value): return value
        case .string(let value): return value
        case .double(let value): return value
        case .bool(let value): return value
        case .ints(let values): return values
        case .strings(let values): return values
        case .map(let values): return values
        case .texts(let values): return values
        case .null: return NSNull()
        case .link(let number):
            guard case .link(let target) = kind else { return NSNull() }
            if shape[target]?.isEmbedded == true {
                return [slot("n", of: target): number, slot("a", of: target): "part \(number)"] as [String: Any]
            }
            return object(target, number, in: realm) ?? NSNull()
        }
    }

    /// The object of a number.
    func object(_ className: String, _ number: Int, in realm: Realm) -> ObjectBase? {
        func find<Model: ShapedObject>(_ type: Model.Type) -> ObjectBase? {
            realm.objects(type).filter("\(slot("n", of: className)) == \(number)").first
        }
        return types[className].flatMap { find($0) }
    }

    /// Fills a new file.
    func fill(_ realm: Realm, with world: ReleaseWorld) {
        for declared in shape.classes where !declared.isEmbedded {
            for (_, row) in (world.classes[declared.name] ?? [:]).sorted(by: { $0.key < $1.key }) {
                create(declared.name, row, in: realm)
            }
        }
        ReleaseKeeper.fill(realm, shape.rule, with: world)
    }
}
