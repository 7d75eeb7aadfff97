import ActorRealm
import Foundation
import RealmTestSupport

/// Specimens in plain Swift, kept beside those in a realm.
struct SpecimenWorld {
    static let names = ["a", "b", "\u{E9}", "e\u{301}"]

    /// By key.
    var rows: [Int: PlainSpecimen] = [:]
    /// The keys in the order of the rows.
    var order: [Int] = []

    /// Adds, changes and deletes some specimens, in an open transaction.
    mutating func change(_ realm: Realm, _ random: inout SplitMix64, adding count: Int) {
        for _ in 0..<count {
            let id =
                Bool.random(using: &random)
                ? SpecimenValue.ints.randomElement(using: &random)! : Int.random(in: 4...90, using: &random)
            if rows[id] != nil { continue }
            rows[id] = PlainSpecimen(values: ["id": .int(id)])
            order.append(id)
            realm.create(Specimen.self, value: ["id": id])
            fill(realm, id, &random)
        }
        for id in order where Int.random(in: 0..<8, using: &random) == 0 { fill(realm, id, &random) }
        if order.count > 5, let id = order.randomElement(using: &random) {
            realm.delete(realm.object(ofType: Specimen.self, forPrimaryKey: id)!)
            order.removeAll { $0 == id }
            rows[id] = nil
            for key in order {
                if rows[key]!.link == id { rows[key]!.link = nil }
                rows[key]!.links.removeAll { $0 == id }
            }
        }
    }

    private mutating func fill(_ realm: Realm, _ id: Int, _ random: inout SplitMix64) {
        let object = realm.object(ofType: Specimen.self, forPrimaryKey: id)!
        var row = rows[id]!
        for property in SpecimenKind.properties {
            let value = SpecimenValue.random(property.kind, isOptional: property.isOptional, &random)
            row.values[property.name] = value
            for name in property.isIndexed ? [property.name, "x" + property.name] : [property.name] {
                if property.kind == .any { object.mixed = value.anyValue } else { object[name] = value.stored }
            }
        }
        row.link = Int.random(in: 0..<3, using: &random) == 0 ? nil : order.randomElement(using: &random)
        object.link = row.link.flatMap { realm.object(ofType: Specimen.self, forPrimaryKey: $0) }
        row.label = Bool.random(using: &random) ? nil : SpecimenValue.randomKey(&random)
        object.label = row.label.map {
            realm.create(SpecimenLabel.self, value: ["key": $0.stored as Any], update: .all)
        }
        row.links = (0..<Int.random(in: 0...3, using: &random)).map { _ in order.randomElement(using: &random)! }
        object.links.removeAll()
        for key in row.links { object.links.append(realm.object(ofType: Specimen.self, forPrimaryKey: key)!) }
        row.ints = (0..<Int.random(in: 0...3, using: &random)).map { _ in .random(.int, isOptional: false, &random) }
        object.ints.removeAll()
        for case .int(let value) in row.ints { object.ints.append(value) }
        object.texts.removeAll()
        row.texts = []
        for _ in 0..<Int.random(in: 0...3, using: &random) {
            let value = SpecimenValue.random(.text, isOptional: false, &random)
            guard case .text(let text) = value, !row.texts.contains(where: { SpecimenValue.order($0, value) == 0 })
            else { continue }
            row.texts.append(value)
            object.texts.insert(text)
        }
        object.counts.removeAll()
        row.counts = []
        for name in Self.names where Bool.random(using: &random) {
            let value = SpecimenValue.random(.int, isOptional: true, &random)
            row.counts.append((name, value))
            object.counts.updateValue(value.stored as? Int, forKey: name)
        }
        rows[id] = row
    }

    /// The keys of specimens in an order, equal ones as they come.
    func sorted(_ keys: [Int], by order: [ActorRealm.SortDescriptor]) -> [Int] {
        keys.enumerated()
            .sorted { one, other in
                for descriptor in order {
                    let result = SpecimenValue.order(
                        value(one.element, descriptor.keyPath),
                        value(other.element, descriptor.keyPath)
                    )
                    if result != 0 { return descriptor.ascending == (result < 0) }
                }
                return one.offset < other.offset
            }
            .map(\.element)
    }

    /// The first key of each group of equal ones.
    func distinct(_ keys: [Int], by paths: [String]) -> [Int] {
        var kept: [Int] = []
        for key in keys
        where !kept.contains(where: { other in
            paths.allSatisfy { SpecimenValue.order(value(key, $0), value(other, $0)) == 0 }
        }) {
            kept.append(key)
        }
        return kept
    }

    /// The value of a property, with or without an index, or of the same behind the link.
    private func value(_ key: Int, _ path: String) -> SpecimenValue {
        var path = path
        var row = rows[key]!
        if path.hasPrefix("link.") {
            guard let link = row.link else { return .null }
            row = rows[link]!
            path.removeFirst(5)
        }
        return row.values[path] ?? row.values[String(path.dropFirst())]!
    }
}
