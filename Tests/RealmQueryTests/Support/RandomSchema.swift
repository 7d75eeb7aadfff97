import RealmModel
import RealmQuery
import RealmTestSupport

extension QueryWorld {
    /// A realm with random classes and random rows.
    static func random(seed: UInt64) throws -> QueryWorld {
        var random = SplitMix64(seed: seed)
        let schema = randomSchema(&random)
        let world = try QueryWorld(seed: random.next(), schema: schema, mainClass: "C0")
        // Half of the realms have what SQL can say: it knows no NaN, and paths are short.
        world.usesNaN = Bool.random(using: &random)
        for name in schema.classes.keys {
            let paths = world.everyPath(from: name)
            world.paths[name] = world.usesNaN ? paths : paths.filter(world.isPlain)
        }
        for (name, other) in schema.classes {
            world.collections[name] = other.properties.filter { $0.isCollectionOfObjects }
                .map { (PropertyPath($0.name), $0.targetClass!) }
        }
        try world.begin()
        for name in schema.classes.keys.sorted().reversed() {
            let count = name == "C0" ? Int.random(in: 10...70, using: &random) : .random(in: 1...15, using: &random)
            for _ in 0..<count { try world.insert(name) }
        }
        for key in world.keys("C0") where world.chance(0.1) { try world.delete("C0", key) }
        try world.commit()
        return world
    }

    private static func randomSchema(_ random: inout SplitMix64) -> DatabaseSchema {
        let names = (0..<Int.random(in: 1...3, using: &random)).map { "C\($0)" }
        let scalars: [PropertyKind] = [
            .int, .int, .bool, .string, .string, .double, .float, .date, .data, .objectId, .uuid,
        ]
        let indexable: Set<PropertyKind> = [.int, .bool, .string, .date, .objectId, .uuid]
        var classes: [ClassSchema] = []
        var links: [(origin: String, property: String, target: String)] = []
        for name in names {
            var properties: [PropertySchema] = []
            if Bool.random(using: &random) {
                properties.append(PropertySchema(name: "id", kind: .int, isPrimaryKey: true))
            }
            // A class has a number at least, for comparisons to choose from.
            properties.append(PropertySchema(name: "n", kind: .int, isIndexed: Bool.random(using: &random)))
            for index in 0..<Int.random(in: 1...7, using: &random) {
                let kind = scalars.randomElement(using: &random)!
                properties.append(
                    PropertySchema(
                        name: "p\(index)",
                        kind: kind,
                        isOptional: Bool.random(using: &random),
                        isIndexed: indexable.contains(kind) && Int.random(in: 0..<3, using: &random) == 0
                    )
                )
            }
            for index in 0..<Int.random(in: 0...2, using: &random) {
                let target = names.randomElement(using: &random)!
                properties.append(PropertySchema(name: "link\(index)", kind: .object, targetClass: target))
                links.append((name, "link\(index)", target))
            }
            for index in 0..<Int.random(in: 0...2, using: &random) {
                if Bool.random(using: &random) {
                    let target = names.randomElement(using: &random)!
                    properties.append(
                        PropertySchema(name: "many\(index)", kind: .object, collection: .list, targetClass: target)
                    )
                    links.append((name, "many\(index)", target))
                } else {
                    properties.append(
                        PropertySchema(
                            name: "list\(index)",
                            kind: [.int, .string, .double, .bool, .date].randomElement(using: &random)!,
                            collection: .list,
                            isOptional: Bool.random(using: &random)
                        )
                    )
                }
            }
            let parts = properties.filter { $0.collection == .none && indexable.contains($0.kind) }.map(\.name)
            var indexes: [CompoundIndexSchema] = []
            for _ in 0..<(parts.count > 1 ? Int.random(in: 0...3, using: &random) : 0) {
                let names = parts.shuffled(using: &random)
                    .prefix(.random(in: 2...min(4, parts.count), using: &random))
                if !indexes.contains(where: { $0.properties == Array(names) }) {
                    indexes.append(CompoundIndexSchema(Array(names)))
                }
            }
            classes.append(ClassSchema(name: name, properties: properties, compoundIndexes: indexes))
        }
        for (index, link) in links.enumerated() where Int.random(in: 0..<2, using: &random) == 0 {
            let target = classes.firstIndex { $0.name == link.target }!
            let backlinks = PropertySchema(
                name: "back\(index)",
                kind: .linkingObjects,
                targetClass: link.origin,
                originProperty: link.property
            )
            classes[target] = ClassSchema(
                name: classes[target].name,
                properties: classes[target].properties + [backlinks],
                compoundIndexes: classes[target].compoundIndexes
            )
        }
        return DatabaseSchema(classes: classes)
    }

    /// Whether a path is a property, one of a linked object, or a list and its number of elements.
    private func isPlain(_ path: Path) -> Bool {
        let steps = path.text.split(separator: ".")
        if path.text == "SELF" || steps.count > 2 || path.kind == .object && path.isMany { return false }
        if path.text.hasPrefix("back") { return false }
        return steps.count == 1 || steps[1] == "@count" || !path.text.contains("@") && !path.isMany
    }

    /// Every path of up to three steps, with the operators that give exact results.
    private func everyPath(from className: String, depth: Int = 2) -> [Path] {
        var found: [Path] = depth == 2 ? [Path(text: "SELF", kind: .object, target: className, isMany: false)] : []
        for property in schema.classes[className]!.properties {
            let name = property.name
            let isList = property.collection == .list || property.kind == .linkingObjects
            guard isList else {
                found.append(Path(text: name, kind: property.kind, target: property.targetClass, isMany: false))
                if property.kind == .object, depth > 0 {
                    found += everyPath(from: property.targetClass!, depth: depth - 1)
                        .map { $0.behind(name, isMany: false) }
                }
                continue
            }
            found.append(Path(text: "\(name).@count", kind: .int, target: nil, isMany: false))
            if property.isCollectionOfObjects {
                if property.kind == .object {
                    found.append(Path(text: name, kind: .object, target: property.targetClass, isMany: true))
                }
                guard depth > 0 else { continue }
                let further = everyPath(from: property.targetClass!, depth: depth - 1)
                found += further.filter { !$0.text.contains("@") }.map { $0.behind(name, isMany: true) }
                for path in further where !path.isMany && !path.text.contains("@") {
                    found += Self.operators(on: path.kind)
                        .map {
                            Path(text: "\(name).\($0.name).\(path.text)", kind: $0.kind, target: nil, isMany: false)
                        }
                }
            } else {
                found.append(Path(text: name, kind: property.kind, target: nil, isMany: true))
                found += Self.operators(on: property.kind)
                    .map {
                        Path(text: "\(name).\($0.name)", kind: $0.kind, target: nil, isMany: false)
                    }
            }
        }
        return found
    }

    /// Sums of floating-point numbers depend on their order.
    private static func operators(on kind: PropertyKind) -> [(name: String, kind: PropertyKind)] {
        switch kind {
        case .int: [("@min", .int), ("@max", .int), ("@sum", .int), ("@avg", .double)]
        case .double, .float, .date: [("@min", kind), ("@max", kind)]
        default: []
        }
    }
}

extension QueryWorld.Path {
    fileprivate func behind(_ name: String, isMany: Bool) -> Self {
        var path = self
        path.text = "\(name).\(text)"
        path.isMany = isMany || self.isMany
        return path
    }
}

extension PropertySchema {
    fileprivate var isCollectionOfObjects: Bool {
        kind == .linkingObjects || (kind == .object && collection == .list)
    }
}
